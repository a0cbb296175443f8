"""Refuse captions that must not enter the benchmark, with a reason.

A candidate is refused when it speaks of the original caption, of frames, of explicit time (it would give the moment
away, supplement listing 6) or of the prompt, when it says that there is nothing to say or thinks aloud, when it repeats
the coarse caption or an earlier candidate, and when it is empty or a single word, too long or holds markup, a URL or
instructions to a reader or model. What somebody in the video says, between quotes, is none of these.
"""

import re

from verified.io.characters import count_words, words_of
from verified.lmm.non_answers import NO_ANSWER, SENTENCE
from verified.lmm.thoughts import THOUGHT

MAX_WORDS = 80
"""Longest caption in words; the longest of the released fine-grained captions stay below it."""
MAX_CHARACTERS = 600
"""Longest caption in characters."""

NUMBER = (
    r"(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|several|few)"
)
UNIT = r"(?:seconds?|secs?|minutes?|mins?|milliseconds?)"

WRITE = (
    r"(?:write|describe|rewrite|rephrase|generate|create|produce|pick|keep|make sure|come up|avoid|think|include"
    r"|mention|provide|output|answer|respond|ensure|focus|start|use|give)"
)
PLANS = r"(?:(?:so|now|first|okay|ok|wait),? )?"
THINKS_ALOUD = (
    rf"(?:<\|?|&lt;|◁)\s*(?:/|\w{{1,5}}_of_|start_|end_)?\s*(?:\w{{1,16}}[:_])?(?:{THOUGHT})"
    r"(?:\s[^<>]*)?(?:\|?>|&gt;|▷)",
    rf"(?:^\s*[\[【]|[\[【]/)\s*(?:{THOUGHT})\s*[\]】]",
    r"<\|?channel\|?>",
    r"\bthe user(?:'s|’s)? (?:\w+ )?(?:wants?|ask(?:s|ed|ing)?|said|says|provided|needs?|gave|request|query|prompt)\b",
    rf"{SENTENCE}(?:okay|ok|alright|hmm+|wait)[,.] (?:so|let|i|the|we|now|first|this)\b",
    rf"{SENTENCE}{PLANS}let(?:'s|’s| me| us) (?:think|see|{WRITE}|break|analy[sz]e|consider|draft|check)\b",
    rf"{SENTENCE}{PLANS}(?:i|we) (?:need to|have to|should|must|want to|will|could|can) {WRITE}\b",
)

FORBIDDEN: dict[str, tuple[str, ...]] = {
    "thought": THINKS_ALOUD,
    "no-answer": NO_ANSWER,
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


QUOTED = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|「[^」]*」|『[^』]*』"
    r"|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)|(?<!\w)‘(?:[^’]|(?<=\w)’(?=\w))*’(?!\w)"
)
SAYS = re.compile(r"\b(?:says|said|shouts|yells|replies|asks|answers|whispers|tells|exclaims|sings)\b", re.I)
SAID_BY = re.compile(rf"[^.!?]*,\s(?:\w+\s){{1,3}}{SAYS.pattern}", re.I)
MAY_BE_SAID = ("thought", "no-answer", "instructions")
"""Reasons that do not hold for what somebody in the video says."""


def without_speech(text: str) -> str:
    """`text` without what is between quotes, unless that is all of it, and without "…, the man says"."""
    rest = QUOTED.sub('""', text)
    if not SAYS.search(rest):
        return rest if rest == text or count_words(rest) else text
    return SAID_BY.sub("", rest if count_words(rest) else text)


def refusal(candidate: str, coarse: str, earlier: tuple[str, ...] | list[str] = ()) -> str | None:
    """The reason why `candidate` must not be used, or None; `earlier` are the candidates already accepted."""
    if len(candidate) > MAX_CHARACTERS or len(candidate.split()) > MAX_WORDS:
        return "too-long"
    if count_words(candidate) < max(1, min(2, len(coarse.split())), min(2, count_words(coarse))):
        return "empty"
    told = without_speech(candidate)
    for reason in FORBIDDEN:
        if COMPILED[reason].search(told if reason in MAY_BE_SAID else candidate):
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
    return " ".join(words_of(text.lower()))
