"""Dumps of the `mobile_use` tool's calls."""
