"""DAC-Bench's episodes, read and written."""
