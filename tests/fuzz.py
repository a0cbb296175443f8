"""Broken documents made from good ones, from a seed: bytes changed, values exchanged for others that nobody expects."""

import json
import random
from collections.abc import Iterator

VALUES = (
    None, True, -1, 0, 1.5, -0.0, 2**31, 2**63, 10**400, float("nan"), float("inf"), 1e308, "", "²", "--5", "1e3", "٣",
    " 7 ", "\ud800", "\x1b[2J\x07", "\u202eabc", "a" * 20_000, [], {}, [[]], [1, 2], [1, 2, 3, 4], {"desc_id": 1},
)  # fmt: skip
BYTES = (
    b"[" * 100_000, b'{"a":' * 5_000, b"9" * 5_000, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r\n",
    b'"', b"}", b"]", b",", b"NaN", b"-Infinity", b"1e999", b'"\\ud800"', b"\\u0000", b"\x1f\x8b\x08", b"<html>",
)  # fmt: skip


def damaged(document: bytes, cases: int, seed: int) -> Iterator[bytes]:
    """`cases` documents made from `document`, JSON or JSON Lines, each with one to three changes."""
    draw = random.Random(seed)
    for _ in range(cases):
        lines = document.splitlines()
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(lines))
            lines[at] = (_other_value if draw.random() < 0.6 else _other_bytes)(lines[at], draw)
        yield b"\n".join(lines)


def _other_value(line: bytes, draw: random.Random) -> bytes:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _other_bytes(line, draw)
    places = list(_places(value))
    if not places:
        return line
    holder, key = draw.choice(places)
    if draw.random() < 0.2:
        del holder[key]
    else:
        holder[key] = draw.choice(VALUES)
    return json.dumps(value).encode()


def _places(value: object) -> Iterator[tuple]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _other_bytes(line: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(line) + 1)
    kind = draw.randrange(4)
    if kind == 0:
        return line[:at]
    if kind == 1:
        return line[:at] + draw.choice(BYTES) + line[at:]
    if kind == 2:
        return line[:at] + draw.choice(BYTES) + line[at + draw.randint(1, 8) :]
    return line[:at] + bytes([draw.randrange(256)]) + line[at + 1 :]
