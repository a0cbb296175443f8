"""Grounding in long videos: MAD's data sets, baselines, VLG-Net, CLIP4Clip, and the collection of described movies."""

from verified.extension import Extension
from verified_longform.config import Longform, check

EXTENSION = Extension(
    name="longform",
    title="ground sentences in movies",
    sections={"longform": Longform},
    is_on=lambda settings: settings.section(Longform).described,
    stands_alone=True,
    check=check,
    stages=("verified_longform.stage:STAGE",),
    forms=("verified_longform.form:MOVIES",),
    importers={"clip4clip": "verified_longform.clip4clip:import_file"},
    families={"longform": "long videos"},
)
