"""Whether a caption speaks of its moment: what a model that was talked out of its task writes in a caption's place.

A doubt is no proof: such captions are flagged for a person to look at, and none is dropped for it. Two things are
looked at. The form: one sentence or a few, none of them an order, nobody who writes or reads is spoken of, no words
about captions, answers and grades, and not much shorter than the coarse caption. And what it is about: the cosine of
the sentence vectors of both captions. Words that the coarse caption uses too are never held against a caption.
"""

import re

from verified.io.characters import NO_BLANKS, words_of

LEAST_COSINE = 0.15
"""A caption further from its coarse caption is about something else; 0.3 % of the released captions are."""
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
SPOKEN = re.compile(rf"(?<![\w'])(?:{META}|{ADDRESS})(?![\w'])|\b(?:system|human|user):", re.I)
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _words(text: str) -> list[str]:
    """The words of `text` in lower case; where blanks separate none, as `words_of` tells them apart."""
    return words_of(text.lower()) if NO_BLANKS.search(text) else WORD.findall(text.lower())


def doubts(caption: str, coarse: str) -> list[str]:
    """Formal reasons to doubt that a caption describes its moment, in words; empty for most captions."""
    caption = caption.strip().replace("’", "'")
    # What is read on the screen says anything; quotation marks around the whole are another finding of the lint.
    spoken = caption[1:-1] if QUOTED.fullmatch(caption) else QUOTED.sub(" ", caption)
    words, known = _words(spoken), set(_words(coarse.replace("’", "'")))
    found = []
    if len(words) < 2:
        found.append("no sentence")
    elif len(set(words)) * 3 <= len(words):
        found.append("words repeated")
    content = [word for word in _words(caption) if not FUNCTION.fullmatch(word)]
    asked = [word for word in known if not FUNCTION.fullmatch(word)]
    if len(content) < LEAST_SHARE * len(asked):
        found.append(f"{len(content)} content words where the coarse caption has {len(asked)}")
    if len(re.findall(r"[.!?]+(?=\s|$)", spoken)) > MOST_SENTENCES:
        found.append(f"more than {MOST_SENTENCES} sentences")
    order = ORDER.search(spoken)
    if order and WORD.findall(order.group(0).lower())[-1] not in known:
        found.append(f"an order: {order.group(0).strip(' .,;:!?')!r}")
    said = [match.group(0) for match in SPOKEN.finditer(spoken) if match.group(0).lower() not in known]
    if said:
        found.append(f"about something other than the moment: {said[0]!r}")
    if re.search(r"https?:|www\.|[<>{}\[\]|\\`]|=\s*$|[a-z]{3}\(\S", caption):
        found.append("markup or code")
    letters = [letter for letter in caption if letter.isalpha()]
    if sum(letter.isascii() for letter in letters) * 2 < len(letters) and coarse.isascii():
        found.append("another script than the coarse caption")
    return found
