"""The lab: filters of moments, review pages, audit of queries, metrics and comparison of captions."""

from verified.extension import Extension
from verified_lab.config import Audit, Filters, Review, check


def _stages():
    from verified_lab.stage import AUDIT, PROPOSALS, QUALITY, REVIEW

    return PROPOSALS, QUALITY, REVIEW, AUDIT


def _tables():
    from verified_lab.tables import audit

    return (audit,)


def _commands():
    from verified_lab.cli import audit, captions

    return audit, captions


EXTENSION = Extension(
    name="lab",
    title="review, audit and compare captions",
    sections={"filters": Filters, "review": Review, "audit": Audit},
    check=check,
    stages=_stages,
    tables=_tables,
    commands=_commands,
)
