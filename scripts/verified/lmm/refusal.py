"""Refuse captions that must not enter the benchmark, with a reason.

A candidate is refused when it mentions the original caption, frames, explicit time (it would give the moment away,
supplement listing 6) or the prompt, declines to answer or thinks aloud, or repeats the coarse caption or an earlier
candidate. It is also refused when it is empty, a single word or too long, or contains markup, a URL, an address, an
account, a telephone number or instructions to a reader or model. Quoted speech of somebody in the video is exempt.
"""

from verified.io.characters import count_words, words_of
from verified.lmm.patterns import compiled, sections

MAX_WORDS = 80
"""Longest caption in words; the longest of the released fine-grained captions stay below it."""
MAX_CHARACTERS = 600
"""Longest caption in characters."""
MAY_BE_SAID = ("thought", "no-answer", "instructions")
"""Reasons that do not apply to quoted speech of somebody in the video."""


def without_speech(text: str) -> str:
    """`text` without its quoted parts, unless it is one quote, and without "…, the man says"."""
    remainder = compiled("speech", "quoted").sub('""', text)
    if not compiled("speech", "says").search(remainder):
        return remainder if remainder == text or count_words(remainder) else text
    return compiled("speech", "said-by").sub("", remainder if count_words(remainder) else text)


def refusal(candidate: str, coarse: str, earlier: tuple[str, ...] | list[str] = ()) -> str | None:
    """The reason why `candidate` must not be used, or None; `earlier` are the candidates already accepted."""
    if len(candidate) > MAX_CHARACTERS or len(candidate.split()) > MAX_WORDS:
        return "too-long"
    if count_words(candidate) < max(1, min(2, len(coarse.split())), min(2, count_words(coarse))):
        return "empty"
    narration = without_speech(candidate)
    for reason in sections()["forbidden"]:
        if compiled("forbidden", reason).search(narration if reason in MAY_BE_SAID else candidate):
            return reason
    lowered = coarse.lower()
    for reason in sections()["speaks-of"]:
        if any(match[0].lower() not in lowered for match in compiled("speaks-of", reason).finditer(candidate)):
            return reason
    if same(candidate) == same(coarse):
        return "equals-coarse"
    if same(candidate) in {same(other) for other in earlier}:
        return "duplicate"
    return None


def same(text: str) -> str:
    """`text` without case, punctuation and spacing, for comparisons."""
    return " ".join(words_of(text.lower()))
