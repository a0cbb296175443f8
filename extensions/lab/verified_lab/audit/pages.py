"""Findings of the audit for people: review pages with the findings of each moment."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from verified_lab.audit.findings import CHECKS, Finding
from verified_lab.review.pages import queue


def audit_queue(moments: Iterable[dict], groups: Mapping[int, list[dict]], findings: Iterable[Finding]) -> list[dict]:
    """The page items of each moment with findings, the most doubtful first.

    `moments` and `groups` as of `review.pages.queue`; findings on other queries, such as those that people drew, have
    no item. Each item has ``audit``, a text for each finding, and ``proposed``, a span in seconds or None.
    """
    moments = list(moments)
    numbers = {(moment["split"], str(moment["desc_id"])): moment["desc_id"] for moment in moments}
    found: dict[int, list[Finding]] = defaultdict(list)
    for one in findings:
        if (one.split, one.id) in numbers:
            found[numbers[one.split, one.id]].append(one)
    items = []
    for item in queue((moment for moment in moments if moment["desc_id"] in found), groups, "corpus"):
        own = found[item["desc_id"]]
        proposed = next((list(one.time) for one in own if one.time), None)
        texts = [f"{one.check}: {CHECKS[one.check]} ({one.detail})" for one in own]
        items.append({**item, "audit": texts, "proposed": proposed})
    return sorted(items, key=lambda item: -max(one.doubt for one in found[item["desc_id"]]))
