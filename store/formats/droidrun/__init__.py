"""Reader for droidrun's trajectories, with old and new events."""
