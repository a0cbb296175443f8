"""Questions across time: ReXTime's questions, filters and evaluator, grounding models, LMMs, pages for annotators."""

from verified.extension import Extension
from verified_rextime.config import Rextime, check

EXTENSION = Extension(
    name="rextime",
    title="ask questions across time",
    sections={"rextime": Rextime},
    is_on=lambda settings: settings.section(Rextime).asks,
    stands_alone=True,
    check=check,
    stages=("verified_rextime.stage:STAGE",),
    forms=("verified_rextime.form:QUESTIONS",),
    importers={name: f"verified_rextime.published:import_{name}" for name in ("univtg", "cg_detr")},
    commands=("verified_rextime.cli",),
    families={"rextime": "pages for annotators, their answers, and counts in other data sets"},
)
