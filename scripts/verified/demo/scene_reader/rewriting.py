"""Coarse captions in other words (supplement, listing 7), and with static (8) or dynamic (9) content made false."""

import random

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.corruption import false_fact, stated
from verified.demo.scene_reader.wording import ALL, in_manner_of, is_plural, noun_phrase, sentence
from verified.lmm.request import Reply, Request

TRIES = 60


def positives(request: Request, rng: random.Random) -> Reply:
    """The same meaning in other words."""

    def write(facts: dict, definite: bool) -> str:
        text = sentence(facts, rng, definite=definite)
        subject = noun_phrase(facts, random.Random(0))
        if rng.random() < 0.2 and text.startswith(subject) and not definite:
            return f"there {'are' if is_plural(facts) else 'is'} {subject} that{text.removeprefix(subject)}"
        return text

    return _rewrite(request, rng, write)


def static_negatives(request: Request, rng: random.Random) -> Reply:
    """One static attribute changed; if the caption states none, another object, or an added colour or background.

    An added attribute may be true by chance (the caption alone cannot show it), so it is the rarer choice.
    """

    def write(facts: dict, definite: bool) -> str:
        options = {name: 4 for name in stated(facts, "static") if name not in ("shape", "count")}
        options |= {"shape": 3} | ({"count": 1} if facts.get("count", 1) > 1 else {})
        options |= {f"add {name}": 1 for name in ("colour", "background") if name not in options}
        name = rng.choices(list(options), list(options.values()))[0]
        if name == "add colour":
            false = facts | {"colour": rng.choice(ALL["colour"])}
        elif name == "add background":
            false = facts | {"backgrounds": [rng.choice(ALL["background"])]}
        else:
            false, _ = false_fact(facts, name, rng)
        return sentence(false, rng, plain=rng.random() < 0.6, definite=definite)

    return _rewrite(request, rng, write)


def dynamic_negatives(request: Request, rng: random.Random) -> Reply:
    """Motion, direction or speed changed, where the caption states them."""

    def write(facts: dict, definite: bool) -> str:
        options = {name: {"direction": 4, "speed": 3, "motion": 3}[name] for name in stated(facts, "dynamic")}
        false, _ = false_fact(facts, rng.choices(list(options), list(options.values()))[0], rng)
        return sentence(false, rng, plain=rng.random() < 0.6, definite=definite)

    return _rewrite(request, rng, write)


def _rewrite(request: Request, rng: random.Random, write) -> Reply:
    """Numbered rewritings, all different from one another and from the caption."""
    caption, count = request.slots["caption"], int(request.slots["count"])
    facts = caption_facts(caption)
    if not {"shape", "motion"} <= set(facts):
        return Reply("", "error", "unknown-caption", "the caption names no object and motion of the demo world")
    definite = caption.lower().startswith("the ")
    texts: list[str] = []
    for _ in range(TRIES):
        text = in_manner_of(write(facts, definite and rng.random() < 0.7), caption)
        if text not in texts and text.lower() != caption.lower():
            texts.append(text)
        if len(texts) == count:
            break
    return Reply("\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1)))
