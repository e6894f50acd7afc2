"""Upper bounds on a stranger's files, pictures, texts and connections. Anything larger is refused in one sentence.

No known recorded run comes near them: the largest has screens of 4.5 million pixels, trees of 3,000 nodes and 40 MB of
JSON. docs/guides/formats.md lists them for users. Bounds of one format are in its reader.
"""

from __future__ import annotations

KB, MB, GB = 1024, 1024**2, 1024**3

JSON_BYTES = GB
"""Bytes of one JSON file, unpacked."""
JSON_VALUES = 2_000_000
"""Values of one JSON document or of one run of a bundle, and runs or lines of one list."""
DEPTH = 200
"""Nesting levels of JSON, YAML and XML. Writers recurse, and whatever is read must be writable again."""
ROW_DEPTH = 450
"""Nesting levels of a row of our own from another file: a tree of `DEPTH` levels has two for each."""

YAML_BYTES = 16 * MB
YAML_NODES = 500_000
"""Values of a YAML file with `*alias` and `<<: *merge` expanded, and the number of its aliases and merges."""

UNPACKED_AT_LEAST = 128 * MB
UNPACKED_PER_BYTE = 200
"""Unpacked size of a packed file: 128 MB, plus 200 bytes for each packed byte (runs unpack to 5 to 60)."""

CONSENT_BYTES = 100 * KB
"""Bytes of a consent text. The study stores it, and every participant sees it whole."""

PICTURE_BYTES = 64 * MB
PICTURE_PIXELS = 36_000_000
"""Pixels of a decoded picture: eight of the largest phones' screens."""

PLAYBOOK_TEXT = 2_000
"""Characters of a reply or of a screen's text in which a playbook searches for words."""

SCHEMA_PARTS = 2_000
"""Tables, indices, views and triggers of a SQLite file. SQLite takes hours for some hundred thousand."""
SCHEMA_SQL = 64 * KB
"""Bytes of the SQL that creates one of them."""

MODEL_REPLY_BYTES = 16 * MB
"""Bytes of one reply of a model's server, unpacked. Embeddings of 64 texts take a few MB.

The bounds of JSON apply to its values, too.
"""
MODEL_EVENTS = 20_000
"""Lines of one streamed reply, without those that only add words to the answer."""

ENDPOINT_BYTES = 32 * MB
"""Bytes of one request at the endpoint: a dialogue with a few screenshots."""
ENDPOINT_SECONDS = 30.0
"""Seconds for a connection's first request, or a request's body, to arrive."""
ENDPOINT_TEXT = MB
"""Characters that one request shows to a person: messages and functions, without pictures."""
ENDPOINT_VALUES = 200_000
"""Values of one request's JSON, counted by its commas and brackets before decoding."""
ENDPOINT_MESSAGES = 2_000
"""Messages of one request."""
ENDPOINT_TOOLS = 200
"""Functions that one request offers."""
ENDPOINT_PICTURES = 20
"""Pictures of one request."""
ENDPOINT_WAITING = 5_000
"""Questions that wait for an answer at once."""
ENDPOINT_CONNECTIONS = 6_000
"""Connections to the endpoint at once: one for each waiting question, and some more."""
ENDPOINT_CALLS = 50
"""Function calls in one answer."""
