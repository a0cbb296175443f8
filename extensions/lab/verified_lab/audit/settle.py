"""Apply people's decisions, made on review pages, to audited queries of files."""

import dataclasses
import math
from collections.abc import Iterable

from verified.people.review.adjudicate import RETIMED, adjudicate
from verified.people.review.decisions import GIVEN
from verified_lab.audit.findings import Finding
from verified_lab.audit.queries import Audited

REJECTED = "rejected"
"""Name of the check that people made."""


def as_moments(audited: Iterable[Audited]) -> tuple[list[dict], dict[int, list[dict]]]:
    """The queries as moments, numbered from 1 in their order, and the caption of each as its one candidate.

    Review pages and `adjudicate` use them; a video of unknown length never ends.
    """
    moments, groups = [], {}
    for number, query in enumerate(audited, start=1):
        start, end = query.spans[0]
        duration = math.inf if query.duration is None else query.duration
        where = {"video": query.video, "start": start, "end": end, "duration": duration}
        moments.append({"desc_id": number, **where, "split": query.split, "caption": query.caption})
        groups[number] = [{"type": GIVEN, "candidate": 0, "caption": query.caption, "score": 0.0, "choice": 0.0}]
    return moments, groups


def settle(audited: list[Audited], decisions: list[dict]) -> tuple[list[Audited], list[Finding], dict]:
    """The queries as people left them, a finding for each that they did not keep, and what `adjudicate` makes of all.

    Kept ones are marked as reviewed; corrected times and edited captions take the place of the old ones. A query that
    was split or merged is not kept: an audit makes no new ones.
    """
    found = adjudicate(decisions, *as_moments(audited))
    settled, findings = [], []
    for number, query in enumerate(audited, start=1):
        outcome = found["outcomes"].get(number)
        if outcome is None:
            settled.append(query)
            continue
        if outcome["caption"] is None and outcome["decision"] != RETIMED:
            detail = f"{outcome['decision']}: {outcome.get('reason', '')}".removesuffix(": ")
            findings.append(Finding(query.split, query.id, REJECTED, detail))
        spans = (tuple(outcome["time"]),) if "time" in outcome else query.spans
        caption = outcome["caption"] or query.caption
        settled.append(dataclasses.replace(query, spans=spans, caption=caption, reviewed=True))
    return settled, findings, found
