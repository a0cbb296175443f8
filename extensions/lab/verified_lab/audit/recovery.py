"""Measure the audit's recall and precision on spans corrupted for this purpose."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from verified.runtime.seeds import derive_seed
from verified.statistics.validity import ratio_row
from verified_lab.audit.checks import disagreement, outside
from verified_lab.audit.queries import Audited, Span
from verified_lab.audit.span_corruption import KINDS, corrupt_spans
from verified_lab.config import Audit

SHARE = 0.1
DRAWS = 10


def recover(
    audited: list[Audited], settings: Audit, answers: Mapping[str, Mapping[tuple[str, str], Span]], seed: int
) -> dict:
    """Recall of the false spans, of all and by kind, and precision, with intervals over videos.

    A tenth of the spans is made false, in ten draws; the others are assumed to be right. Only checks of spans count.
    Rows as of `statistics.validity.row`.
    """
    spans = {query.id: (*query.spans[0], query.duration or query.spans[0][1]) for query in audited}
    recall: dict[str, dict[str, list[int]]] = {name: {} for name in ("all", *KINDS)}
    precision: dict[str, list[int]] = {}
    for draw in range(DRAWS):
        false = corrupt_spans(spans, SHARE, derive_seed(seed, "audit", draw))
        changed = [
            dataclasses.replace(query, spans=(false[query.id][1],)) if query.id in false else query for query in audited
        ]
        found = {one.id for one in (*outside(changed, settings.tolerance), *disagreement(changed, answers, settings))}
        for query in audited:
            if query.id in false:
                for name in ("all", false[query.id][0]):
                    _count(recall[name], query.video, query.id in found)
            if query.id in found:
                _count(precision, query.video, query.id in false)
    rows = [
        ratio_row(f"false spans found: {name}", np.array(list(counts.values())), "spans")
        for name, counts in recall.items()
    ]
    rows.append(ratio_row("found spans that are false", np.array(list(precision.values())), "spans"))
    return {"share": SHARE, "draws": DRAWS, "seed": seed, "runs": list(answers), "rows": rows}


def _count(counts: dict[str, list[int]], video: str, hit: bool) -> None:
    tally = counts.setdefault(video, [0, 0])
    tally[0] += hit
    tally[1] += 1
