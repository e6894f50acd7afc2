"""Writer for Label Studio's tasks."""
