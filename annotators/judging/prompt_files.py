"""Judges' prompts are files, as the prompts of other models are."""

from lab.core.prompt_files import filled, prompt_text, version_of

__all__ = ["filled", "prompt_text", "version_of"]
