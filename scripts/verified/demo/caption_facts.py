"""Parse an English caption of the demo into the facts it states, and compare them with the truth.

The vocabulary covers the captions of the scene reader and the demo's coarse captions. Facts have the names and values
of `corpus/truth.jsonl`: shape, colour, size, texture, count, motion, direction, speed; also ``backgrounds`` (all named
ones, in order), ``pan`` and ``bystander`` (shape and, where stated, colour of the second thing).
"""

import re
from collections.abc import Mapping
from typing import Any

Facts = dict[str, Any]
"""Values by the names above: a word, a number, a list of words, a bystander's own facts."""

SHAPES = {
    "ball": ("ball", "disc"),
    "box": ("box", "square", "block"),
    "triangle": ("triangle",),
    "star": ("star",),
    "ring": ("ring", "hoop"),
    "cross": ("cross", "plus sign"),
}
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white")
SIZES = {"small": ("small", "little", "tiny"), "large": ("large", "big")}
TEXTURES = {
    "striped": ("striped", "with dark stripes", "with stripes"),
    "dotted": ("dotted", "spotted", "with dark dots", "with dots"),
    "plain": ("plain", "without a pattern"),
}
COUNTS = {
    3: ("three", "a group of three", "3"),
    2: ("two", "a pair of", "both", "2"),
    1: ("one", "a single", "a", "an", "1"),
}
BACKGROUNDS = {
    "bricks": (r"brick walls?", r"walls? (?:made )?of (?:[a-z]+ )?bricks?", r"bricks"),
    "wall": (r"gr[ea]y walls?", r"walls?"),
    "sky": (r"night sky", r"dark sky", r"at night", r"night", r"sky"),
    "sand": (r"sandy (?:floor|ground)", r"sand"),
    "field": (r"green (?:field|grass)", r"grassy? field", r"field", r"grass"),
    "water": (r"(?:light )?blue water", r"water"),
}
MOTIONS = {
    "meets": (
        r"meets?",
        r"reach(?:es)?",
        r"touch(?:es)?",
        r"bumps? into",
        r"runs? into",
        r"comes? up against",
    ),
    "vanishes": (r"vanish(?:es)?", r"disappears?", r"goes? away", r"goes? out of sight"),
    "appears": (r"appears?", r"pops? up", r"shows? up", r"comes? into sight"),
    "grows": (r"grows?", r"gets? (?:bigger|larger)", r"expands?", r"becomes? (?:bigger|larger)"),
    "shrinks": (r"shrinks?", r"gets? smaller", r"becomes? smaller"),
    "bounces": (r"bounc(?:es?|ing)", r"hops?", r"jumps?"),
    "circles": (r"circles?", r"orbits?", r"(?:moves?|goes?|travels?|glides?|slides?) (?:around )?in (?:a )?circles?"),
    "moves": (r"(?<!not )moves?", r"glides?", r"slides?", r"travels?", r"goes?"),
    "stays": (
        r"stays? (?:still|in place|where it is|where they are)",
        r"(?:does|do) not move",
        r"rests?",
        r"stands? still",
        r"keeps? still",
    ),
}
"""In the order of precedence: a ball that moves until it touches a box is one that meets it."""
DIRECTIONS = {
    "anticlockwise": (r"anti-?clockwise", r"counter-?clockwise"),
    "clockwise": (r"clockwise",),
    "left": (r"to(?:wards)? the left", r"leftwards?"),
    "right": (r"to(?:wards)? the right", r"rightwards?"),
    "up": (r"towards the top", r"upwards?", r"up"),
    "down": (r"towards the bottom", r"downwards?", r"down"),
}
SPEEDS = {"slow": (r"slowly", r"at a slow pace", r"slow"), "fast": (r"quickly", r"fast", r"rapidly", r"at a fast pace")}


def _words(table: Mapping[str, tuple[str, ...]] | Mapping[int, tuple[str, ...]]) -> str:
    return "|".join(sorted((word for words in table.values() for word in words), key=len, reverse=True))


def _count(text: str) -> int | None:
    """The first number one of whose patterns fits the whole `text`."""
    return next((number for number, words in COUNTS.items() if re.fullmatch("|".join(words), text)), None)


NOUN = "|".join(word + ("(?:e?s)?" if word[-1] in "sx" else "s?") for words in SHAPES.values() for word in words)
OBJECT = re.compile(
    rf"(?:\b(?P<count>{_words(COUNTS)}) )?"
    rf"(?P<adjectives>(?:\b(?:{'|'.join(COLOURS)}|{_words(SIZES)}|striped|dotted|spotted|plain|still)\b,? (?:and )?)*)"
    rf"\b(?P<noun>{NOUN})\b(?P<pattern> with (?:dark )?(?:stripes|dots))?"
)
PLACE = re.compile("|".join(rf"(?P<{name}>\b(?:{'|'.join(words)})\b)" for name, words in BACKGROUNDS.items()))
PAN = re.compile(r"\b(?:the )?camera (?:pans?|moves?|turns?)(?: slowly)?(?: to(?:wards)? the (left|right))?")
CHANGE = re.compile(
    r"(?:,? (?:and |then |while |as )*)?the (?:background|scene|setting) (?:changes|cuts|switches).*?(?=[.;]|$)"
)
FALSE_UPS = re.compile(r"\b(?:up and down|(?:pops?|shows?|speeds?|comes?) up|up against|in the middle)\b")


