"""Kinds of attributes that a caption states, by words, and contradictions of two captions.

Each kind has values, and each value the words for it. A caption that names values of a kind, none of which another
caption of the same moment names while that one names others, contradicts it: "a man" and "she", "two" and "three". Only
words are compared: their subjects and negations are ignored.
"""

import re
from collections.abc import Mapping
from functools import cache

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "silver", "beige")
VALUES: Mapping[str, Mapping[str, str]] = {
    "colour": {name: name for name in COLOURS} | {"grey": "gr[ea]y", "gold": "gold|golden"},
    "number": {word: rf"{word}|{digit}" for digit, word in enumerate(NUMBERS, start=1)},
    "size": {"small": "small|little|tiny|short", "large": "large|big|huge|tall|long"},
    "direction": {
        "left": "left|leftwards?",
        "right": "right|rightwards?",
        "up": "up|upwards?",
        "down": "down|downwards?",
        "forward": "forwards?",
        "backward": "backwards?",
        "clockwise": "(?<!-)clockwise",
        "anticlockwise": "(?:anti|counter)-?clockwise",
    },
    "speed": {"slow": "slow|slowly|gently", "fast": "fast|quick|quickly|rapidly|swiftly"},
    "person": {
        "male": "man|men|boys?|he|his|him|guys?|gentlem[ae]n|father",
        "female": "wom[ae]n|girls?|she|hers?|lad(?:y|ies)|mother",
    },
    "opening": {"open": "opens?|opening|opened", "close": "close[sd]?|closing|shuts?|shutting"},
    "posture": {
        "sit": "sits?|sitting|seated|sat",
        "stand": "stands?|standing|stood",
        "lie": "lies|lying|lays?|laying",
    },
    "passage": {
        "enter": "enter(?:s|ed|ing)?|comes? in|walks? in(?:to)?",
        "leave": "leaves?|leaving|left the|exit(?:s|ed|ing)?|walks? out",
    },
    "time of day": {"day": "day(?:light|time)?|sunny|sunlight", "night": "night(?:time)?|in the dark|darkness"},
}
"""Kind → value → its words, a regular expression."""


@cache
def _patterns() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    return {
        kind: [(value, re.compile(rf"\b(?:{words})\b")) for value, words in values.items()]
        for kind, values in VALUES.items()
    }


def stated(caption: str) -> dict[str, frozenset[str]]:
    """The values that a caption names, by kind; kinds that it does not mention are omitted."""
    text = " ".join(caption.casefold().split())
    found = {
        kind: frozenset(value for value, pattern in patterns if pattern.search(text))
        for kind, patterns in _patterns().items()
    }
    return {kind: values for kind, values in found.items() if values}


def contradicted(one: str, other: str) -> list[str]:
    """Kinds of which two captions name values, and none in common."""
    first, second = stated(one), stated(other)
    return [kind for kind in first if kind in second and not first[kind] & second[kind]]
