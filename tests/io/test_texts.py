"""Texts of others: subtitles as programs and people write them, and characters that act instead of being seen."""

import pytest

from verified.io.characters import HIDDEN, hidden, plain
from verified.io.moments_file import caption
from verified.io.subtitles import read_subtitles, spoken
from verified.lmm.tasks.statics import STATICS_CANDIDATES

TIMES = "00:00:01,000 --> 00:00:02,000"
NEXT = "00:00:03,000 --> 00:00:04,000"
YOUTUBE = """WEBVTT
Kind: captions
Language: en

00:00:00.000 --> 00:00:02.500 align:start position:0%
\x20
so<00:00:00.320><c> today</c><00:00:00.600><c> we</c>

00:00:02.500 --> 00:00:02.510 align:start position:0%
so today we
\x20

"""
CASES = {
    "a line of one blank, and times of words": (YOUTUBE, [(0, 2.5, "so today we"), (2.5, 2.51, "so today we")]),
    "empty line within the text": (
        f"1\n{TIMES}\nfirst line\n\nsecond line\n\n2\n{NEXT}\nnext\n",
        [(1, 2, "first line second line"), (3, 4, "next")],
    ),
    "empty line below the number": (f"1\n\n{TIMES}\nhello\n", [(1, 2, "hello")]),
    "no empty line between": (f"1\n{TIMES}\nhello\n2\n{NEXT}\nbye\n", [(1, 2, "hello"), (3, 4, "bye")]),
    "the same in WebVTT": (
        "WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n00:03.000 --> 00:04.000\nbye",
        [(1, 2, "hello"), (3, 4, "bye")],
    ),
    "text of digits": (f"1\n{TIMES}\nIn the year\n1984\n\n2\n{NEXT}\n7\n", [(1, 2, "In the year 1984"), (3, 4, "7")]),
    "no numbers": (f"{TIMES}\nhello\n\n{NEXT}\nbye\n", [(1, 2, "hello"), (3, 4, "bye")]),
    "no text": (f"1\n{TIMES}\n\n2\n{NEXT}\nbye\n", [(1, 2, ""), (3, 4, "bye")]),
    "points, tags and positions": (
        "\ufeff1\r\n0:00:01.25 --> 00:00:01,5 X1:10\r\n<i>hello</i> {\\an8}you\r\n\r\n\r\n",
        [(1.25, 1.5, "hello you")],
    ),
    "notes, names and entities": (
        "WEBVTT - a\n\nNOTE b\nc\n\nname of it\n00:01.000 --> 00:02.000\n<v Bob>you &amp; me\n\nNOTE end",
        [(1, 2, "you & me")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cues_are_read_as_players_read_them(tmp_path, case):
    content, wanted = CASES[case]
    path = tmp_path / ("a.vtt" if content.startswith("WEBVTT") else "a.srt")
    path.write_bytes(content.encode())
    assert [(cue.start, cue.end, cue.text) for cue in read_subtitles(path)] == wanted


def test_a_cue_is_speech_song_or_sound():
    sounds = ("[\u266a waltz \u266a]", "[door slams] JOHN: (sighs)", "\u266a\u266a")
    kinds = dict.fromkeys(sounds, "sound") | dict.fromkeys(("hello", "JOHN: (whispering) Over there."), "speech")
    kinds["\u266a la la \u266a"] = "song"
    assert {text: spoken(0, 1, text).kind for text in kinds} == kinds


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
