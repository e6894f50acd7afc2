"""The lab in a browser: links that open one person's room, each in a process of its own."""
