"""From raw answers to their parts: tolerant parsers of the printed formats (supplement listings 2 to 9).

JSON is tried first, then the printed format of the task: labelled sections, JSON with numbered keys, numbered lists,
numbered answers followed by free text. Stray text, code fences, missing quotes and JSON cut short lose no complete
part. "At least three" means: the first three are taken.
"""

import json
import re

from verified.io.characters import plain
from verified.lmm.outcome import Parsed
from verified.lmm.refusal import refusal
from verified.lmm.task_registry import FURTHER

CAPTION_TASKS = ("statics_candidates", "dynamics_candidates", "positives", "static_negatives", "dynamic_negatives")
SECTIONS = {
    "background": r"background(?:\s+description)?",
    "foreground": r"(?:objects?'?\s*(?:and\s+)?attributes?|attributes?|foreground|main\s+objects?|objects?)",
    "description": r"(?:desc(?:ription)?|new\s+description|caption)",
}
QUOTES = "\"'“”‘’«»`"


def parse(task: str, slots: dict[str, str], text: str, count: int, cut: bool = False) -> Parsed:
    """The parts of an answer to `task`; `count` items are wanted (ignored for keyframe descriptions).

    `cut` says that the answer was cut at the token limit: its last part is then not trusted.
    """
    if task in FURTHER:
        return FURTHER[task].parse(slots, text, count, cut)
    text = unfenced(text)
    if task == "keyframe_description":
        return _keyframe(text, cut)
    if task == "answers":
        return _answers(text, count, cut)
    items, form = _items(text, count, cut)
    if task in CAPTION_TASKS:
        return _captions(items, form, slots["caption"], count)
    usable = [(position, item) for position, item in enumerate(items) if re.search(r"\w", item)][:count]
    return Parsed(
        items=tuple(item for _, item in usable),
        positions=tuple(position for position, _ in usable),
        missing=count - len(usable),
        form=form,
    )


def _captions(items: list[str], form: str, coarse: str, count: int) -> Parsed:
    accepted, indices, refused = [], [], []
    for index, candidate in enumerate(items):
        reason = refusal(candidate, coarse, accepted)
        if reason:
            refused.append({"caption": candidate[:1000], "reason": reason})
        elif len(accepted) < count:
            accepted.append(candidate)
            indices.append(index)
    return Parsed(tuple(accepted), {}, tuple(indices), tuple(refused), count - len(accepted), form)


def _items(text: str, count: int, cut: bool) -> tuple[list[str], str]:
    """All numbered items of an answer, and the form they were found in."""
    if items := _json_items(text):
        return [cleaned(item) for item in items], "json"
    if items := _json_pairs(text):
        return [cleaned(item) for item in items], "json-pieces"
    items = numbered(text)
    if items:
        if cut:
            items = items[:-1]
        return [cleaned(item) for item in items], "numbered"
    return _single(text, count, cut)


def _single(text: str, count: int, cut: bool) -> tuple[list[str], str]:
    """Lines that open with a bullet, or a quoted sentence alone: what is left when nothing is numbered."""
    bullets = re.findall(r"(?m)^\s*(?:[-*•]|candidate\s*\d*\s*:)\s+(\S.*)$", text, re.I)
    if len(bullets) >= min(2, count):
        return [cleaned(item) for item in (bullets[:-1] if cut else bullets)], "bullets"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    quoted = [line for line in lines if line[0] in QUOTES and line.rstrip(".,")[-1] in QUOTES and len(line) > 2]
    return [cleaned(item) for item in quoted], "quoted" if quoted else "none"


def _json_items(text: str) -> list[str]:
    """Captions of a JSON answer: values of numbered keys in their order, or a list; never the key `original`."""
    value = json_value(text)
    if isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, list | dict) and not _numbered_keys(value):
                value = inner
                break
    if isinstance(value, dict):
        return [value[key] for key in _numbered_keys(value) if isinstance(value[key], str)]
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return []


def _numbered_keys(value: dict) -> list[str]:
    keys = [
        (int(match.group(1)), key) for key in value if (match := re.fullmatch(r"\D{0,20}?(\d{1,2})\D{0,3}", str(key)))
    ]
    return [key for _, key in sorted(keys)]


def json_value(text: str) -> dict | list | None:
    """The first JSON object or array in `text`, whatever surrounds it; None if there is none that is complete."""
    decoder = json.JSONDecoder(strict=False)
    for match in list(re.finditer(r"[{\[]", text))[:20]:
        for candidate in (text, re.sub(r",(\s*[}\]])", r"\1", text)):
            try:
                value, _ = decoder.raw_decode(candidate, match.start())
            except (json.JSONDecodeError, RecursionError):
                continue
            if isinstance(value, dict | list) and value:
                return value
    return None


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


def numbered(text: str) -> list[str]:
    """Items of a list numbered 1, 2, 3 …, each on its own line or all in one paragraph.

    An item ends at the next number, at an empty line, or at the end.
    """
    return [_first_paragraph(piece) for piece in _numbered_pieces(text)]


def _numbered_pieces(text: str) -> list[str]:
    by_line = _split_at(
        text,
        r"(?m)^[ \t>*#(\[\"“-]*(?:candidate\s*|caption\s*|q(?:uestion)?\s*|a(?:nswer)?\s*)?"
        r"{n}\s*(?:[.):\]]|\*\*)+[ \t]*",
    )
    inline = _split_at(text, r"(?:^|(?<=[\s\"”'.!?*])){n}[.)]\s+(?=\S)")
    return inline if len(inline) > len(by_line) else by_line


