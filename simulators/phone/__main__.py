"""`python -m simulators.phone --shots DIR`: a picture of each screen, for inspection and the docs."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.core.values.made_files import make_folder, write_bytes
from simulators.phone.shots import shots


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m simulators.phone", description="The embedded phone.")
    parser.add_argument("--shots", metavar="DIR", type=Path, required=True, help="write a PNG of each screen there")
    parser.add_argument("--dark", action="store_true", help="in the dark theme")
    args = parser.parse_args()
    make_folder(args.shots)
    for name, data in shots(dark=args.dark):
        write_bytes(args.shots / f"{name}.png", data)


if __name__ == "__main__":
    main()
