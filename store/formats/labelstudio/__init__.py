"""Label Studio's tasks, written."""
