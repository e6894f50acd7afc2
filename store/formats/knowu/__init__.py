"""Reader and writer for KnowU-Bench's and MobileWorld's runs."""
