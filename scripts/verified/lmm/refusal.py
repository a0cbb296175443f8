"""Captions that must not enter the benchmark, and why.

A candidate is refused when it speaks of the original caption, of frames, of explicit time (it would give the moment
away, supplement listing 6) or of the prompt, when it repeats the coarse caption or an earlier candidate, and when it is
empty or a single word, too long or holds markup, a URL or instructions to a reader or model.
"""

import re

MAX_WORDS = 80
"""Longest caption in words; the longest of the released fine-grained captions stay below it."""
MAX_CHARACTERS = 600
"""Longest caption in characters."""

NUMBER = (
    r"(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|several|few)"
)
UNIT = r"(?:seconds?|secs?|minutes?|mins?|milliseconds?)"

FORBIDDEN: dict[str, tuple[str, ...]] = {
    "url": (r"https?://", r"\bwww\.\w"),
    "markup": (
        r"</?[a-z!][^<>]*>",
        r"<\|[^|]*\|>",
        r"```",
        r"\*\*",
        r"^\s*#{1,6}\s",
        r"\[/?INST\]",
        r"\]\(",
        r"[{}]",
        r"\\[a-z]+\b",
        r"&(?:[a-z]+|#\d+);",
        r"\$[^$]+\$",
    ),
    "instructions": (
        r"\b(?:ignore|disregard|forget) (?:all|any|the|your|previous|above|every(?:thing|body)?)\b",
        r"\bas an ai\b",
        r"\blanguage model\b",
        r"\bi (?:can(?:'|’)?t|cannot|am unable|am sorry|apologi[sz]e)\b",
        r"\b(?:i'm|i’m) (?:sorry|unable|not able)\b",
        r"\bplease (?:provide|note|let me|rewrite|answer|choose|describe)\b",
        r"\byou (?:should|must|need to|are required to) (?:answer|rewrite|write|give|provide|describe|output)\b",
        r"\bsystem prompt\b",
        r"\bfrom (?:now|here) on,? you\b",
        r"\btell (?:the|your|any) (?:grader|judge|evaluator|reviewer|reader|user|model)s?\b",
        r"\b(?:user|assistant|system)\s*:",
    ),
}
"""Never acceptable."""

SPEAKS_OF: dict[str, tuple[str, ...]] = {
    "original-caption": (
        r"\b(?:original|coarse|plain|given|previous|rough) (?:caption|description|sentence|query|text)\b",
        r"\b(?:enriched|rewritten|new|enhanced) (?:caption|sentence|description)\b",
        r"\bthe (?:caption|description|sentence)\b",
    ),
    "frames": (
        r"\bkey ?-?frames?\b",
        r"\b(?:first|second|third|fourth|fifth|last|final|next|previous|each|every|all) frames?\b",
        r"\bframes? (?:\d+|number|one|two|three|show|shows|depicts?|captures?)\b",
        r"\bthe frames\b",
        r"\b(?:this|the) (?:image|screenshot|still)\b",
    ),
    "time": (
        rf"\b{NUMBER}[ -]{UNIT}\b",
        r"\b\d*[1-9]s\b",
        r"\b\d+\.\d+s\b",
        r"\b(?:at|after|from|until|for) \d+0s\b",
        r"\b\d{1,2}:\d\d\b",
        r"\b(?:start|end)ing at \d",
        r"\btimestamps?\b",
        rf"\b{UNIT} \d+\b",
        r"\bseconds (?:later|long|in|into|of|mark)\b",
        rf"\bfirst {UNIT}\b",
        r"\b\d+(?:st|nd|rd|th) (?:second|minute)\b",
    ),
    "prompt": (
        r"\b(?:the|this|your|my) prompts?\b",
        r"\bas (?:requested|instructed|asked)\b",
        r"\bthe (?:questions?|answers?|notes|expert|instructions?) (?:above|given|provided|says?|states?|mentions?)\b",
        r"\banswer\s*:",
        r"\bcandidates? (?:caption|\d|answer)",
        r"\bjson\b",
        r"\bhere (?:is|are) (?:the|a|some|three|my|\d)\b",
        r"\bbased on the (?:given|provided|descriptions?|information|notes|questions?|details)\b",
        r"\bnot (?:specified|mentioned|provided)\b",
    ),
}
"""Acceptable where the coarse caption itself uses the same words ("the last frame of the bowling game")."""

REASONS = ("empty", "too-long", *FORBIDDEN, *SPEAKS_OF, "equals-coarse", "duplicate")
COMPILED = {reason: re.compile("|".join(parts), re.I) for reason, parts in {**FORBIDDEN, **SPEAKS_OF}.items()}


def refusal(candidate: str, coarse: str, earlier: tuple[str, ...] | list[str] = ()) -> str | None:
    """The reason why `candidate` must not be used, or None; `earlier` are the candidates already accepted."""
    if len(candidate) > MAX_CHARACTERS or len(candidate.split()) > MAX_WORDS:
        return "too-long"
    if len(re.findall(r"[^\W\d_]+", candidate.replace("/", ""))) < max(1, min(2, len(coarse.split()))):
        return "empty"
    for reason in FORBIDDEN:
        if COMPILED[reason].search(candidate):
            return reason
    known = coarse.lower()
    for reason in SPEAKS_OF:
        if any(match.group(0).lower() not in known for match in COMPILED[reason].finditer(candidate)):
            return reason
    if same(candidate) == same(coarse):
        return "equals-coarse"
    if same(candidate) in {same(other) for other in earlier}:
        return "duplicate"
    return None


def same(text: str) -> str:
    """`text` without case, punctuation and spacing, for comparisons."""
    return " ".join(re.findall(r"\w+", text.lower()))
