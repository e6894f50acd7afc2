"""Judges' prompts as files, read by the functions for all models' prompts."""

from lab.core.prompt_files import filled, prompt_text, version_of

__all__ = ["filled", "prompt_text", "version_of"]
