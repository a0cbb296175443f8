"""Findings of the audit for people: review pages with the findings of each moment, the queries after review, and the
clean part of a file with corrections.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from verified.io.jsonl import check_writable
from verified.people.review.adjudicate import RETIMED, adjudicate
from verified.people.review.decisions import GIVEN
from verified_lab.audit.findings import CHECKS, Finding
from verified_lab.audit.queries import Audited, rows_of_file
from verified_lab.review.pages import queue

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
        common = {"video": query.video, "start": start, "end": end, "duration": duration}
        moments.append({"desc_id": number, **common, "split": query.split, "caption": query.caption})
        groups[number] = [{"type": GIVEN, "candidate": 0, "caption": query.caption, "score": 0.0, "choice": 0.0}]
    return moments, groups


def settle(audited: list[Audited], decisions: list[dict]) -> tuple[list[Audited], list[Finding], dict]:
    """The queries after review, a finding for each removed one, and the result of `adjudicate`.

    Confirmed ones are marked as reviewed; corrected times and edited captions replace the old ones. A split or merged
    query is removed: an audit makes no new ones.
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


CAPTIONS = ("fig_desc", "desc", "query", "cog_desc")
"""Keys of a row that hold its caption: the first that there is."""


def clean_rows(
    path: Path, before: Iterable[Audited], after: Iterable[Audited], findings: Iterable[Finding]
) -> Iterator[dict]:
    """Rows of a file whose queries, `before` and `after` people's decisions, have no finding; ids are unchanged.

    Files that are no JSON Lines become rows of FIG's form, which `verified evaluate` reads by the same ids. Raises
    InputError at a row that cannot be written.
    """
    flagged = {(one.split, one.id) for one in findings}
    changed = {new.id: (old, new) for old, new in zip(before, after) if new.split == path.stem}
    for number, (name, row) in enumerate(rows_of_file(path), start=1):
        if (path.stem, name) not in flagged:
            check_writable(row, path, number)
            yield _corrected(row, *changed[name])


def _corrected(row: Mapping, old: Audited, new: Audited) -> dict:
    out = dict(row)
    if new.spans != old.spans:
        start, end = new.spans[0]
        out.pop("annotator_times", None)
        key = next(name for name in ("relevant_windows", "ts", "time") if name in out)
        out[key] = [[start, end]] if key == "relevant_windows" else [start, end]
    if new.caption != old.caption:
        out[next(name for name in CAPTIONS if out.get(name))] = new.caption
    return out


def audit_queue(
    moments: Iterable[dict],
    groups: Mapping[int, list[dict]],
    found: Mapping[int, list[Finding]],
    durations: Mapping[str, float] | None = None,
) -> list[dict]:
    """The page items of each moment with findings, the most doubtful first.

    `moments` and `groups` as of `people.review.pages.queue`, `found` by number of the moment; durations: of videos, in
    seconds, if moments lack them. Each item has ``audit``, a text for each finding, and ``proposed``, a span in seconds
    or None.
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
        texts = [f"{one.check}: {CHECKS.get(one.check, '')} ({one.detail})" for one in findings]
        items.append({**item, "candidates": candidates, "audit": texts, "proposed": proposed})
    return sorted(items, key=lambda item: -max(one.doubt for one in found[item["desc_id"]]))


def by_number(findings: Iterable[Finding], numbers: Mapping[tuple[str, str], int]) -> dict[int, list[Finding]]:
    """Findings by the number of their moment; `numbers` by split and id."""
    found = defaultdict(list)
    for one in findings:
        found[numbers[one.split, one.id]].append(one)
    return dict(found)
