"""The demo's engine in retrieval: when a video shows a caption, and how well a clip fits it, from frames alone."""

import json

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.events import WEIGHTS, Seen, likeness, watch_request
from verified.lmm.request import Reply, Request

MOST_MOMENTS = 3
LEAST = 5.0
"""Confidence from which a moment is listed."""


def reply(request: Request) -> Reply:
    """The answer to a task of retrieval."""
    if request.frames is None or len(request.frames) < 2:
        return Reply("", "error", "media", "needs the frames of a video")
    facts = caption_facts(request.slots["caption"])
    events = watch_request(request)
    graded = sorted(((fit(facts, event), event) for event in events), key=lambda pair: -pair[0])
    if request.task == "retrieval/grade":
        return Reply(json.dumps({"grade": round(graded[0][0]) if graded else 0}))
    listed = [
        {"start": round(event.start, 1), "end": round(event.end, 1), "confidence": round(confidence, 1)}
        for confidence, event in graded[:MOST_MOMENTS]
        if confidence >= LEAST
    ]
    return Reply(json.dumps({"moments": listed}))


def fit(facts: dict, event: Seen) -> float:
    """0 to 10: the share, by weight, of a caption's facts that the event shows; 0 for a caption without facts."""
    whole = sum(weight for name, weight in WEIGHTS.items() if name in facts)
    return 5 * (1 + likeness(facts, event) / whole) if whole else 0.0
