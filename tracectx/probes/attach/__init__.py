"""How a probe gets hold of a callable: monitoring events (3.12 and newer) or a wrapper."""
