"""Reader for AppAgent's runs and demonstrations."""
