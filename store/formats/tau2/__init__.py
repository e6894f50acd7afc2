"""Reader for tau2-bench's conversations."""
