"""Statics captions (section 3.1, Equations 1 and 2; supplement listings 2 and 3)."""

import re

from verified.lmm.parsing import clean, first_paragraph, json_value, strip_fences, text_of, whole_sentences
from verified.lmm.request import Parsed
from verified.lmm.tasks import SAID, TEXT, Task, object_schema, words
from verified.lmm.tasks.numbered import list_task, read_captions

SECTIONS = {
    "background": r"(?:background(?:\s+description)?|背景(?:描述)?)",
    "foreground": (
        r"(?:objects?'?\s*(?:and\s+)?attributes?|attributes?|foreground|main\s+objects?|objects?"
        r"|(?:前景|物体|对象)(?:[和与]?属性)?)"
    ),
    "description": r"(?:desc(?:ription)?|new\s+description|caption|新?描述|説明)",
}


def read_keyframe(_slots: dict[str, str], text: str, _count: int, cut: bool) -> Parsed:
    """Background, object attributes and description of one keyframe (listing 2)."""
    text = strip_fences(text)
    value = json_value(text)
    if isinstance(value, dict):
        sections = dict.fromkeys(SECTIONS, "")
        for key, inner in value.items():
            for name, label in SECTIONS.items():
                if re.fullmatch(label, str(key).replace("_", " ").strip(), re.I) and not sections[name]:
                    sections[name] = clean(text_of(inner))
    else:
        sections = _split_sections(text)
        if cut:
            last = max(
                (name for name in sections if sections[name]),
                key=lambda name: text.rfind(sections[name][-20:]),
                default=None,
            )
            if last:
                sections[last] = whole_sentences(sections[last])
    return Parsed(sections=sections, missing=sum(not section for section in sections.values()))


def _split_sections(text: str) -> dict[str, str]:
    marks = []
    for name, label in SECTIONS.items():
        pattern = rf"(?im)^[ \t\"'*#>\d.)-]*{label}[ \t\"'*]*[:：][ \t*]*"
        match = re.search(pattern, text) or re.search(rf"(?i)(?<=[.!?;\"'])\s+[\"'*]*{label}[\"'*]*[:：][ \t*]*", text)
        if match:
            marks.append((match.start(), match.end(), name))
    marks.sort()
    ends = [start for start, _, _ in marks[1:]] + [len(text)]
    sections = dict.fromkeys(SECTIONS, "")
    for (_, start, name), end in zip(marks, ends):
        sections[name] = clean(first_paragraph(text[start:end]) if name == "description" else text[start:end])
    return sections


def _schema(_count: int) -> dict:
    return object_schema({"background": TEXT, "objects attributes": TEXT, "desc": TEXT})


def _example(_count: int, identity: str) -> Parsed:
    return Parsed(sections=dict.fromkeys(SECTIONS, words(140 // 3, identity)))


KEYFRAME_DESCRIPTION = Task(
    "keyframe_description",
    "image_lmm",
    ("caption",),
    read_keyframe,
    _schema,
    140,
    _example,
    followed=True,
    optional=SAID,
    settings=("picture_side",),
)
STATICS_CANDIDATES = list_task(
    "statics_candidates",
    ("caption", "keyframe_number", "keyframes", "count"),
    160,
    read_captions,
    optional=SAID,
    settings=("candidates",),
)
TASKS = (KEYFRAME_DESCRIPTION, STATICS_CANDIDATES)
