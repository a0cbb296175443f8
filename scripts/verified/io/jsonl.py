"""JSON and JSON Lines: one object a line, UTF-8, LF, errors that name file and row.

`members` reads a large JSON object member by member, and its long lists element by element, in bounded memory.
"""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeGuard, cast

import orjson

from verified.errors import InputError
from verified.io.files import atomic_path, checked_file, read_text

Row = dict[str, Any]
"""One JSON object; its reader knows its keys."""


class RepeatedKeyError(ValueError):
    """An object with a key twice, of which Python's parser would silently take the last."""


def _object(pairs: list[tuple[str, Any]]) -> Row:
    content = dict(pairs)
    if len(content) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise RepeatedKeyError(f"the key {key!r} is given twice")
    return content


_decoder = json.JSONDecoder(object_pairs_hook=_object)


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, RepeatedKeyError among them, or RecursionError."""
    return _decoder.decode(text)


def unreadable(error: Exception, file: object, row: int | None = None, remedy: str | None = None) -> InputError:
    """The error of a file for a ValueError or RecursionError of `parse_json`, of `members`, or of decoding the text.

    `remedy`: for a text that is not JSON.
    """
    if isinstance(error, UnicodeDecodeError):
        problem, remedy = f"not UTF-8 ({error.reason} at byte {error.start})", "save the file as UTF-8"
    elif isinstance(error, json.JSONDecodeError):
        problem = f"not JSON: {error.msg} at {'' if row else f'line {error.lineno}, '}column {error.colno}"
    elif isinstance(error, RepeatedKeyError):
        problem, remedy = str(error), "leave one of them"
    else:  # an integer of thousands of digits, thousands of nested brackets
        problem, remedy = "a number too long or brackets nested too deep to be read", None
    return InputError(problem, file=file, row=row, remedy=remedy)


def iterate_jsonl(path: str | os.PathLike[str], required: Iterable[str] = ()) -> Iterator[Row]:
    """Yield the objects of a JSON Lines file; row numbers in errors count from 1.

    Raises InputError on bytes that are not UTF-8, a line that is not a JSON object, a key given twice, or a missing
    required key.
    """
    required = tuple(required)
    path = checked_file(path)
    with path.open("rb") as lines:
        for row, raw in enumerate(lines, start=1):
            yield _parse(raw.removeprefix(b"\xef\xbb\xbf") if row == 1 else raw, path, row, required)


def _parse(raw: bytes, path: Path, row: int, required: tuple[str, ...]) -> Row:
    try:
        value = parse_json(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise unreadable(error, path, row, "each line must hold one complete JSON object") from None
    if not is_object(value):
        raise InputError(f"expected a JSON object, found {type(value).__name__}", file=path, row=row)
    missing = [key for key in required if key not in value]
    if missing:
        raise InputError(
            f"missing key {', '.join(map(repr, missing))}",
            file=path,
            row=row,
            remedy=f"each row needs {', '.join(required)}",
        )
    return value


def read_jsonl(path: str | os.PathLike[str], required: Iterable[str] = ()) -> list[Row]:
    """All objects of a JSON Lines file, in order."""
    return list(iterate_jsonl(path, required))


def write_jsonl(path: str | os.PathLike[str], rows: Iterable[Row]) -> int:
    """Write rows through a temporary file; returns their number. Non-finite numbers are refused."""
    count = 0
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read one JSON document. Raises InputError with the file's name if it is unreadable."""
    text = read_text(path)
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise unreadable(error, path) from None


def write_json(path: str | os.PathLike[str], value: object) -> None:
    """Write one JSON document, indented, keys in the given order, through a temporary file."""
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def finite(value: object) -> TypeGuard[float]:
    """Return whether `value` is a real, finite number (booleans and strings are not)."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def is_span(value: object, most: int = 2) -> TypeGuard[list[float]]:
    """Return whether a value of a file is [start, end], finite numbers, with up to `most` numbers in all."""
    return isinstance(value, list) and 2 <= len(value) <= most and all(map(finite, value))  # pyright: ignore[reportUnknownArgumentType]


def is_object(value: object) -> TypeGuard[Row]:
    """Return whether `value`, from a file, is an object with keys."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Return whether `value`, from a file, is a list."""
    return isinstance(value, list)


_blank = cast(Callable[[str, int], re.Match[str]], re.compile(r"[ \t\n\r]*").match)  # an empty run matches too


def members(text: str, streamed: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield the (key, value) pairs of the JSON object in `text`, in its order.

    A list under a key in `streamed` comes as an iterator over its elements, to be exhausted before the next member.
    Raises json.JSONDecodeError, RepeatedKeyError, ValueError for integers with more digits than Python reads,
    RecursionError for brackets nested too deep, and TypeError if `text` is JSON but no object.
    """
    cursor, keys = _Cursor(text), set[str]()
    if not cursor.accept("{"):
        cursor.value()
        raise TypeError("not an object")
    if not cursor.accept("}"):
        while True:
            if not text.startswith('"', cursor.at):
                raise json.JSONDecodeError("Expecting a name in double quotes", text, cursor.at)
            key = str(cursor.value())
            if key in keys:
                raise RepeatedKeyError(f"the key {key!r} is given twice")
            keys.add(key)
            cursor.expect(":")
            if key in streamed and text.startswith("[", cursor.at):
                yield key, cursor.elements()
            else:
                yield key, cursor.value()
            if not cursor.accept(","):
                break
        cursor.expect("}")
    if cursor.at < len(text):
        raise json.JSONDecodeError("Extra data", text, cursor.at)


class _Cursor:
    """A place in a JSON text; `at` is never on white space."""

    def __init__(self, text: str):
        self.text, self.at = text, _blank(text, 0).end()

    def accept(self, sign: str) -> bool:
        """Move past `sign` if it is next; returns whether it was."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at = _blank(self.text, self.at + 1).end()
        return True

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise json.JSONDecodeError(f"Expecting {sign!r}", self.text, self.at)

    def value(self) -> object:
        """Parse the whole value at the current place."""
        value, end = _decoder.raw_decode(self.text, self.at)
        self.at = _blank(self.text, end).end()
        return value

    def elements(self) -> Iterator[object]:
        """Parse the elements of the list at the current place."""
        self.expect("[")
        if self.accept("]"):
            return
        yield self.element()
        while self.accept(","):
            yield self.element()
        self.expect("]")

    def element(self) -> object:
        """Parse the value at the current place; a flat object, like the entries of a submission, in half the time of
        `value`.

        Input that orjson refuses (a brace in a string, NaN, a number beyond float64), and any with other colons than
        those behind its keys, is passed to `value`.
        """
        if not self.text.startswith("{", self.at):
            return self.value()
        end = self.text.find("}", self.at) + 1
        try:
            value = orjson.loads(self.text[self.at : end])
        except orjson.JSONDecodeError:
            return self.value()
        if len(value) < self.text.count(":", self.at, end):  # perhaps a key twice
            return self.value()
        self.at = _blank(self.text, end).end()
        return value
