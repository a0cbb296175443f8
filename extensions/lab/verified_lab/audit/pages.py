"""Pages for people to confirm or correct findings of the audit: review pages with the findings beside each moment."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from verified.people.review.decisions import GIVEN
from verified_lab.audit.findings import CHECKS, Finding
from verified_lab.review.pages import queue


def audit_queue(
    moments: Iterable[dict],
    groups: Mapping[int, list[dict]],
    found: Mapping[int, list[Finding]],
    durations: Mapping[str, float] | None = None,
) -> list[dict]:
    """The page items of each moment with findings, the most doubtful first.

    `moments` and `groups` as of `people.review.pages.queue`, `found` by number of the moment; durations: of videos,
    in seconds, where moments do not say them. Each item has ``audit``, a text for each finding, and ``proposed``, a
    span in seconds or None.
    """
    known = durations or {}
    moments = [
        {**moment, "duration": known.get(moment["video"], moment["duration"])}
        for moment in moments
        if moment["desc_id"] in found
    ]
    items = []
    for item in queue(moments, groups, "corpus"):
        findings = found[item["desc_id"]]
        proposed = next((list(one.time) for one in findings if one.time), None)
        candidates = [{**row, "score": None} if row["type"] == GIVEN else row for row in item["candidates"]]
        told = [f"{one.check}: {CHECKS.get(one.check, '')} ({one.detail})" for one in findings]
        items.append({**item, "candidates": candidates, "audit": told, "proposed": proposed})
    return sorted(items, key=lambda item: -max(one.doubt for one in found[item["desc_id"]]))


def by_number(findings: Iterable[Finding], numbers: Mapping[tuple[str, str], int]) -> dict[int, list[Finding]]:
    """Findings by the number of their moment; `numbers` by split and id."""
    found = defaultdict(list)
    for one in findings:
        found[numbers[one.split, one.id]].append(one)
    return dict(found)
