"""Reader for GUI-Odyssey's demonstrations."""
