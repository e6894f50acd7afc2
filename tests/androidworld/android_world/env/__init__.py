"""The environment."""