def _split_at(text: str, pattern: str) -> list[str]:
    """Pieces that follow the markers 1, 2, 3 … of `pattern`, in order."""
    starts, ends, position = [], [], 0
    for number in range(1, 100):
        match = re.compile(pattern.replace("{n}", str(number)), re.I).search(text, position)
        if not match:
            break
        starts.append(match.end())
        ends.append(match.start())
        position = match.end()
    return [text[start:end] for start, end in zip(starts, [*ends[1:], len(text)])]


def _first_paragraph(piece: str) -> str:
    return re.split(r"\n[ \t]*\n", piece.strip(), maxsplit=1)[0].strip()


def _answers(text: str, count: int, cut: bool) -> Parsed:
    """Numbered answers followed by a free description (listing 5)."""
    value = json_value(text)
    if isinstance(value, dict) and isinstance(value.get("answers"), list):
        items = [cleaned(str(item)) for item in value["answers"]][:count]
        description, form = cleaned(str(value.get("description", ""))), "json"
    else:
        items, description = _numbered_then_text(text, count)
        form = "numbered" if items else "none"
        if cut and description:
            description = _whole_sentences(description)
        elif cut:
            items = items[:-1]
    usable = [(position, item) for position, item in enumerate(items) if re.search(r"\w", item)]
    return Parsed(
        items=tuple(item for _, item in usable),
        positions=tuple(position for position, _ in usable),
        sections={"description": description},
        missing=count - len(usable) + (not description),
        form=form,
    )


def _numbered_then_text(text: str, count: int) -> tuple[list[str], str]:
    pieces = _numbered_pieces(text)[:count]
    if not pieces:
        return [], ""
    tail = text[text.rindex(pieces[-1]) + len(pieces[-1]) :] if len(_numbered_pieces(text)) > count else ""
    last, _, description = pieces[-1].strip().partition("\n")
    if not description.strip():
        sentences = re.split(r"(?<=[.!?])\s+", last, maxsplit=1)
        last, description = sentences[0], sentences[1] if len(sentences) == 2 else ""
    description = re.sub(
        r"^[\s*#]*(?:detailed\s+)?(?:dynamic\s+)?(?:description|desc)[^:\n]{0,40}:[\s*]*",
        "",
        description.strip(),
        flags=re.I,
    )
    items = [cleaned(_first_paragraph(piece)) for piece in pieces[:-1]] + [cleaned(last)]
    return items, cleaned(description or tail)


def _keyframe(text: str, cut: bool) -> Parsed:
    """Background, object attributes and description of one keyframe (listing 2)."""
    value = json_value(text)
    if isinstance(value, dict):
        sections = dict.fromkeys(SECTIONS, "")
        for key, inner in value.items():
            for name, label in SECTIONS.items():
                if re.fullmatch(label, str(key).replace("_", " ").strip(), re.I) and not sections[name]:
                    sections[name] = cleaned(inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False))
        form = "json"
    else:
        sections, form = _labelled(text), "sections"
        if cut:
            last = max(
                (name for name in sections if sections[name]),
                key=lambda name: text.rfind(sections[name][-20:]),
                default=None,
            )
            if last:
                sections[last] = _whole_sentences(sections[last])
    missing = sum(not section for section in sections.values())
    return Parsed(sections=sections, missing=missing, form=form if missing < len(sections) else "none")


def _labelled(text: str) -> dict[str, str]:
    marks = []
    for name, label in SECTIONS.items():
        pattern = rf"(?im)^[ \t\"'*#>\d.)-]*{label}[ \t\"'*]*:[ \t*]*"
        match = re.search(pattern, text) or re.search(rf"(?i)(?<=[.!?;\"'])\s+[\"'*]*{label}[\"'*]*:[ \t*]*", text)
        if match:
            marks.append((match.start(), match.end(), name))
    marks.sort()
    ends = [start for start, _, _ in marks[1:]] + [len(text)]
    sections = dict.fromkeys(SECTIONS, "")
    for (_, start, name), end in zip(marks, ends):
        sections[name] = cleaned(_first_paragraph(text[start:end]) if name == "description" else text[start:end])
    return sections


def _whole_sentences(text: str) -> str:
    """`text` up to its last finished sentence."""
    return text[: max((text.rfind(mark) for mark in ".!?"), default=-1) + 1]


def unfenced(text: str) -> str:
    """`text` without the lines that open and close code fences."""
    return re.sub(r"(?m)^[ \t]*```[\w-]*[ \t]*$", "", text).replace("\r\n", "\n").strip()


def cleaned(text: str) -> str:
    """One line without labels, list marks, wrapper quotes and bold marks around it."""
    text = plain(text)
    text = re.sub(r"^\((?:q|a)\)\s*|^(?:answer|question|candidate|caption|sentence)\s*\d*\s*:\s*", "", text, flags=re.I)
    text = re.sub(r"^\*\*(.+?)\*\*", r"\1", text).removesuffix("**").strip()
    for _ in range(3):
        stripped = _unwrapped(re.sub(r"^\d{1,2}[.)]\s+(?=\S)", "", text).rstrip(",;"))
        if stripped == text:
            break
        text = stripped
    return text


def _unwrapped(text: str) -> str:
    """Take one pair of quotes off the ends, or a single quote mark that has no partner."""
    if len(text) >= 2 and text[0] in QUOTES and text[-1] in QUOTES:
        return text[1:-1].strip()
    if text and text[0] in '"“«`' and not any(mark in text[1:] for mark in '"”»`'):
        return text[1:].strip()
    if text and text[-1] in '"”»`' and not any(mark in text[:-1] for mark in '"“«`'):
        return text[:-1].strip()
    return text
