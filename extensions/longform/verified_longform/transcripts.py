"""Transcripts with times, as Whisper and Azure Speech write them or as subtitles, cut into sentences."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from verified.errors import InputError
from verified.io.characters import plain
from verified.io.jsonl import finite, read_json
from verified.io.subtitles import Cue, read_subtitles, spoken

TICKS = 10_000_000
"""Azure counts time in 100 nanoseconds."""
END_OF_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*$")


@dataclass(frozen=True)
class Word:
    """Text with its punctuation, seconds, and whether the recogniser's own phrase ends with it."""

    text: str
    start: float
    end: float
    last: bool = False


@dataclass(frozen=True)
class Sentence:
    text: str
    start: float
    end: float


def read_transcript(path: str | os.PathLike) -> list[Word]:
    """Words of a transcript, phrase by phrase, phrases in time's order; the form is recognised by its keys.

    Read are Whisper's ``segments`` with ``words`` (word_timestamps=True; without, a segment counts as one word, as a
    subtitle does), Azure's batch form (``recognizedPhrases``
    with ``nBest`` and ``words``) and the service's detailed results (an object, or a list of them, with ``NBest`` and
    ``Words``), and SubRip or WebVTT by the name of the file (.srt, .vtt), in which a subtitle counts as one word that
    may hold several. Raises InputError with the file and the place for another form, missing word times, or times that
    are no numbers or run backwards.
    """
    path = Path(path)
    if path.suffix.lower() in (".srt", ".vtt"):
        cues = sorted(read_subtitles(path), key=lambda cue: cue.start)
        return [Word(cue.text, cue.start, cue.end) for cue in cues]
    value = read_json(path)
    if isinstance(value, dict) and "segments" in value:
        words = _whisper(value["segments"], path)
    elif isinstance(value, dict) and "recognizedPhrases" in value:
        words = _azure(value["recognizedPhrases"], path, "nBest", "words", "word", "offsetInTicks", "durationInTicks")
    elif isinstance(value, list) or (isinstance(value, dict) and "NBest" in value):
        results = value if isinstance(value, list) else [value]
        words = _azure(results, path, "NBest", "Words", "Word", "Offset", "Duration")
    else:
        raise InputError(
            "no transcript that is known here",
            file=path,
            remedy="give Whisper's JSON with word timestamps, Azure's batch or detailed JSON, or .srt or .vtt",
        )
    # Phrases of two speakers may overlap: sorted as a whole, their words would mix.
    return [word for phrase in sorted(filter(None, words), key=lambda phrase: phrase[0].start) for word in phrase]


def read_voices(path: str | os.PathLike) -> list[Cue]:
    """Cues of subtitles, or of a transcript of the movie in Whisper's JSON (.json).

    Raises InputError as `read_subtitles`, and for JSON without segments that have start, end and text.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        return read_subtitles(path)
    cues = []
    for number, segment in enumerate(_list(_key(read_json(path), "segments", path, "file"), path, "segments"), start=1):
        place = f"segment {number}"
        text, start, end = (_key(segment, key, path, place) for key in ("text", "start", "end"))
        _word(text, start, end, True, path, place)  # it checks them
        cues.append(spoken(start, end, text))
    return cues


def voice_activity(cues: list[Cue]) -> list[tuple[float, float]]:
    """Disjoint intervals in seconds, ascending, of speech or song."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted((cue.start, cue.end) for cue in cues if cue.kind != "sound" and cue.end > cue.start):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _whisper(segments: object, path: Path) -> list[list[Word]]:
    phrases = []
    for number, segment in enumerate(_list(segments, path, "segments"), start=1):
        place = f"segment {number}"
        if isinstance(segment, dict) and "words" not in segment and "start" in segment:
            text, start, end = (_key(segment, key, path, place) for key in ("text", "start", "end"))
            phrases.append([_word(text, start, end, True, path, place)])
            continue
        recognised = _key(segment, "words", path, place, "transcribe with word_timestamps=True")
        recognised = _list(recognised, path, f"{place}: words")
        words = []
        for position, word in enumerate(recognised):
            start, end = (_key(word, key, path, place) for key in ("start", "end"))
            words.append(
                _word(_key(word, "word", path, place), start, end, position == len(recognised) - 1, path, place)
            )
        phrases.append(words)
    return phrases


def _azure(
    phrases: object, path: Path, best: str, words_key: str, word_key: str, offset: str, duration: str
) -> list[list[Word]]:
    collected = []
    for number, phrase in enumerate(_list(phrases, path, "phrases"), start=1):
        place = f"phrase {number}"
        options = _list(_key(phrase, best, path, place), path, f"{place}: {best}")
        if not options:
            continue
        recognised = _list(_key(options[0], words_key, path, place, "ask for word-level timestamps"), path, place)
        words = []
        display = str(options[0].get("display", options[0].get("Display", ""))).split()
        for position, word in enumerate(recognised):
            first, length = (_key(word, key, path, place) for key in (offset, duration))
            if not finite(first) or not finite(length):
                raise InputError(f"{place}: a word's time is {first!r:.40}, {length!r:.40}", file=path)
            # The lexical words have no punctuation; the display form has it, used word by word if both have equally
            # many.
            text = display[position] if len(display) == len(recognised) else _key(word, word_key, path, place)
            last = position == len(recognised) - 1
            words.append(_word(text, first / TICKS, (first + length) / TICKS, last, path, place))
        collected.append(words)
    return collected


def _word(text: object, start: object, end: object, last: bool, path: Path, place: str) -> Word:
    if not isinstance(text, str) or not finite(start) or not finite(end):
        raise InputError(f"{place}: word {text!r:.40} from {start!r:.40} to {end!r:.40}", file=path)
    if end < start:
        raise InputError(f"{place}: word {text!r:.40} ends before it starts", file=path)
    return Word(plain(text), float(start), float(end), last)


def _list(value: object, path: Path, place: str) -> list:
    if not isinstance(value, list):
        raise InputError(f"{place}: expected a list, found {type(value).__name__}", file=path)
    return value


def _key(value: object, key: str, path: Path, place: str, remedy: str | None = None):
    if not isinstance(value, dict) or key not in value:
        raise InputError(f"{place}: missing key {key!r}", file=path, remedy=remedy)
    return value[key]


def sentences(words: list[Word], pause: float = 1.5) -> list[Sentence]:
    """Cut words at the end of a sentence or of the recogniser's phrase, and at silences of `pause` seconds.

    A sentence without them gets a capital and a full stop: the paper restored punctuation with a tool (Punctuator) that
    is not part of this.
    """
    cut, current = [], []
    for word in words:
        if current and word.start - current[-1].end > pause:
            cut.append(_sentence(current))
            current = []
        if word.text:
            current.append(word)
        if current and (word.last or END_OF_SENTENCE.search(word.text)):
            cut.append(_sentence(current))
            current = []
    return cut + ([_sentence(current)] if current else [])


def _sentence(words: list[Word]) -> Sentence:
    text = " ".join(word.text for word in words)
    text = text[:1].upper() + text[1:]
    if not END_OF_SENTENCE.search(text):
        text = text.rstrip(",;: ") + "."
    return Sentence(text, words[0].start, max(word.end for word in words))
