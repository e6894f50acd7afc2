"""AndroidLab's task folders."""
