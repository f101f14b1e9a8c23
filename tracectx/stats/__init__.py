"""Numbers only: moments, histograms, draws. Imports nothing of the recording."""
