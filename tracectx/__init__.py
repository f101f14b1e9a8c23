"""tracectx: why is this function sometimes slow? Timing models per calling context, in process."""
