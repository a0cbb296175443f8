"""Assignment of pairs of events to kinds of questions.

The supplement prints the scores that a model gives but not which of them send a pair to which kind; the thresholds are
settings. A pair whose events are too similar is dropped; one whose first event directly and necessarily leads to the
second is a cause with its effect, or, if it is done on purpose, a means to an end; any other pair is a sequence.
"""

import dataclasses

from verified.config.rextime import Rextime, Routing
from verified.lmm.tasks.rextime import SCORES, span_of

Span = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two events of an item in the order of time, with their spans (s; None where unknown), and their kind."""

    item: dict
    kind: str
    events: tuple[str, str]
    spans: tuple[Span | None, Span | None]
    lineage: dict[str, str]
    side: str = ""
    """Side of the query that the other event is on, for pairs around a query."""

    @property
    def name(self) -> str:
        """Prefix of the ids of its questions: independent of other items."""
        return "/".join(word for word in (self.item["item"], self.kind, self.side) if word)

    def captions(self) -> list[dict]:
        """Captions that the listing for sequences is shown: the item's own, or the two events in their order."""
        if self.item["form"] == "captions":
            return self.item["events"]
        known, (start, end) = next((number, span) for number, span in enumerate(self.spans) if span is not None)
        spans = [(0.0, start), (end, self.item["duration"])]
        spans[known] = (start, end)
        return [
            {"start": span[0], "end": span[1], "caption": event}
            for event, span in zip(self.events, (spans[0], spans[1]))
        ]

    def problem_of(self, spans: tuple[Span, Span]) -> str | None:
        """Problem of two spans that a model named; None if there is none."""
        return spans_problem(spans, self.item["duration"])


def spans_problem(spans: tuple[Span, Span], duration: float) -> str | None:
    """`span-outside` the video (`duration` in seconds), `span-without-length`, `same-span`, `not-in-order`."""
    if any(start < 0 or end > duration + 1 for start, end in spans):
        return "span-outside"
    if any(end <= start for start, end in spans):
        return "span-without-length"
    if spans[0] == spans[1]:
        return "same-span"
    return "not-in-order" if spans[0][0] > spans[1][0] else None


def route(scores: dict[str, int], rules: Routing) -> str:
    """Kind of a pair with these scores (0 to 3), or the reason `similar` for which it is dropped."""
    if scores["similarity"] >= rules.similar_from:
        return "similar"
    if min(scores["directness"], scores["necessity"]) < rules.causal_from:
        return "sequential"
    purposeful = max(scores["intentionality"], scores["purpose"]) >= rules.purposeful_from
    return "means_to_an_end" if purposeful else "cause_effect"


def pair_of(item: dict, sections: dict[str, str], key: str, rules: Routing) -> Pair | str:
    """The pair that a model chose from captions, or why it is dropped."""
    spans = span_of(sections["event1_span"]), span_of(sections["event2_span"])
    problem = spans_problem(spans, item["duration"])
    if problem is not None:
        return f"event-pair-{problem}"
    kind = route({name: int(sections[name]) for name in SCORES}, rules)
    if kind == "similar":
        return "event-pair-similar"
    return Pair(item, kind, (sections["event1"], sections["event2"]), spans, {"event_pair": key})


def accepted_sides(item: dict, sections: dict[str, str], key: str, settings: Rextime) -> list[Pair] | str:
    """The pairs around a query whose other event is relevant and well aligned, or why there is none."""
    if "none" in sections:
        return "related-event-none"
    window = tuple(item["window"])
    pairs = []
    for side in ("cause", "effect"):
        aligned = sections[f"{side}_alignment"] in settings.routing.alignments
        if sections[f"{side}_relevant"] != "yes" or not aligned:
            continue
        events = (sections[side], item["query"]) if side == "cause" else (item["query"], sections[side])
        spans = (None, window) if side == "cause" else (window, None)
        pairs.append(Pair(item, settings.routing.query_kind, events, spans, {"related_event": key}, side))
    if pairs:
        return pairs
    relevant = [side for side in ("cause", "effect") if sections[f"{side}_relevant"] == "yes"]
    return "related-event-not-aligned" if relevant else "related-event-not-relevant"
