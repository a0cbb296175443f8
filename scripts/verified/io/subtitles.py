"""Read subtitles, SubRip or WebVTT, and tell speech and song from sounds."""

import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import srt  # pyright: ignore[reportMissingTypeStubs] (it has none)
import webvtt
from webvtt.errors import MalformedFileError

from verified.errors import InputError
from verified.io.characters import plain
from verified.io.files import read_text

TIME = r"(?:(\d{1,3}):)?([0-5]?\d):([0-5]?\d)[,.](\d{1,3})"
TIMING = re.compile(rf"\s*{TIME}\s*-->\s*{TIME}(?:\s.*)?")
TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\}")
OPENING, CLOSING = re.compile(r"[\[(]"), {"[": "]", "(": ")"}
SPEAKER = re.compile(r"^\s*+(?:-\s*+)?[A-Z][A-Z0-9 .'-]*+:\s*+", re.MULTILINE)
REMEDY = "expected 00:01:02,345 --> 00:01:04,000 below a number, and text below that"
MUSIC = re.compile(r"[♪♫#*]")


@dataclass(frozen=True)
class Cue:
    """Seconds from the movie's start, text without tags, and kind: ``speech``, ``song`` or ``sound``."""

    start: float
    end: float
    text: str
    kind: str


def read_subtitles(path: str | os.PathLike[str]) -> list[Cue]:
    """Cues in file order, of SubRip, or of WebVTT, recognised by its first line. Raises InputError with the line for
    other formats; text must be UTF-8."""
    path = Path(path)
    text = read_text(path)
    lines, cues = text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), list[Cue]()
    lines = [
        _checked(line, path, row) if "-->" in line and line.lstrip()[:1].isdigit() else line
        for row, line in enumerate(lines, start=1)
    ]
    web = text.startswith("WEBVTT")
    try:
        for start, end, speech in (_read_web if web else _read_subrip)("\n".join(lines)):
            words = TAG.sub("", speech).strip()
            cues.append(Cue(start, end, plain(words), _kind(words)))
    except srt.SRTParseError as error:
        start = cast(int, error.expected_start)  # pyright: ignore[reportUnknownMemberType]
        row = text.count("\n", 0, start) + 1
        raise InputError("no subtitle of SubRip", file=path, row=row, remedy=REMEDY) from None
    except MalformedFileError as error:
        raise InputError(f"no WebVTT: {error}", file=path, remedy=REMEDY) from None
    if not cues:
        raise InputError("holds no subtitle", file=path)
    return cues


def _read_web(text: str) -> Iterator[tuple[float, float, str]]:
    captions: Any = webvtt.from_string(text)
    for caption in captions:
        if times := TIMING.fullmatch(f"{caption.start} --> {caption.end}"):
            yield (*_seconds(times), html.unescape(TAG.sub("", caption.raw_text)))


def _read_subrip(text: str) -> Iterator[tuple[float, float, str]]:
    cues: Any = srt.parse(text)  # pyright: ignore[reportUnknownMemberType]
    for cue in cues:
        yield cue.start.total_seconds(), cue.end.total_seconds(), cue.content


def spoken(start: float, end: float, text: str) -> Cue:
    """A cue of recognised speech, `start` and `end` in seconds; recognisers also write sounds in brackets."""
    return Cue(float(start), float(end), plain(text), _kind(text))


def _checked(line: str, path: Path, row: int) -> str:
    """A line of times with three digits after the seconds. Raises InputError for another line."""
    match = TIMING.fullmatch(line)
    if not match:
        raise InputError(f"{line.strip()!r:.60} is not a line of times", file=path, row=row, remedy=REMEDY)
    start, end = _seconds(match)
    if end < start:
        raise InputError(f"the subtitle ends at {end:.3f} s, before it starts at {start:.3f} s", file=path, row=row)
    return re.sub(r"([,.])(\d{1,2})(?!\d)", lambda cut: cut[1] + cut[2].ljust(3, "0"), line)


def _seconds(match: re.Match[str]) -> tuple[float, float]:
    """Start and end from a line of times; milliseconds may be shortened: ,5 is half a second."""
    first = [match[group] or "0" for group in range(1, 9)]
    hours, minutes, seconds, fraction = zip(first[:4], first[4:])
    start, end = (
        int(hours[n]) * 3600 + int(minutes[n]) * 60 + int(seconds[n]) + int(fraction[n].ljust(3, "0")) / 1000
        for n in (0, 1)
    )
    return start, end


def _outside_brackets(text: str) -> str:
    """The text without descriptions in brackets; an unclosed bracket remains. One pass, at any nesting depth."""
    pieces: list[str] = []
    at, closed = 0, set("[(")
    while opening := OPENING.search(text, at):
        end = text.find(CLOSING[opening.group()], opening.end()) if opening.group() in closed else -1
        if end < 0:
            closed.discard(opening.group())
            pieces.append(text[at : opening.end()])
            at = opening.end()
        else:
            pieces.append(text[at : opening.start()])
            at = end + 1
    return "".join([*pieces, text[at:]])


def _kind(text: str) -> str:
    """``sound`` for closed captions: their text is empty without descriptions in brackets and speakers' names."""
    if MUSIC.search(text):
        return "song" if re.search(r"\w", MUSIC.sub("", _outside_brackets(text))) else "sound"
    speech = SPEAKER.sub("", _outside_brackets(text))
    return "speech" if re.search(r"\w", speech) else "sound"
