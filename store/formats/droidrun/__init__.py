"""droidrun's trajectories, of its old and its new events."""
