"""How much of a stranger's file, picture, text or connection is read; beyond that it is refused in one sentence.

No recorded run that is known comes near one of these: the largest has screens of 4.5 million pixels, trees of 3,000
nodes and 40 MB of JSON. docs/guides/formats.md names them for users. Bounds of one format's own parts stand in its
reader.
"""

from __future__ import annotations

KB, MB, GB = 1024, 1024**2, 1024**3

JSON_BYTES = GB
"""Bytes of one JSON file, unpacked."""
JSON_VALUES = 2_000_000
"""Values of one JSON document, or of one run of a bundle; also the runs or lines that one list may hold."""
DEPTH = 200
"""Levels of nesting of JSON, YAML and XML: what is read must also be written again, and writers recurse."""
ROW_DEPTH = 450
"""Levels of nesting of a row of ours that comes from elsewhere: a tree of `DEPTH` levels has two for each."""

YAML_BYTES = 16 * MB
YAML_NODES = 500_000
"""Values of a YAML file, counted after `*alias` and `<<: *merge` are written out; also its aliases and merges."""

UNPACKED_AT_LEAST = 128 * MB
UNPACKED_PER_BYTE = 200
"""A packed file may give 128 MB in any case, and beyond them 200 bytes for each of its own (runs give 5 to 60)."""

CONSENT_BYTES = 100 * KB
"""Bytes of a text that people agree to; it is kept in the study, and shown whole to each of them."""

PICTURE_BYTES = 64 * MB
PICTURE_PIXELS = 36_000_000
"""Pixels of a picture that is decoded: eight of the largest phones' screens."""

PLAYBOOK_TEXT = 2_000
"""Characters of a reply or of a text on the screen that a playbook looks for words in."""

SCHEMA_PARTS = 2_000
"""Tables, indices, views and triggers of a SQLite file; SQLite itself takes hours for some hundred thousand."""
SCHEMA_SQL = 64 * KB
"""Bytes of what makes one of them."""

MODEL_REPLY_BYTES = 16 * MB
"""Bytes of one reply of a model's server, unpacked: vectors of 64 texts are a few; its values are bounded as JSON's."""
MODEL_EVENTS = 20_000
"""Lines of one reply that comes in pieces, those that only add words to the answer not counted."""

ENDPOINT_BYTES = 32 * MB
"""Bytes of one request at the endpoint: a dialogue with a few screenshots."""
ENDPOINT_SECONDS = 30.0
"""Seconds within which a connection's first request, or a request's body, must have come."""
ENDPOINT_TEXT = MB
"""Characters that one request puts before a person: its messages and its functions, pictures not counted."""
ENDPOINT_VALUES = 200_000
"""Values of one request's JSON, told by its commas and brackets before it is read."""
ENDPOINT_MESSAGES = 2_000
"""Messages of one request."""
ENDPOINT_TOOLS = 200
"""Functions that one request offers."""
ENDPOINT_PICTURES = 20
"""Pictures of one request."""
ENDPOINT_WAITING = 5_000
"""Questions that wait for an answer at once."""
ENDPOINT_CONNECTIONS = 6_000
"""Connections to the endpoint at once: one for each question that waits, and some."""
ENDPOINT_CALLS = 50
"""Functions that are called in one answer."""