def caption_facts(text: str) -> Facts:
    """Facts that an English caption states (see the module); facts that it does not mention are absent."""
    text = " ".join(text.lower().replace("’", "'").split())
    facts: Facts = {}
    backgrounds = [match.lastgroup for match in PLACE.finditer(text)]
    if backgrounds:
        facts["backgrounds"] = list(dict.fromkeys(backgrounds))
    pan = PAN.search(text)
    if pan:
        facts["pan"] = pan.group(1) or True
    text = PLACE.sub(" place ", PAN.sub(" ", CHANGE.sub(" ", text)))
    text = " ".join(text.split())
    things = [(match, _thing(match)) for match in OBJECT.finditer(text)]
    if things:
        first, subject = things[0]
        facts |= subject
        for match, thing in things[1:]:
            if thing["shape"] != subject["shape"]:
                facts["bystander"] = {name: thing[name] for name in ("shape", "colour") if name in thing}
                text = _without_bystander(text, match)
                break
        text = text[first.end() :] if first.end() < len(text) else text
    facts |= motion_facts(text)
    return facts


def _thing(match: re.Match[str]) -> Facts:
    noun = match.group("noun")
    singular = next(name for name, words in SHAPES.items() if any(noun.startswith(word) for word in words))
    thing: Facts = {"shape": singular}
    adjectives = match.group("adjectives") or ""
    for colour in COLOURS:
        if re.search(rf"\b{colour}\b", adjectives):
            thing["colour"] = colour
    for name, table in (("size", SIZES), ("texture", TEXTURES)):
        for value, words in table.items():
            if any(re.search(rf"\b{word}\b", adjectives) for word in words):
                thing[name] = value
    if match.group("pattern"):
        thing["texture"] = "striped" if "stripes" in match.group("pattern") else "dotted"
    plural = noun.endswith("s") and noun != "cross"
    if match.group("count"):
        thing["count"] = _count(match.group("count"))
        if thing["count"] == 1 and plural:
            del thing["count"]
    elif not plural:
        thing["count"] = 1
    return thing


def _without_bystander(text: str, match: re.Match[str]) -> str:
    """`text` without the clause about the second thing, whose stillness is not the subject's."""
    before, after = text[: match.start()], text[match.end() :]
    clause = re.search(r",?\s*\b(?:while|as|and|with|where)\s+(?:there (?:is|are) )?$", before)
    if clause:
        return before[: clause.start()] + " " + re.sub(r"^[^,.;]*", "", after, count=1)
    return before + " thing " + after


def motion_facts(text: str) -> Facts:
    """Motion, direction and speed of the first thing in lower-case `text`."""
    # A noun must not be read as a verb ("circles" is one only after its subject), so the subject is cut off before.
    path = FALSE_UPS.sub(" ", text)
    found = {
        "motion": _first(MOTIONS, text),
        "direction": _first(DIRECTIONS, path, r"(?<![-\w])"),
        "speed": _first(SPEEDS, text),
    }
    return {name: value for name, value in found.items() if value}


def _first(table: Mapping[str, tuple[str, ...]], text: str, before: str = r"\b") -> str | None:
    """The first value of a table one of whose patterns is in `text`, behind the pattern `before`."""
    return next((value for value, words in table.items() if re.search(rf"{before}(?:{'|'.join(words)})\b", text)), None)


def agreement(stated: Facts, truth: Facts) -> dict[str, bool]:
    """For each stated fact that the truth covers, whether it is true.

    `stated` comes from `caption_facts`, `truth` is the `facts` object of an event in `corpus/truth.jsonl`. Named
    backgrounds are right if each is one of the event's, a bystander if some scene has it. A singular ("a ball") counts
    as a statement of number, a bare plural does not. A size is not judged if the object grows or shrinks.
    """
    verdict: dict[str, bool] = {}
    for name in ("shape", "colour", "size", "texture", "count", "motion", "direction", "speed"):
        if name in stated and (truth.get(name) is not None or name in ("direction", "speed")):
            verdict[name] = stated[name] == truth.get(name)
    scenes = truth.get("scenes", [])
    if "backgrounds" in stated:
        verdict["background"] = set(stated["backgrounds"]) <= {scene["background"] for scene in scenes}
    if "bystander" in stated:
        others = [scene["bystander"] for scene in scenes if scene["bystander"]]
        verdict["bystander"] = any(
            all(other[name] == value for name, value in stated["bystander"].items()) for other in others
        )
    if "pan" in stated:
        pans = {scene["pan"] for scene in scenes} - {None}
        verdict["pan"] = bool(pans) if stated["pan"] is True else stated["pan"] in pans
    return verdict
