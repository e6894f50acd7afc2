"""The statistics by which a judge is believed or not: validation, biases, drift, corrected rates, a label queue."""
