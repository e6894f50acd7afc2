"""AndroidWorld's episodes: packed pickles, read without running what is in them."""
