"""The lab: review pages, audit of queries, metrics of captions against people, comparison of captions of two runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verified.extension import Extension
from verified_lab.config import Audit, MetaEvaluation, Review

if TYPE_CHECKING:
    from verified.cli.forms import AnswerPages
    from verified.stage import Stage


def _stages() -> "Sequence[Stage]":
    from verified_lab.stage import STAGE

    return (STAGE,)


def _pages() -> "Sequence[AnswerPages]":
    from verified_lab.preference_answers import PREFERENCE

    return (PREFERENCE,)


EXTENSION = Extension(
    name="lab",
    title="review, audit and compare captions",
    sections={"review": Review, "audit": Audit, "meta_evaluation": MetaEvaluation},
    stages=_stages,
    pages=_pages,
    tables=("verified_lab.tables.audit", "verified_lab.tables.meta_evaluation"),
    commands=("verified_lab.cli.review", "verified_lab.cli.audit", "verified_lab.cli.captions"),
)
