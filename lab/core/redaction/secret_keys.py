"""Remove keys and passwords from the output of a program or a library before it is shown or stored.

The values of environment variables with secret names are hidden, and everything in the form of a key.
"""

from __future__ import annotations

import os
import re

HIDDEN_KEY = "(key hidden)"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
# Quantifiers are bounded or possessive, so that no text makes the search slow.
_SPELLED = re.compile(
    r"""(?x)
    \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,200}+           # OpenAI, Anthropic, Stripe
    | \bAIza[0-9A-Za-z_-]{20,60}+                     # Google
    | \bgh[pousr]_[A-Za-z0-9]{16,255}+ | \bgithub_pat_[A-Za-z0-9_]{16,255}+ | \bglpat-[A-Za-z0-9_-]{10,100}+
    | \bxox[a-z]-[A-Za-z0-9-]{8,255}+ | \bhf_[A-Za-z0-9]{16,100}+ | \bgsk_[A-Za-z0-9]{16,100}+
    | \b(?:AKIA|ASIA)[0-9A-Z]{12,32}+
    | \beyJ[A-Za-z0-9_-]{8,4000}+(?:\.[A-Za-z0-9_-]{4,4000}+){1,4}   # JSON Web Token
    """
)
_AFTER_NAME = re.compile(
    r"((?:\bbearer\s{1,4}|\bbasic\s{1,4}"
    r"|(?:api[-_ ]?key|access[-_ ]?token|secret|password|passwd|authorization|x-api-key)"
    r"['\"]{0,2}\s{0,4}[:=]\s{0,4}(?:(?:bearer|basic)\s{1,4})?)['\"]{0,2})(?!\(key)([^\s'\",;&<>)}\]]{6,4000}+)",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(://[^\s/:@'\"]{1,200}:)[^\s/@'\"]{1,200}(?=@)")


def without_keys(text: str) -> str:
    """Return a text with every key and password hidden, in time linear to its length."""
    secrets = {value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    # The longest first: one secret may be part of another.
    for secret in sorted((one for one in secrets if len(one) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, HIDDEN_KEY)
    text = _SPELLED.sub(HIDDEN_KEY, text)
    text = _AFTER_NAME.sub(rf"\g<1>{HIDDEN_KEY}", text)
    return _IN_ADDRESS.sub(rf"\g<1>{HIDDEN_KEY}", text)
