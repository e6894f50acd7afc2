"""The papers' human studies as plans that need no file: one YAML each, filled in by what is named on the command line."""
