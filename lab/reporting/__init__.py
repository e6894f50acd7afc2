"""A report in its forms: text for a terminal, Markdown, one HTML page with pictures."""
