"""Sentinels: rendered moments with known facts, captioned among those of a run."""

from verified.extension import Extension
from verified_sentinels.config import Sentinels, check, is_asked

EXTENSION = Extension(
    name="sentinels",
    title="watch a run by moments of known truth",
    sections={"sentinels": Sentinels},
    is_on=is_asked,
    check=check,
    stages=("verified_sentinels.stage:STAGE",),
    tables=("verified_sentinels.table",),
)
