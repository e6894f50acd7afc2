"""Reader for Android in the Zoo's demonstrations."""
