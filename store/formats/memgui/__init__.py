"""Reader for MemGUI-Bench's and SPA-Bench's sessions."""
