"""Read a JSON object member by member, and its long lists element by element, in bounded memory."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import cast

import orjson

_decode = json.JSONDecoder().raw_decode
_blank = cast(Callable[[str, int], re.Match[str]], re.compile(r"[ \t\n\r]*").match)  # an empty run matches too


def members(text: str, streamed: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield the (key, value) pairs of the JSON object in `text`, in its order.

    A list under a key in `streamed` comes as an iterator over its elements, to be exhausted before the next member. A
    repeated key is yielded as often as it occurs. Raises json.JSONDecodeError, ValueError for integers with more digits
    than Python reads, RecursionError for brackets nested too deep, and TypeError if `text` is JSON but no object.
    """
    cursor = _Cursor(text)
    if not cursor.accept("{"):
        cursor.value()
        raise TypeError("not an object")
    if not cursor.accept("}"):
        while True:
            if not text.startswith('"', cursor.at):
                raise json.JSONDecodeError("Expecting a name in double quotes", text, cursor.at)
            key = str(cursor.value())
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
        value, end = _decode(self.text, self.at)
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

        Input that orjson refuses (a brace in a string, NaN, a number beyond float64) is passed to `value`.
        """
        if not self.text.startswith("{", self.at):
            return self.value()
        end = self.text.find("}", self.at) + 1
        try:
            value = orjson.loads(self.text[self.at : end])
        except orjson.JSONDecodeError:
            return self.value()
        self.at = _blank(self.text, end).end()
        return value
