"""Reader for AndroidControl's demonstrations in TFRecord files."""
