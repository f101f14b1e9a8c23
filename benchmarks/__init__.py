"""What tracectx costs. One question per file; each prints ratios to the bare code, measured interleaved in one run."""
