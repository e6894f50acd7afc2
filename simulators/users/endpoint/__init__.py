"""A person behind an OpenAI-compatible endpoint: protocol, request parsing, web application."""
