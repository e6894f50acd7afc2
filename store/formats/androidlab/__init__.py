"""Reader for AndroidLab's task folders."""
