"""Keys and passwords of this process, and text without them.

Whoever reads a secret from the environment says so with `keep_secret`. Everything that is written down or printed
afterwards (replies of endpoints, log lines, errors, tracebacks) goes through `redacted`.
"""

import contextlib
import sys
import traceback
from urllib.parse import quote, unquote

MASK = "[secret]"
SHORTEST = 8
"""Fewest characters of a secret; anything shorter, such as the "none" that local endpoints accept, may be a word."""

_known: set[str] = set()


def keep_secret(value: str | None) -> None:
    """Have `value` masked from now on, also percent-encoded or as Python or JSON escape it."""
    if value and len(value) >= SHORTEST:
        _known.update({value, unquote(value), quote(value, safe=""), repr(value)[1:-1]})
        sys.excepthook = _print_redacted


def redacted(text: str) -> str:
    """`text` with every known secret masked."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def _print_redacted(kind, error, trace) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(redacted("".join(traceback.format_exception(kind, error, trace))))
