"""The lab in a browser: each link opens one person's room, which runs in its own process."""
