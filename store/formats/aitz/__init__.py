"""Android in the Zoo's demonstrations."""
