"""tau2-bench's conversations."""
