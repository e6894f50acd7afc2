"""A stand-in for the jar of scrcpy's server, for phones that run none of its code."""

from __future__ import annotations

import io
import zipfile


def stand_in(version: str) -> bytes:
    """Return a jar that names its version as a server of that version does. It contains no code."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        says = f"dex\n035\0 The server version ({version}) does not match the client (\0"
        archive.writestr(zipfile.ZipInfo("classes.dex"), says)
    return out.getvalue()
