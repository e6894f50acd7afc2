"""AndroidControl's demonstrations, as they stand in its TFRecord files."""
