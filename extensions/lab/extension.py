"""The lab: filters of moments, review pages, audit of queries, metrics and comparison of captions."""

from verified.extension import Extension
from verified_lab.config import Audit, Filters, Review, check

EXTENSION = Extension(
    name="lab",
    title="review, audit and compare captions",
    sections={"filters": Filters, "review": Review, "audit": Audit},
    check=check,
    stages=("verified_lab.quality.stage:STAGE",),
    selection="verified_lab.quality.stage:SELECTION",
    findings="verified_lab.config:findings",
    tables=("verified_lab.tables.audit",),
    commands=tuple(f"verified_lab.cli.{name}" for name in ("review", "audit", "captions", "transcribe")),
)
