"""Reader for AndroidWorld's episodes: gzipped pickles, read without running their code."""
