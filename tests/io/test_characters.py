"""Characters that act instead of being seen: gone from captions at every door."""

import pytest

from verified.io.characters import HIDDEN, hidden, plain
from verified.io.moments_file import caption
from verified.lmm.tasks.statics import STATICS_CANDIDATES

ACTING = {
    "escape": "\x1b[2J",
    "nul": "\x00",
    "bell": "\x07",
    "backspace": "\x08",
    "delete": "\x7f",
    "c1": "\x9b31m",
    "next line": "\x85",
    "right to left": "\u202e",
    "isolate": "\u2066",
    "right-to-left mark": "\u200f",
    "tags": "\U000e0073\U000e0061",
    "variation selectors": "\U000e0101",
    "blank without width": "\u200b",
    "joiner behind a blank": "\u200d",
    "soft hyphen": "\xad",
    "half a pair": "\ud83d",
}


@pytest.mark.parametrize("name", ACTING)
def test_an_acting_character_reaches_no_caption(name):
    text = f"A red ball {ACTING[name]}moves slowly to the left."
    assert hidden(text) == f"U+{ord(ACTING[name][0]):04X}"
    answer = "\n".join(f"{number}. {text[:-1]} {word}." for number, word in enumerate(("now", "again", "still"), 1))
    generated = STATICS_CANDIDATES.read({"caption": "a ball moves"}, answer, 3, False).items
    assert len(generated) == 3
    for made in (plain(text), caption(text), *generated):
        assert not HIDDEN.search(made) and "red ball" in made and "\n" not in made


def test_visible_characters_stay():
    text = "Ein Mädchen öffnet 門 — 👩‍👩‍👧 «so» e\u0301 עברית ❤\ufe0f 1\ufe0f\u20e3 می\u200cخواهم"
    assert plain(f"  {text}\t ") == text and hidden(text) is None
    assert plain("a\tb\x00c\u200b") == "a b c"
