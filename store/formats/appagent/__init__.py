"""AppAgent's runs and demonstrations."""
