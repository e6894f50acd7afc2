"""Reader for dumps of the `mobile_use` tool's calls."""
