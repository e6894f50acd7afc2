"""Statistics for the trust in a judge: validation, biases, drift, corrected rates, a label queue."""
