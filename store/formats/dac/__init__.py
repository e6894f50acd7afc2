"""Reader and writer for DAC-Bench's episodes."""
