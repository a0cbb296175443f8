"""Lint FIG files: report problems by row, without changing the files.

Some findings are doubts whether a caption describes its moment: a model diverted from its task writes something else
instead. A doubt is no proof: such captions are flagged for a person, and none is dropped. Two properties are checked.
The form: one or a few sentences, no order, no mention of writers or readers, no words about captions, answers and
grades, and not much shorter than the coarse caption. And the subject: the cosine of the sentence vectors of both
captions (see `nn.sentences.cosines`). Words that the coarse caption also uses are never a finding.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from verified.config.annotations import Lint
from verified.errors import visible
from verified.io.characters import LONGEST_CAPTION, NO_BLANKS, words_of
from verified.io.fig import COARSE, COG_KEYS, FIG_KEYS, value_problem
from verified.io.files import checked_file
from verified.io.jsonl import parse_json
from verified.lmm.patterns import compiled, sections
from verified.lmm.refusal import MAY_BE_SAID, same, without_speech

QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}
TALK = {
    "original-caption": "speaks_of_caption",
    "frames": "speaks_of_frames",
    "time": "speaks_of_time",
    "prompt": "speaks_of_prompt",
    "instructions": "speaks_of_prompt",
    "no-answer": "no_answer",
    "thought": "thinks_aloud",
    "url": "url",
    "markup": "markup",
    "personal-data": "personal_data",
}
"""The reasons for which generation refuses a caption, and the findings they are here."""
QUOTABLE = {TALK[reason] for reason in MAY_BE_SAID}
"""Findings that quoted speech of somebody in the video does not trigger."""


class TextRule(NamedTuple):
    """A rule on captions: a check, its pattern, and whether words of the coarse caption are allowed."""

    check: str
    pattern: re.Pattern[str]
    coarse_may: bool = False


TEXT_RULES = (
    TextRule(
        "wrapper_quotes",
        re.compile("|".join(rf"^\s*{first}[^{last}]*{last}\s*$" for first, last in QUOTES.items())),
    ),
    TextRule("outer_blanks", re.compile(r"^\s|\s$")),
    TextRule("double_spaces", re.compile(r"(?<=\S)(?:\s{2,}|[\t\r\n])(?=\S)")),
    *(
        TextRule(check, compiled("speaks-of" if coarse_may else "forbidden", reason), coarse_may)
        for reason, check in TALK.items()
        for coarse_may in [reason in sections()["speaks-of"]]
    ),
)
"""All checks of the text of a caption; pages get them as data."""
ODD = {*TALK.values(), "equals_coarse"}
"""Findings that already cover an odd form of a caption."""
Cosines = Callable[[Sequence[str], Sequence[str]], Iterable[float]]
"""Captions and their coarse captions → a cosine for each."""

Finding = tuple[str, int, str]
"""(check, row counted from 1, finding)."""


def lint(path: str | os.PathLike, severities: Lint, cosines: Cosines | None = None) -> dict:
    """Findings of one file: ``file, rows, passed`` and, per check that found something, ``severity, count, rows,
    example``.

    Of files with coarse captions only, these are checked. With `cosines` of captions to their coarse ones, fine
    captions are also compared with these. Raises InputError only if there is no such file.
    """
    by_check: dict[str, list[tuple[int, str]]] = {}
    rows = 0
    for check, row, detail in _findings(Path(path), cosines):
        if check == "rows":
            rows = row
        elif getattr(severities, check) != "off":
            by_check.setdefault(check, []).append((row, detail))
    order = [name for name in type(severities).model_fields if name in by_check]
    findings = {
        check: {
            "severity": getattr(severities, check),
            "count": len(by_check[check]),
            "rows": [row for row, _ in by_check[check]],
            "example": by_check[check][0][1],
        }
        for check in order
    }
    passed = not any(finding["severity"] == "error" for finding in findings.values())
    return {"file": str(path), "rows": rows, "passed": passed, "findings": findings}


def _findings(path: Path, cosines: Cosines | None) -> Iterator[Finding]:
    captions: dict[str, list[int]] = {}
    compared: dict[int, tuple[str, str]] = {}
    first_row: dict[int, int] = {}
    number = 0
    with checked_file(path).open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                raw = raw.removeprefix(b"\xef\xbb\xbf")
                yield "encoding", 1, "byte order mark"
            if raw.endswith(b"\r\n"):
                yield "encoding", number, "CRLF line end"
            try:
                row = parse_json(raw.decode("utf-8"))
                if not isinstance(row, dict):
                    raise ValueError("not an object")
            except RecursionError:
                yield "unreadable", number, "brackets nested too deep"
                continue
            except ValueError as error:  # of JSON, of a key given twice, of UTF-8
                yield "unreadable", number, str(error)
                continue
            keys = FIG_KEYS if "fig_desc" in row else COG_KEYS
            problems = [
                f"missing key {key!r}" if key not in row else f"{key!r} {value_problem(key, row[key])}"
                for key in keys
                if key not in row or value_problem(key, row[key])
            ]
            for problem in problems:
                yield "malformed", number, problem
            if problems:
                continue
            if len(row.get("fig_desc", "")) > LONGEST_CAPTION or len(row["cog_desc"]) > LONGEST_CAPTION:
                yield "malformed", number, f"a caption of more than {LONGEST_CAPTION} characters"
                continue
            if row["desc_id"] in first_row:
                yield "duplicate_id", number, f"{row['desc_id']} is also in row {first_row[row['desc_id']]}"
            first_row.setdefault(row["desc_id"], number)
            caption = row.get("fig_desc", row["cog_desc"])
            captions.setdefault(caption, []).append(number)
            results = list(_row_findings(row, caption))
            if "fig_desc" in row and row.get("fig_desc_type") != COARSE and not {check for check, _ in results} & ODD:
                if doubted := doubts(caption, row["cog_desc"]):
                    results.append(("not_of_moment", f"{'; '.join(doubted)}, in: {caption}"))
                else:
                    compared[number] = (caption, row["cog_desc"])
            for check, detail in results:
                yield check, number, detail
    if cosines is not None and compared:
        for number, cosine in zip(compared, cosines(*zip(*compared.values()))):
            if cosine < LEAST_COSINE:
                yield "not_of_moment", number, f"cosine {cosine:.2f} to its coarse caption: {compared[number][0]}"
    for caption, numbers in captions.items():
        if len(numbers) > 1:
            yield from (("duplicate_caption", row, caption) for row in numbers)
    yield "rows", number, ""


def _row_findings(row: dict, caption: str) -> Iterator[tuple[str, str]]:
    (start, end), duration = row["time"], row["duration"]
    span = f"[{start}, {end}] of {duration} s"
    if end < start or start < 0:
        yield "span_reversed", span
    if end == start:
        yield "span_empty", span
    if end > duration:
        yield "span_past_end", span
    if start >= duration:
        yield "start_past_end", span
    fine = "fig_desc" in row
    yield from caption_findings(caption, row["cog_desc"] if fine else "")
    if fine and row.get("fig_desc_type") != COARSE and same(caption) == same(row["cog_desc"]):
        yield "equals_coarse", caption
    if fine and row["fig_desc_score"] < 0:
        yield "low_score", str(row["fig_desc_score"])


def caption_findings(caption: str, coarse: str) -> Iterator[tuple[str, str]]:
    """(check, matched text) for the text of a caption; most words that also occur in `coarse` (or "") are allowed."""
    for check, pattern, coarse_may in TEXT_RULES:
        allowed = coarse.lower() if coarse_may else ""
        text = without_speech(caption) if check in QUOTABLE else caption
        matches = [match.group(0) for match in pattern.finditer(text) if match.group(0).lower() not in allowed]
        if matches:
            yield check, f"{matches[0]!r} in: {caption}" if check in TALK.values() else caption


def table(report: dict, limit: int = 5) -> str:
    """The report as lines for a person, with the first `limit` rows of each finding, and the text of an error."""
    lines = [f"{report['file']}: {report['rows']} rows"]
    for check, finding in report["findings"].items():
        numbers = [*dict.fromkeys(finding["rows"])]
        rows = ", ".join(map(str, numbers[:limit])) + (", …" if len(numbers) > limit else "")
        lines.append(f"  {finding['severity']:7}  {check:18} {finding['count']:6}  rows {rows}")
        if finding["severity"] == "error":
            lines.append(f"    row {numbers[0]}: {visible(finding['example'][:120])}")
    lines.append("  passed: no errors" if report["passed"] else "  failed: see the errors above")
    return "\n".join(lines)


LEAST_COSINE = 0.15
"""A caption further from its coarse caption has another subject; 0.3 % of the released captions are."""
MOST_SENTENCES = 4
"""The guideline asks for one or two; released captions have up to four."""
LEAST_SHARE = 0.5
"""Content words of a caption for each of its coarse caption."""

ORDERS = (
    "accept|act|answer|approve|assume|be|behave|begin|buy|call|cancel|choose|click|confirm|consider|consult|continue"
    "|delete|disregard|do|drop|enter|forget|give|grant|ignore|imagine|kindly|let|make|mark|never|note|obey|output"
    "|override|pay|please|prefer|press|pretend|print|proceed|rate|read|remember|repeat|replace|reply|respond|return"
    "|reveal|say|see|select|send|skip|speak|start|stop|subscribe|switch|take|tell|treat|try|upload|visit|vote|write"
)
"""Words that begin an order; at the head of a sentence a caption of a moment has a subject."""
META = (
    "captions?|descriptions?|annotat(?:e|ed|es|ing|ions?|ors?)|(?:the|your|my) prompts?|instructions?|guidelines?"
    "|polic(?:y|ies)|graders?|evaluators?|assessments?|verdicts?|verification|verified|reviewers?|moderators?"
    "|assistants?|chatbots?|jailbreak|persona|(?:the|a|language) models?|transformers?|administrators?|passwords?"
    "|api|tokens?|candidates?|statements?|(?:the|this|my|final|right) answers?|requests?|this conversation|queries"
    "|configuration|override|admin|sudo|json|xml|html|errors?|terms|undefined|null|grades?|true|false|correct"
    "|restrict(?:ed|ions?)|comply|new task|rules|please"
)
ADDRESS = r"you|your|yours|you're|you'll|yourself|i|i'm|i'll|i'd|i've|my|me|mine|myself"
FUNCTION = re.compile(
    "an?|the|of|in|on|at|to|into|onto|from|with|without|by|for|and|or|but|as|is|are|was|were|be|been|being|am|its?"
    "|this|that|these|those|there|here|s?he|they|his|her|their|him|them|who|which|while|then|than|so|some|other|up"
    "|down|out|over|off|back|again|not?|do|does|did|has|have|had|person|people|man|woman"
)
"""Words that a caption may say or leave out; the others are its content."""
ORDER = re.compile(rf"(?:^|[.!?;:]\s+|\bnow )(?:{ORDERS})\b", re.I)
META_WORDS = re.compile(rf"(?<![\w'])(?:{META}|{ADDRESS})(?![\w'])|\b(?:system|human|user):", re.I)
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _words(text: str) -> list[str]:
    """The words of `text` in lower case; in scripts without spaces, as `words_of` separates them."""
    return words_of(text.lower()) if NO_BLANKS.search(text) else WORD.findall(text.lower())


def doubts(caption: str, coarse: str) -> list[str]:
    """Formal reasons to doubt that a caption describes its moment, in words; empty for most captions."""
    caption = caption.strip().replace("’", "'")
    # Quoted text on a screen may have any content; quotation marks around the whole caption are a separate finding.
    text_outside_quotes = caption[1:-1] if QUOTED.fullmatch(caption) else QUOTED.sub(" ", caption)
    words, coarse_words = _words(text_outside_quotes), set(_words(coarse.replace("’", "'")))
    reasons = []
    if len(words) < 2:
        reasons.append("no sentence")
    elif len(set(words)) * 3 <= len(words):
        reasons.append("words repeated")
    content = [word for word in _words(caption) if not FUNCTION.fullmatch(word)]
    known_words = [word for word in coarse_words if not FUNCTION.fullmatch(word)]
    if len(content) < LEAST_SHARE * len(known_words):
        reasons.append(f"{len(content)} content words where the coarse caption has {len(known_words)}")
    if len(re.findall(r"[.!?]+(?=\s|$)", text_outside_quotes)) > MOST_SENTENCES:
        reasons.append(f"more than {MOST_SENTENCES} sentences")
    order = ORDER.search(text_outside_quotes)
    if order and WORD.findall(order.group(0).lower())[-1] not in coarse_words:
        reasons.append(f"an order: {order.group(0).strip(' .,;:!?')!r}")
    matches = [
        match.group(0)
        for match in META_WORDS.finditer(text_outside_quotes)
        if match.group(0).lower() not in coarse_words
    ]
    if matches:
        reasons.append(f"about something other than the moment: {matches[0]!r}")
    if re.search(r"https?:|www\.|[<>{}\[\]|\\`]|=\s*$|[a-z]{3}\(\S", caption):
        reasons.append("markup or code")
    letters = [letter for letter in caption if letter.isalpha()]
    if sum(letter.isascii() for letter in letters) * 2 < len(letters) and coarse.isascii():
        reasons.append("another script than the coarse caption")
    return reasons
