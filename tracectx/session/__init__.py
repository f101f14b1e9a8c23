"""Configuration, the aggregator thread, fork and exit, the default recording."""
