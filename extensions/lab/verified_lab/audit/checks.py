"""The checks, each from the queries to its findings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median

import numpy as np

from verified.benchmark.tiou import tiou
from verified.lmm.refusal import same
from verified_lab.audit.findings import CHECKS, Finding, open_findings
from verified_lab.audit.queries import Audited, Span, Vectors
from verified_lab.config import Audit


def audit(
    audited: list[Audited],
    settings: Audit,
    vectors: Vectors,
    answers: Mapping[str, Mapping[tuple[str, str], Span]],
    copies: Mapping[str, str],
) -> tuple[list[Finding], list[str]]:
    """All open findings, in the order of the queries and of `CHECKS`; and the checks that were possible.

    answers: of each grounder the span that it gives to queries, by their keys; copies: as of
    `corpus.copies.video_copies`.
    """
    findings = [
        *outside(audited, settings.tolerance),
        *alike(audited, vectors, settings.distance, settings.same_span),
        *disagreement(audited, answers, settings),
        *leaks(audited, copies),
    ]
    made = {"outside": any(query.duration is not None for query in audited)}
    made["disagreement"] = len(answers) >= settings.min_runs
    made["leak"] = len({query.split for query in audited}) > 1
    place = {query.key: number for number, query in enumerate(audited)}
    rank = {check: number for number, check in enumerate(CHECKS)}
    findings = sorted(
        open_findings(findings, audited), key=lambda finding: (place[finding.split, finding.id], rank[finding.check])
    )
    return findings, [check for check in CHECKS if made.get(check, True)]


def outside(audited: Iterable[Audited], tolerance: float) -> Iterator[Finding]:
    """Spans that begin before their video or end more than `tolerance` seconds after it, and empty spans."""
    for query in audited:
        for start, end in query.spans:
            duration = end if query.duration is None else query.duration
            within = max(0.0, start), min(end, duration)
            problems = [
                *(["begins before 0"] if start < 0 else []),
                *([f"ends {end - duration:.2f} s after the video"] if end - duration > tolerance else []),
                *(["has no length"] if end <= start else []),
            ]
            if problems:
                time = within if within[0] < within[1] else None
                yield Finding(query.split, query.id, "outside", ", ".join(problems), time=time)
                break


def alike(audited: Iterable[Audited], vectors: Vectors, distance: float, same_span: float) -> Iterator[Finding]:
    """Queries of a video with the same meaning: equal words, or a cosine distance of at most `distance`.

    Of two about one span (tIoU of at least `same_span`) the later is repeated; about two spans, both are ambiguous.
    """
    groups: dict[tuple[str, str], list[Audited]] = defaultdict(list)
    for query in audited:
        groups[query.split, query.video].append(query)
    several = [group for group in groups.values() if len(group) > 1]
    captions = list(dict.fromkeys(query.caption for group in several for query in group))
    if not captions:
        return
    matrix = vectors(captions)
    row_of = dict(zip(captions, matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)))
    for group in several:
        units = np.stack([row_of[query.caption] for query in group])
        words = [same(query.caption) for query in group]
        near = 1 - units @ units.T <= distance
        again: dict[int, int] = {}
        ambiguous: dict[int, int] = {}
        for later, query in enumerate(group):
            for earlier in range(later):
                if not near[later, earlier] and words[later] != words[earlier]:
                    continue
                if _overlap(query, group[earlier].spans[0]) >= same_span:
                    again.setdefault(later, earlier)
                else:
                    ambiguous.setdefault(later, earlier)
                    ambiguous.setdefault(earlier, later)
        for check, pairs in (("repeated", again), ("ambiguous", ambiguous)):
            for number, other in pairs.items():
                query, twin = group[number], group[other]
                start, end = twin.spans[0]
                detail = f"query {twin.id} at {start:.2f}–{end:.2f} s: {twin.caption}"
                yield Finding(query.split, query.id, check, detail)


def _overlap(query: Audited, span: Span) -> float:
    """The best tIoU of a span with those of a query."""
    return max(float(tiou(*own, *span)) for own in query.spans)


def disagreement(
    audited: Iterable[Audited], answers: Mapping[str, Mapping[tuple[str, str], Span]], settings: Audit
) -> Iterator[Finding]:
    """Queries whose span differs from the consensus of grounders.

    Their consensus is the answer that the others overlap most. They agree if at least `agreed_share` of them have a
    tIoU of at least `agreed_tiou` with it; it is another span if its tIoU with the annotated one is below `most_tiou`.
    The span proposed has the medians of the starts and of the ends of those who agree.
    """
    for query in audited:
        predictions = [spans[query.key] for spans in answers.values() if query.key in spans]
        if len(predictions) < settings.min_runs:
            continue
        spans = np.array(predictions)
        mutual = tiou(spans[:, None, 0], spans[:, None, 1], spans[None, :, 0], spans[None, :, 1])
        centre = int(mutual.mean(axis=1).argmax())
        agreeing = mutual[centre] >= settings.agreed_tiou
        overlap = _overlap(query, predictions[centre])
        share = float(agreeing.mean())
        if share < settings.agreed_share or overlap >= settings.most_tiou:
            continue
        start, end = (round(median(side), 3) for side in spans[agreeing].T.tolist())
        detail = f"{int(agreeing.sum())} of {len(predictions)} grounders: {start:.2f}–{end:.2f} s, tIoU {overlap:.2f}"
        yield Finding(query.split, query.id, "disagreement", detail, round(share * (1 - overlap), 4), (start, end))


def leaks(audited: list[Audited], copies: Mapping[str, str]) -> Iterator[Finding]:
    """Queries whose video, or a copy of it, has queries in an earlier split (the order is that of the queries).

    copies: for each copied video, the original.
    """
    splits = list(dict.fromkeys(query.split for query in audited))
    first: dict[str, tuple[int, str]] = {}
    for query in audited:
        original = copies.get(query.video, query.video)
        position = splits.index(query.split), query.video
        first[original] = min(first.get(original, position), position)
    for query in audited:
        place, name = first[copies.get(query.video, query.video)]
        if place < splits.index(query.split):
            by = "" if name == query.video else f", as {name}"
            yield Finding(query.split, query.id, "leak", f"video {query.video} is in {splits[place]} too{by}")
