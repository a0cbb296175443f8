"""The lab: review pages, audit of queries, metrics of captions against people, comparison of captions of two runs."""

from verified.extension import Extension
from verified_lab.config import Audit, MetaEvaluation, Review

EXTENSION = Extension(
    name="lab",
    title="review, audit and compare captions",
    sections={"review": Review, "audit": Audit, "meta_evaluation": MetaEvaluation},
    stages=("verified_lab.stage:STAGE",),
    pages=("verified_lab.preference_answers:PREFERENCE",),
    tables=("verified_lab.tables.audit", "verified_lab.tables.meta_evaluation"),
    commands=tuple(f"verified_lab.cli.{name}" for name in ("review", "audit", "captions", "transcribe")),
)
