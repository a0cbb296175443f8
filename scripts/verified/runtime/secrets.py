"""Mask keys and passwords of this process in text.

Code that reads a secret from the environment registers it with `keep_secret`. All text written or printed afterwards
(replies of endpoints, log lines, errors, tracebacks) passes through `redact`.
"""

import base64
import codecs
import contextlib
import functools
import html
import json
import os
import re
import sys
import traceback
from types import TracebackType
from urllib.parse import quote, unquote

MASK = "[secret]"
SHORTEST = 8
"""Fewest characters of a secret; anything shorter, such as the "none" that local endpoints accept, may be a word."""

PIECE, WORDLESS = 12, 8
"""Lengths of runs of a secret's characters that are masked as a piece of it: the first, or the second if a digit is
among them, because words have none and a key may be made of words."""
BETWEEN = r"[^A-Za-z0-9]{0,8}"
"""Characters that may separate two letters of a spelt-out secret, including its own signs."""
APART = r"(?:[^A-Za-z0-9\\]{1,8}|(?=\\))"
"""The same between two numbers, which digits alone would join."""

FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
"""ASCII's characters as full-width ones."""

ESCAPES = ("\\u%04x", "\\x%02x", "&#%d;", "&#x%x;")
"""Letter by letter: JSON's and Python's, and HTML's by decimal and hexadecimal numbers."""

KEY_FORM = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|hf|gsk|xai|ghp|r8|pplx|nvapi|github_pat)[-_](?=[\w.-]*\d)[\w.-]{12,}"
    r"|AIza[\w-]{20,}|eyJ[\w-]{10,}\.[\w.-]+|AKIA[A-Z0-9]{16}|Bearer\s+\S{8,})"
)
"""Keys of well-known services, by their first letters."""
OPAQUE = re.compile(r"(?=.*[0-9])(?=[0-9]|.*[a-z])[A-Za-z0-9+/=_.-]{20,}")
"""A text that is no name of an environment variable."""
NAMES_SECRET = re.compile(r"(?:key|token|secret|password|authorization|credentials?)$", re.I)
"""Names whose value is a secret."""

_known: set[str] = set()


def keep_secret(value: str | None) -> None:
    """Register `value` to be masked from now on, as it is and in all variants of `_forms` and `_pieces`.

    The mask does not find a secret that was encrypted, hashed, compressed or put through several encodings, one cut
    into shorter pieces than `_pieces` knows, and one that is described in words.
    """
    if value and len(value) >= SHORTEST:
        _known.add(value)
        sys.excepthook = _print_redacted


def is_secret(name: str, value: str) -> bool:
    """Whether a text under a name, such as that of a configuration's key, is a secret by either, or one of the
    environment's secrets."""
    if KEY_FORM.search(value) or NAMES_SECRET.search(name) or (name.endswith("key_variable") and OPAQUE.match(value)):
        return True
    return len(value) >= SHORTEST and any(
        value == secret and NAMES_SECRET.search(variable) for variable, secret in os.environ.items()
    )


def redact(text: str) -> str:
    """`text` with every known secret masked."""
    for secret in sorted(_known, key=len, reverse=True):
        text = _mask_pieces(_forms(secret).sub(MASK, text), secret)
    return text


@functools.cache
def _forms(secret: str) -> re.Pattern[str]:
    """A secret and its reversal: percent-encoded, escaped as in Python, JSON or HTML, in hexadecimal digits, as a list
    of numbers (hexadecimal, decimal, octal, binary), in base64 or base32, in rot13, and in full-width letters.

    All in either case of letters, and spelt out. In base64 (and its alphabet for addresses) and base32, surrounding
    text may be encoded with the secret: for each possible offset, the pattern has the characters that encode the secret
    alone.
    """
    forms: set[str] = set()
    numbers: list[str] = []
    for text in {secret, unquote(secret), secret[::-1]}:
        raw = text.encode(errors="surrogatepass")
        forms |= {text, quote(raw, safe=""), repr(text)[1:-1], json.dumps(text)[1:-1], html.escape(text), raw.hex()}
        forms |= {text.replace("/", "\\/"), "".join(f"%{byte:02x}" for byte in raw)}
        forms |= {codecs.encode(text, "rot13"), text.translate(FULL_WIDTH)}
        forms |= {"".join(escape % ord(letter) for letter in text) for escape in ESCAPES}
        for base, between in (("x", BETWEEN), ("d", APART), ("o", APART), ("b", APART)):
            listed = between.join(rf"(?:0[xob]|\\?x|\\|u\+?)?0*{byte:{base}}" for byte in raw)
            numbers.append(f"(?<![0-9a-z]){listed}(?![0-9a-z])")
        for offset in range(5):
            coded = base64.b32encode(bytes(offset) + raw).decode()
            forms.add(coded[-(-8 * offset // 5) : 8 * (offset + len(raw)) // 5])
        for offset in range(3):
            coded = base64.b64encode(bytes(offset) + raw).decode()
            core = coded[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
            forms |= {core, core.replace("+", "-").replace("/", "_")}
    spelt = map(_spelling_pattern, sorted((form for form in forms if len(form) >= SHORTEST), key=len, reverse=True))
    return re.compile("|".join([*spelt, *numbers]), re.I)


def _spelling_pattern(form: str) -> str:
    """A pattern of `form`, and of its letters and digits with separators between them."""
    letters = re.findall(r"[A-Za-z0-9]", form)
    return "|".join([re.escape(form), *([BETWEEN.join(letters)] if len(letters) >= SHORTEST else [])])


@functools.cache
def _pieces(secret: str) -> frozenset[str]:
    """Parts of a secret and of its reversal, in lower case, that reveal part of it wherever they occur."""
    texts = (secret.lower(), secret.lower()[::-1])
    parts = (text[at : at + size] for size in (WORDLESS, PIECE) for text in texts for at in range(len(text) - size + 1))
    return frozenset(part for part in parts if len(part) == PIECE or any(map(str.isdigit, part)))


def _mask_pieces(text: str, secret: str) -> str:
    """`text` with each run of characters that pieces of the secret cover masked."""
    pieces, small = _pieces(secret), text.lower()
    if len(small) != len(text):  # a few letters of other scripts become two
        small = text
    covered: list[list[int]] = []
    for size in (WORDLESS, PIECE):
        covered += [[at, at + size] for at in range(len(small) - size + 1) if small[at : at + size] in pieces]
    parts: list[str] = []
    end = 0
    for first, last in sorted(covered):
        if first >= end:
            parts += [text[end:first], MASK]
        end = max(end, last)
    return "".join([*parts, text[end:]])


def _print_redacted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))
