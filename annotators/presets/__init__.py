"""The papers' human studies as plans that need no file: a YAML each, filled in from the command line."""
