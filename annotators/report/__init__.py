"""A study's report: its tables in the papers' own form, from values that a caller has read."""
