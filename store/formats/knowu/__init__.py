"""KnowU-Bench's and MobileWorld's runs, read and written."""
