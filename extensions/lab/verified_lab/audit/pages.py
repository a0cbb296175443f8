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
    findings_of: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if (finding.split, finding.id) in numbers:
            findings_of[numbers[finding.split, finding.id]].append(finding)
    items = []
    for item in queue((moment for moment in moments if moment["desc_id"] in findings_of), groups, "corpus"):
        own = findings_of[item["desc_id"]]
        proposed = next((list(finding.time) for finding in own if finding.time), None)
        texts = [f"{finding.check}: {CHECKS[finding.check]} ({finding.detail})" for finding in own]
        items.append({**item, "audit": texts, "proposed": proposed})
    return sorted(items, key=lambda item: -max(finding.doubt for finding in findings_of[item["desc_id"]]))
