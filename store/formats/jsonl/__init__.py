"""Our own complete format, read and written."""
