"""Settings of the exported annotations and of their lint."""

from typing import Literal

from pydantic import Field, field_validator

from verified.config.base import Section
from verified.config.features import PACKAGED, PACKAGED_JOINT, SMALL_RESNET

Severity = Literal["error", "warning", "note", "off"]


class Lint(Section):
    """Severity of each finding. Errors fail the lint; our own annotations must have none."""

    unreadable: Severity = "error"
    """A line that is not one JSON object in UTF-8."""
    malformed: Severity = "error"
    """A key is missing, or its value has the wrong type or is not finite."""
    duplicate_id: Severity = "error"
    """A desc_id that an earlier row has."""
    encoding: Severity = "warning"
    """A byte order mark, or CRLF line ends."""
    span_reversed: Severity = "error"
    """The end is before the start, or the start before 0."""
    span_empty: Severity = "error"
    """Start and end are the same."""
    span_past_end: Severity = "warning"
    """The span ends after the video."""
    start_past_end: Severity = "error"
    """The span starts at or after the end of the video."""
    wrapper_quotes: Severity = "error"
    """The whole caption is in quotation marks."""
    outer_blanks: Severity = "warning"
    """Blanks before or after the caption."""
    double_spaces: Severity = "warning"
    """Several blanks, a tab or a line break inside the caption."""
    speaks_of_caption: Severity = "error"
    """The caption mentions the original caption."""
    speaks_of_frames: Severity = "error"
    """The caption mentions the image or its frames."""
    speaks_of_time: Severity = "error"
    """The caption names seconds, minutes or timestamps."""
    speaks_of_prompt: Severity = "error"
    """The caption mentions the prompt, or gives instructions."""
    no_answer: Severity = "error"
    """The caption states that its model cannot answer."""
    thinks_aloud: Severity = "error"
    """The caption includes its model's thoughts before the answer."""
    not_of_moment: Severity = "warning"
    """Its form, or its distance to the coarse caption, suggests that the caption does not describe its moment: look at
    it.
    """
    url: Severity = "error"
    """A web address."""
    markup: Severity = "error"
    """HTML, Markdown, LaTeX or template marks."""
    personal_data: Severity = "error"
    """An e-mail address, a telephone number or an account name."""
    equals_coarse: Severity = "error"
    """The fine caption repeats the coarse one."""
    duplicate_caption: Severity = "note"
    """A caption that several rows share."""
    low_score: Severity = "note"
    """A confidence score below 0."""


class Annotations(Section):
    """Export and checks of annotations."""

    licence: str = Field(default="not stated", min_length=1)
    """Licence of the captions, as the dataset card states it."""
    choose_by: Literal["confidence", "agreement", "random"] = "confidence"
    """Criterion for the caption of a moment: the evaluator's confidence (the paper's), agreement with the moment's
    other candidates, its keyframes and its coarse caption, or a seeded draw. The lowest caption uses the same one."""
    joint_encoder: str = Field(default=PACKAGED_JOINT, min_length=1)
    """Joint encoder that compares candidates with keyframes for agreement: packaged-joint (see docs/models.md), or a
    CLIP or SigLIP model by hub name or folder."""
    joint_revision: str = ""
    """Branch, tag or commit of a hub model in `joint_encoder`; empty: its main branch. The lock pins the commit."""
    min_score: float | None = None
    """Smallest confidence of a caption; null: any. Confidences are margins without bounds: a run shows which there are.
    """
    min_quantile: float | None = Field(default=None, gt=0, lt=1)
    """Share of a split's captions that count as too low: those of the lowest confidence, on any scale."""
    best: int = Field(default=1, ge=1)
    """Captions of a moment, at most; those after the first are under `further` in its row, and in exports."""
    otherwise: Literal["leave-out", "coarse"] = "leave-out"
    """A moment whose caption is refused or too low is omitted, or gets the coarse caption."""
    lint: Lint = Lint()

    @property
    def joint_model(self) -> tuple[str, str]:
        """Name and revision of the joint encoder."""
        return self.joint_encoder, self.joint_revision

    @field_validator("joint_encoder")
    @classmethod
    def reads_sentences(cls, name: str) -> str:
        if name in (PACKAGED, SMALL_RESNET):
            raise ValueError(f"{name} reads no sentences; give {PACKAGED_JOINT}, or a CLIP or SigLIP model")
        return name
