"""Judges' prompts as files, read by the functions for all models' prompts."""

from lab.core.text.prompt_files import fill_prompt, prompt_text, prompts_version

__all__ = ["fill_prompt", "prompt_text", "prompts_version"]
