"""Reader for Inspect's logs of samples in which a model used a computer."""
