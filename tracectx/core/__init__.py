"""Events, ring and fold: what runs while the program runs, and the choice between its implementations."""
