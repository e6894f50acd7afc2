"""A person behind an OpenAI-compatible endpoint: the protocol, what a request asks for, the web application."""
