"""GUI-Odyssey's demonstrations."""
