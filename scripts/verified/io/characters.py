"""Characters that do not belong in a caption or a name: a terminal or a page acts on them instead of showing them."""

import re

HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line ends (ESC, NUL, BEL, the C1 set), marks that turn the direction of text, and
halves of surrogate pairs."""


def hidden(text: str) -> str | None:
    """The first such character of `text` as ``U+202E``, or None."""
    match = HIDDEN.search(text)
    return f"U+{ord(match[0]):04X}" if match else None


def plain(text: str) -> str:
    """`text` on one line: without such characters, with runs of white space as single spaces."""
    return " ".join(HIDDEN.sub(" ", text).split())
