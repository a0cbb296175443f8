"""Separate the thoughts of a model from its answer, in every known textual form of models and servers.

Differences between models: some mark both ends, some the end alone (their chat template opens the thought), some name
channels, some mark the answer instead. A marker between two quotes is quoted text and not a marker.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

QUOTES = "\"'“”‘’«»`「」"
THOUGHT = (
    r"(?:ant)?think(?:ing)?|thoughts?|thought[_ -]?process|reason(?:ing)?|reflect(?:ion)?|scratch[_ -]?pad"
    r"|inner[_ -]?(?:monologue|thoughts?|voice)|internal[_ -]?(?:monologue|thoughts?|reasoning)|monologue|rationale"
    r"|chain[_ -]of[_ -]thoughts?|cot|analysis|plan(?:ning)?|deliberation|思考|思考过程|思維|推理"
)
ANSWER = r"(?:final[_ -]?)?(?:answer|response|output|result|solution|reply)|final|conclusion|box|答案|回答|最终答案"
BEGIN, END = "begin|start|open|on", "end|stop|close|off"


def _tags_of(names: str) -> re.Pattern[str]:
    """The tags with one of these names, in any brackets; a group whose name begins with `end` has matched in a closing
    one."""
    side = rf"(?:(?:{BEGIN})[_ ](?:of[_ ])?|(?P<end{{0}}>/|(?:{END})[_ ](?:of[_ ])?))?"
    after = rf"(?:[_ ](?:{BEGIN}|(?P<end_after{{0}}>{END})))?"
    tag = rf"\s{{{{0,3}}}}{side}\s{{{{0,3}}}}(?:\w{{{{1,16}}}}[:_])?(?:{names}){after}\s{{{{0,3}}}}"
    forms = (
        rf"(?:<|&lt;|＜){tag}(?:(?<=\s)[^<>\n]{{{{0,200}}}}|/)?(?:>|&gt;|＞)",
        rf"<\|{tag}\|>",
        rf"\[{tag}\]",
        rf"◁{tag}▷",
        rf"【{tag}】",
    )
    return re.compile("|".join(form.format(number) for number, form in enumerate(forms)), re.I)


THOUGHT_TAG, ANSWER_TAG = _tags_of(THOUGHT), _tags_of(ANSWER)
OTHER_OPENING = re.compile(
    r"<\|channel\|>\s*(?!final\b)\w+(?:(?!<\|message\|>)[^\n]){0,100}<\|message\|>"
    r"|<\|?channel\|?>\s*(?:thought|thinking|analysis|reasoning|commentary)\b[ \t]*\n?"
    r"|<unused94>(?:\s*thought\b[ \t]*\n?)?"
    r"|<\|inner_prefix\|>"
    r"|<\|im_start\|>\s*think\b"
    r"|^\s*(?:assistant\s*)?analysis(?=[A-Z\"'“(\d])"
    r"|here(?:['’]s| is) my (?:thought process|reasoning):"
    r"|<details\b[^<>]*\breasoning\b[^<>]*>"
    r"|<details\b[^<>]*>\s*<summary>[^<]*\b(?:thought|think|reason)[^<]*</summary>"
    r"|\A\s*```+\s*(?:think\w*|thoughts?|reasoning)\b[^\n]*\n",
    re.I,
)
OTHER_CLOSING = re.compile(
    r"(?:(?:<\|(?:end|return)\|>\s*)?<\|start\|>\s*assistant\s*)?"
    r"<\|channel\|>\s*final\b(?:(?!<\|message\|>)[^\n]){0,100}<\|message\|>"
    r"|<\|?channel\|?>\s*(?:final|response|answer)\b[ \t]*\n?"
    r"|<channel\|>"
    r"|<unused95>"
    r"|<\|inner_suffix\|>"
    r"|<\|im_start\|>\s*answer\b"
    r"|here(?:['’]s| is) my (?:response|answer):",
    re.I,
)
CLOSING_AFTER_OPENING = re.compile(r"assistant\s*final(?=[A-Z\"'“({\[\d])|</details>")
"""Words of an answer, unless a thought was opened before."""
FENCE_END = re.compile(r"^[ \t]*```+[ \t]*$", re.M)
TURN_END = re.compile(r"(?:<\|(?:end|return|start|im_end|endoftext|eot_id|call)\|>(?:assistant)?|</s>|<end_of_turn>)")
MARK = r"[ \t]*(?:#{1,6}[ \t]*|\*\*[ \t]*|[-=]{3,}[ \t]*)?"
LABELLED = re.compile(
    rf"\A\s*{MARK}(?:(?:my |step[- ]by[- ]step |internal )?(?:thinking|thoughts?|reasoning|analysis|chain of thought)"
    rf"(?: process| steps)?|思考过程|思考|推理过程)(?:[ \t]*\*\*)?[ \t]*(?:[:：](?:\*\*)?|\n)"
    rf".*?^{MARK}(?:(?:the |my )?(?:final )?(?:answers?|response|output|captions?|result)|最终答案|答案|回答)"
    rf"(?:[ \t]*\*\*)?[ \t]*(?:[:：](?:[ \t]*\*\*)?|$)",
    re.I | re.S | re.M,
)
"""Headings in the place of tags: a thought counts as one only where a heading opens the answer too."""
PLANS = re.compile(
    r"\s*(?:(?:okay|ok|alright|all right|hmm+|well|so|first|now|right|got it)\b[,.!:]*\s*)*"
    r"(?:the user\b|let(?:['’]s| me| us)\b|i(?:['’]ll|['’]m| need| should| have to| must| want| will)\b"
    r"|we (?:need|should|have to|must|are)\b"
    r"|(?:the )?(?:task|request|prompt|question|instructions?)\b[^\n]{0,40}\b(?:is|are|asks?|says?|wants?)\b"
    r"|用户|好的，|首先，)",
    re.I,
)
"""How thoughts begin; tells thoughts without any marker from a list that was cut off."""


SIGNS = ("<", "[", "◁", "【", "＜", "&lt;", "```", "thought", "thinking", "reasoning", "analysis", "思考", "推理")
"""Every text with a marker contains one of these; most texts have none."""


class Separated(NamedTuple):
    """A text in its parts. `is_cut`: it ends within a thought. `opened_before`: the prompt had opened the thought."""

    answer: str
    thought: str = ""
    is_cut: bool = False
    opened_before: bool = False


class _Mark(NamedTuple):
    start: int
    end: int
    closes: bool


def separate(text: str, cut: bool = False) -> Separated:
    """The answer in `text`, and its thoughts; a text without any marker is all answer.

    The answer begins behind the last thought; parts of an answer that thoughts interrupt are joined. An unclosed
    thought means that there is no answer; so does a text that is `cut` off at the token limit and begins as thoughts
    do.
    """
    parts = _separate(text)
    if cut and parts.answer == text and PLANS.match(text):
        return Separated("", text, True)
    return parts


def _separate(text: str) -> Separated:
    low = text.lower()
    if not any(sign in low for sign in SIGNS):
        return Separated(text)
    marks = list(_thought_marks(text))
    if not marks:
        if match := LABELLED.match(text):
            return Separated(text[match.end() :].strip(), text[: match.end()].strip())
        return _unwrap(Separated(text))
    pieces, thoughts, inside, at = list[str](), list[str](), False, 0
    opened_before = marks[0].closes
    for mark in marks:
        run, at = text[at : mark.start], mark.end
        if mark.closes and not inside:
            thoughts += [*pieces, run]
            pieces = []
        else:
            (thoughts if inside else pieces).append(run)
        inside = not mark.closes
    if inside:
        return Separated("", _joined([*pieces, *thoughts, text[at:]]), True, opened_before)
    answer = _answer_of([*pieces, text[at:]])
    return _unwrap(Separated(answer, _joined(thoughts), False, opened_before))


def has_thought(text: str) -> bool:
    """Whether `text` holds a thought, or a marker of one."""
    return separate(text).answer != text


def ends_in_thought(prompt: str) -> bool:
    """Whether a prompt, as its chat template wrote it, ends with the opening of a thought."""
    tail = prompt[-200:].rstrip()
    opened = [m.end() for m in THOUGHT_TAG.finditer(tail) if not _closes(m)]
    return len(tail) in opened + [len(tail[: m.end()].rstrip()) for m in OTHER_OPENING.finditer(tail)]


def _thought_marks(text: str) -> Iterator[_Mark]:
    """Markers of thoughts in their order.

    An opening one within a line counts only if a closing one follows.
    """
    found = [_Mark(m.start(), m.end(), _closes(m)) for m in THOUGHT_TAG.finditer(text) if not _is_empty(m)]
    found += [_Mark(m.start(), m.end(), False) for m in OTHER_OPENING.finditer(text)]
    found += [_Mark(m.start(), m.end(), True) for m in OTHER_CLOSING.finditer(text)]
    if found and text.lstrip().startswith("```"):
        found += [
            _Mark(m.start(), m.end(), True)
            for first in found
            if text[first.start : first.end].lstrip().startswith("```")
            for m in [FENCE_END.search(text, first.end)]
            if m
        ]
    if opened := [mark.start for mark in found if not mark.closes]:
        weak = CLOSING_AFTER_OPENING.finditer(text, min(opened))
        found += [_Mark(m.start(), m.end(), True) for m in weak]
    found = sorted(mark for mark in found if not _is_quoted(text, mark))
    at, last_closing = 0, max((mark.start for mark in found if mark.closes), default=-1)
    for mark in found:
        if mark.start < at:  # within the one before
            continue
        begins = _begins_line(text, mark.start) or (at and not text[at : mark.start].strip())
        if mark.closes or begins or mark.start < last_closing:
            at = mark.end
            yield mark


def _closes(match: re.Match[str]) -> bool:
    return any(value for name, value in match.groupdict().items() if name.startswith("end"))


def _is_empty(match: re.Match[str]) -> bool:
    return match.group().endswith(("/>", "/&gt;"))


def _is_quoted(text: str, mark: _Mark) -> bool:
    before, after = text[mark.start - 1 : mark.start], text[mark.end : mark.end + 1]
    return bool(before and after) and before in QUOTES and after in QUOTES


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t>*#`")


def _answer_of(pieces: list[str]) -> str:
    """The text between and behind thoughts: the last piece, and those that it continues."""
    parts = [piece.strip() for piece in (TURN_END.sub("", piece) for piece in pieces) if piece.strip()]
    if not parts:
        return ""
    if re.match(r"(?:```\w*\s*)?[{\[]", parts[0]) and not re.search(r"[}\]]\W*$", parts[0]):  # thoughts within JSON
        return "".join(parts)
    first = len(parts) - 1
    while first and re.match(r"[\W_]{0,5}(?:[2-9]|[1-9]\d)\s*[.):\]、．）：]", parts[first]):
        first -= 1
    return "\n".join(parts[first:])


def _unwrap(parts: Separated) -> Separated:
    """Remove the wrapper of the answer, such as ``<answer>…</answer>``; text outside it counts as thought."""
    text = parts.answer
    found = [m for m in ANSWER_TAG.finditer(text) if not _is_empty(m)]
    marks = [mark for m in found if not _is_quoted(text, mark := _Mark(m.start(), m.end(), _closes(m)))]
    last_closing = max((mark.start for mark in marks if mark.closes), default=-1)
    marks = [mark for mark in marks if mark.start <= last_closing or _begins_line(text, mark.start)]
    if not marks:
        return parts
    if re.match(r"\s*(?:```\w*\s*)?[{\[]", text) and text[: marks[0].start].strip():  # marks within JSON
        for mark in reversed(marks):
            text = text[: mark.start] + text[mark.end :]
        return parts._replace(answer=text.strip())
    inside, outside, at, is_open = list[str](), list[str](), 0, marks[0].closes
    for mark in marks:
        (inside if is_open else outside).append(text[at : mark.start])
        at, is_open = mark.end, not mark.closes
    (inside if is_open else outside).append(text[at:])
    return parts._replace(answer=_joined(inside), thought=_joined([parts.thought, *outside]))


def _joined(texts: list[str]) -> str:
    return "\n".join(text.strip() for text in texts if text.strip())
