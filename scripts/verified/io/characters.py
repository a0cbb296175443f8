"""Characters that are invalid in a caption or a name, as terminals or pages act on them instead of showing them."""

import re
import unicodedata

from verified.errors import CONTROL, HIDDEN, INVISIBLE

LONGEST_CAPTION = 5_000
"""Characters of a caption: patterns of the lint take time that grows with the square of the length."""


def hidden(text: str) -> str | None:
    """The first such character of `text` as ``U+202E``, or None."""
    match = HIDDEN.search(text)
    return f"U+{ord(match[0]):04X}" if match else None


def plain(text: str) -> str:
    """`text` on one line: without such characters, with runs of white space as single spaces."""
    return " ".join(CONTROL.sub(" ", INVISIBLE.sub("", text)).split())


HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3040-\u30ff\uff66-\uff9f"
WITHOUT_BLANKS = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Tibetan, Burmese and Khmer."""
MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff"
"""Vowel signs and accents as separate characters, which are not letters."""
NO_BLANKS = re.compile(f"[{HAN}{KANA}{WITHOUT_BLANKS}]")
WORD = re.compile(rf"[{HAN}]|[{KANA}]{{1,4}}|[{WITHOUT_BLANKS}]{{1,4}}|(?:[^\W{HAN}{KANA}{WITHOUT_BLANKS}]|[{MARKS}])+")


def words_of(text: str) -> list[str]:
    """The words and numbers of `text`.

    For languages without blanks, words are single Chinese characters, and pieces of four letters in other scripts,
    about as long as their words.
    """
    return WORD.findall(text)


def length_in_words(text: str) -> int:
    """Number of blank-separated words in `text`; an estimate for languages without blanks between words."""
    return len(words_of(text) if NO_BLANKS.search(text) else text.split())


def is_latin(text: str) -> bool:
    """Return whether most letters of `text` are Latin."""
    if text.isascii():
        return True
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters) >= len(letters)


def count_words(text: str) -> int:
    """Number of the words of `text` that contain a letter; words joined by slashes count as one."""
    return sum(any(map(str.isalpha, word)) for word in words_of(text.replace("/", "")))
