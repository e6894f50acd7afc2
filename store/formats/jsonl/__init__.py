"""Reader and writer for hitlab's own complete format."""
