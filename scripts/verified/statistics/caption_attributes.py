"""The attributes that a caption states, under the names of `corpus/truth.jsonl`, one value each."""

from verified.demo.caption_facts import caption_facts as all_facts

ATTRIBUTES = ("colour", "shape", "size", "texture", "count", "motion", "direction", "speed")


def caption_facts(text: str) -> dict:
    """{attribute: value} of an English caption of the demo, leaving out what it does not state.

    ``background`` is the first that is named: where the caption tells of a cut, the one before it. A singular ("a
    ball") states the count 1, a bare plural states none.
    """
    stated = all_facts(text)
    facts = {name: stated[name] for name in ATTRIBUTES if name in stated}
    return facts | ({"background": stated["backgrounds"][0]} if "backgrounds" in stated else {})
