"""Run the `hitlab` command as `python -m lab.cli`."""

from __future__ import annotations

import sys

from lab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
