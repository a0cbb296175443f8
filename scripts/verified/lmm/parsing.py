"""Parse raw answers into their parts: tolerant parsers of the printed formats (supplement listings 2 to 9).

JSON is tried first, then the printed format of the task: labelled sections, JSON with numbered keys, numbered lists,
numbered answers followed by free text. Stray text, code fences, missing quotes and JSON cut short lose no complete
part. "At least three" means: the first three are taken. Answers with times and numbers are objects (`best_object`),
whose keys may be in any case, or words (`span_in_words`).
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verified.io.characters import plain
from verified.lmm.patterns import compiled

MOST_BRACKETS = 60
"""Opening brackets that are tried as the start of a value; no answer has more."""
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.S)
ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|(.))", re.S)
QUOTES = "\"'“”‘’«»`「」『』„"
TEXT_KEYS = (
    "text",
    "caption",
    "answer",
    "sentence",
    "description",
    "content",
    "value",
    "candidate",
    "question",
    "output",
)
"""Keys under which an object in the place of a text has it, the likeliest first."""
NUMERALS = "一二三四五六七八九十"
CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩"


def list_items(text: str, count: int, cut: bool) -> list[str]:
    """All numbered items of an answer."""
    if items := _json_items(text) or _json_pairs(text):
        return [clean(item) for item in items]
    if items := numbered_items(text):
        return [clean(item) for item in (items[:-1] if cut else items)]
    return _single(text, count, cut)


def _single(text: str, count: int, cut: bool) -> list[str]:
    """Lines that open with a bullet, or a quoted sentence alone: the fallback for unnumbered answers."""
    bullets = re.findall(r"(?m)^\s*(?:(?:[-*•–]|candidate\s*\d*\s*:)\s+|[・●◦])(\S.*)$", text, re.I)
    if len(bullets) >= min(2, count):
        return [clean(item) for item in (bullets[:-1] if cut else bullets)]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    quoted = [line for line in lines if line[0] in QUOTES and line.rstrip(".,")[-1] in QUOTES and len(line) > 2]
    return [clean(item) for item in quoted]


def _json_items(text: str) -> list[str]:
    """Captions of a JSON answer: values of numbered keys in their order, or a list; never the key `original`."""
    value = json_value(text)
    if isinstance(value, dict) and not _numbered_keys(value):
        inside = (inner for key, inner in value.items() if isinstance(inner, list | dict) and not is_thought(str(key)))
        value = next(inside, value)
    if isinstance(value, dict):
        value = numbered_values(value)
    return [text for item in value if (text := text_of(item))] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The text of a JSON value: itself, that of an object's likeliest key, or all texts in it.

    If none of an object's keys is a known one, its keys belong to the text.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        by_key = {re.sub(r"[\W\d_]+", "", str(key).lower()): inner for key, inner in value.items()}
        for key in TEXT_KEYS:
            if text := text_of(by_key.get(key)):
                return text
        strings = [inner for inner in value.values() if isinstance(inner, str)]
        if len(strings) == 1 and not any(isinstance(inner, list | dict) for inner in value.values()):
            return strings[0]
        texts = {key: text_of(inner) for key, inner in value.items() if not is_thought(str(key))}
        parts = {key: text for key, text in texts.items() if text}
        return next(iter(parts.values())) if len(parts) == 1 else "; ".join(f"{k}: {text}" for k, text in parts.items())
    if isinstance(value, list):
        return ", ".join(filter(None, map(text_of, value)))
    return "" if value is None else str(value)


def _numbered_keys(value: dict) -> list[str]:
    keys = [
        (int(match.group(1)), key) for key in value if (match := re.fullmatch(r"\D{0,20}?(\d{1,2})\D{0,3}", str(key)))
    ]
    return [key for _, key in sorted(keys)]


def json_value(text: str) -> dict | list | None:
    """The first non-empty JSON object or array in `text`, ignoring surrounding text; None if there is none."""
    return next((value for value in (*json_values(_tidy(text)), *json_values(text)) if value), None)


def json_objects(text: str) -> list[dict]:
    """The outermost JSON objects in `text`, in their order."""
    return list(json_values(_tidy(text), "{"))


def json_values(text: str, brackets: str = "{[") -> Iterator[Any]:
    """The outermost values of JSON in `text` that open with one of the brackets and are complete, in their order."""
    decoder, position = json.JSONDecoder(strict=False), 0
    for _ in range(MOST_BRACKETS):
        if (match := re.compile(f"[{re.escape(brackets)}]").search(text, position)) is None:
            return
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (RecursionError, ValueError):
            position = match.start() + 1
        else:
            yield value


def _tidy(text: str) -> str:
    """JSON without comments and trailing commas; quoted texts are unchanged."""
    text = ESCAPE.sub(lambda match: match[0] if match[1] is None or match[1] in '"\\/bfnrt' else match[1], text)
    for pattern in (COMMENT, TRAILING_COMMA):
        text = pattern.sub(lambda match: match.group(1) or " ", text)
    return text


def _json_pairs(text: str) -> list[str]:
    """Values of numbered keys in JSON that is broken: a missing quote or comma, or the end cut off."""
    pairs = {}
    for line in re.finditer(
        r'(?m)["\'“”]?\b(\d{1,2})["\'“”]?\s*:\s*(["“\'])(.*?)(?:\2\s*(?:,|\}|$)|”\s*,?\s*$|,?\s*$)', text
    ):
        number, value = int(line.group(1)), line.group(3)
        closed = line.group(0).rstrip().rstrip(",}").rstrip().endswith(('"', "'", "”"))
        ended = value.rstrip().endswith((".", "!", "?"))
        if (closed or ended) and number not in pairs:
            pairs[number] = value
    return [pairs[number] for number in sorted(pairs)] if pairs and min(pairs) == 1 else []


def numbered_items(text: str) -> list[str]:
    """Items of a list numbered 1, 2, 3 …, each on its own line or all in one paragraph.

    An item ends at the next number, at an empty line, or at the end.
    """
    return [first_paragraph(piece) for piece in numbered_pieces(text)]


def numbered_pieces(text: str) -> list[str]:
    """Pieces of a list numbered in any script, the same for ``1.``, ``1)``, ``1、``, ``１．``, ``①`` and ``一、``."""
    by_line = _split_at(
        text,
        r"(?m)^[ \t　>*#(（\[\"“「-]*(?:candidate\s*|caption\s*|q(?:uestion)?\s*|a(?:nswer)?\s*|第)?"
        r"(?:{n}\s*(?:[.):\]、．）：。，]|\*\*)+|{numeral}\s*[、．.：）]|{circled})[ \t　]*",
    )
    inline = _split_at(
        text, r"(?:(?:^|(?<=[\s\"”'.!?*])){n}[.)]\s+|(?:^|(?<=[\s。！？；」”])){n}[、．）]\s*|{circled}\s*)(?=\S)"
    )
    return inline if len(inline) > len(by_line) else by_line


def _split_at(text: str, pattern: str) -> list[str]:
    """Pieces that follow the markers 1, 2, 3 … of `pattern`, in order."""
    starts, ends, position = [], [], 0
    plain_digits = "".join(map(_plain_digit, text))
    for number in range(1, 100):
        expression = pattern.replace("{n}", str(number))
        for name, signs in (("{numeral}", NUMERALS), ("{circled}", CIRCLED)):
            expression = expression.replace(name, signs[number - 1] if number <= len(signs) else r"\b\B")
        match = re.compile(expression, re.I).search(plain_digits, position)
        if not match:
            break
        starts.append(match.end())
        ends.append(match.start())
        position = match.end()
    return [text[start:end] for start, end in zip(starts, [*ends[1:], len(text)])]


def _plain_digit(character: str) -> str:
    """A decimal digit of any script as 0 to 9; any other character unchanged."""
    return str(unicodedata.decimal(character)) if not character.isascii() and character.isdecimal() else character


def numbered_values(value: dict) -> list:
    """Values of numbered keys, in the order of their numbers."""
    return [value[key] for key in _numbered_keys(value)]


def is_thought(key: str) -> bool:
    """Whether a key of an object marks its value as a thought, not part of the answer."""
    return compiled("thoughts", "key").search(key.strip()) is not None


def first_paragraph(piece: str) -> str:
    return re.split(r"\n[ \t]*\n", piece.strip(), maxsplit=1)[0].strip()


def whole_sentences(text: str) -> str:
    """`text` up to its last finished sentence."""
    return text[: max((text.rfind(mark) for mark in ".!?。！？"), default=-1) + 1]


def strip_fences(text: str) -> str:
    """`text` without the lines that open and close code fences."""
    return re.sub(r"(?m)^[ \t]*```[\w-]*[ \t]*$", "", text).replace("\r\n", "\n").strip()


def clean(text: str) -> str:
    """One line without labels, list marks, wrapper quotes and bold marks around it."""
    text = plain(text).replace("\\'", "'")
    text = re.sub(r"^\((?:q|a)\)\s*|^(?:answer|question|candidate|caption|sentence)\s*\d*\s*:\s*", "", text, flags=re.I)
    text = re.sub(r"^\*\*(.+?)\*\*", r"\1", text).removesuffix("**").strip()
    for _ in range(3):
        stripped = _unwrap(re.sub(r"^\d{1,2}(?:[.)]\s+|[、．）]\s*)(?=\S)", "", text).rstrip(",;"))
        if stripped == text:
            break
        text = stripped
    return text


def _unwrap(text: str) -> str:
    """Take one pair of quotes off the ends, or a single quote mark that has no partner."""
    if len(text) >= 2 and text[0] in QUOTES and text[-1] in QUOTES:
        speech = re.search(r'\S["”»」](?=\s)', text[1:-1])  # speech at both ends: "No," he says, "never."
        opened = re.search(r'(?:^|\s)["“«「]', text[1:-1])
        closes_first = speech is not None and (opened is None or speech.start() < opened.start())
        return text if closes_first else text[1:-1].strip()
    if text and text[0] in '"“«`' and not any(mark in text[1:] for mark in '"”»`'):
        return text[1:].strip()
    if text and text[-1] in '"”»`' and not any(mark in text[:-1] for mark in '"“«`'):
        return text[:-1].strip()
    return text


def normalise_keys(value: dict, aliases: Mapping[str, str] = {}) -> dict:
    """An object with its keys in lower case and words joined by underscores; `aliases` → names that stand for them."""
    keys = {name: re.sub(r"[\W_]+", "_", str(name).strip().lower()).strip("_") for name in value}
    return {aliases.get(key, key): value[name] for name, key in keys.items()}


def best_object(text: str, keys: Iterable[str], aliases: Mapping[str, str] = {}) -> dict:
    """The object with most of the `keys`, the last of equals; empty if there is none."""
    keys = set(keys)
    values = enumerate(normalise_keys(value, aliases) for value in json_objects(text))
    candidates = [(len(keys & value.keys()), number, value) for number, value in values]
    count, _, value = max(candidates, key=lambda triple: triple[:2], default=(0, 0, {}))
    return value if count else {}


def seconds(value: object) -> float | None:
    """Seconds, also written as "12.5", "12.5 s", "1:05" or "00:01:05"; None for other values."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 1e6 else None
    if not isinstance(value, str):
        return None
    text = re.sub(r"\s*(?:s|sec|secs|seconds?)\s*$", "", value.strip(), flags=re.I)
    if not re.fullmatch(r"(?:\d{1,4}:){0,2}\d{1,5}(?:\.\d{1,6})?", text):
        return None
    total = 0.0
    for digits in text.split(":"):
        total = 60 * total + float(digits)
    return total


def span(value: object) -> str | None:
    """``"start end"`` in seconds from [start, end] or a text with two times, from 0 on; None for other values."""
    if isinstance(value, str):
        value = re.findall(r"\d[\d:.]*", value)
    if not isinstance(value, list) or len(value) != 2:
        return None
    start, end = map(seconds, value)
    return None if start is None or end is None else f"{max(0.0, start):g} {max(0.0, end):g}"


def span_in_words(text: str) -> str | None:
    """The first "12 to 30", "12.5 - 30" or "00:12 and 00:30" of a text; None if there is none."""
    time = r"(\d{1,4}(?::\d{2}){0,2}(?:\.\d{1,6})?)"
    match = re.search(rf"{time}\s*(?:s|sec|seconds)?\s*(?:to|and|until|[-–—,])\s*{time}", text, re.I)
    return span([match.group(1), match.group(2)]) if match else None
