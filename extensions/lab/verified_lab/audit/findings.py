"""Findings of the audit, one for each query and check, and the clean rest."""

import dataclasses
from collections import Counter
from collections.abc import Iterable

from verified_lab.audit.queries import Audited, Span

CHECKS = {
    "outside": "begins or ends outside the video, or has no length",
    "repeated": "says what another query of the video says, about the same span",
    "ambiguous": "says what another query of the video says, about another span",
    "disagreement": "grounders agree on another span",
    "leak": "its video is, by another name or the same, in an earlier split too",
}
"""Names of the checks, and the finding of each in words."""
JUDGED = ("ambiguous", "disagreement")
"""Checks that a person who confirmed or corrected the query overrides; the others are facts."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One check that a query does not pass."""

    split: str
    id: str
    check: str
    """One of `CHECKS`."""
    detail: str
    """For people: the other query or value, and the size of the difference."""
    doubt: float = 1.0
    """From 0 to 1: the higher, the sooner somebody should look."""
    time: Span | None = None
    """The span that would pass, where the check knows one."""


def open_findings(findings: Iterable[Finding], audited: Iterable[Audited]) -> list[Finding]:
    """The findings without those settled by people (see `JUDGED`)."""
    reviewed = {query.key for query in audited if query.reviewed}
    return [
        finding for finding in findings if finding.check not in JUDGED or (finding.split, finding.id) not in reviewed
    ]


def summarise(audited: list[Audited], findings: list[Finding], runs: list[str], checked: list[str]) -> dict:
    """Numbers of queries, findings by check and clean queries, for each split and for all together.

    runs: names of the grounders; checked: the possible checks. Other checks have no number.
    """
    splits = list(dict.fromkeys(query.split for query in audited))
    return {
        "runs": runs,
        "splits": {
            split: _counts([q for q in audited if q.split == split], [f for f in findings if f.split == split], checked)
            for split in splits
        },
        "all": _counts(audited, findings, checked),
    }


def _counts(audited: list[Audited], findings: list[Finding], checked: list[str]) -> dict:
    counts = Counter(check for check, _, _ in {(finding.check, finding.split, finding.id) for finding in findings})
    flagged = {(finding.split, finding.id) for finding in findings}
    return {
        "queries": len(audited),
        "checks": {check: counts[check] if check in checked else None for check in CHECKS},
        "clean": sum(query.key not in flagged for query in audited),
    }
