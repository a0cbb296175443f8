"""Text generation: which engine answers for which role, prompts, sampling, the ledger."""

from typing import Literal

from pydantic import Field

from verified.config.base import Section


class Engine(Section):
    """One engine in one role."""

    engine: Literal["scene-reader", "cassette", "transformers", "openai", "vllm"] = "scene-reader"
    """Which implementation answers."""
    model: str = "scene-reader-1"
    """Model id, recorded with each caption."""


class SceneReader(Section):
    """The demo's engine."""

    spoiled_share: float = Field(0.3, ge=0, le=1)
    """Share of caption candidates that are falsified on purpose, so that the evaluator has something to find."""


class Generation(Section):
    """Captions and perturbations by language models (sections 3.1 to 3.3)."""

    llm: Engine = Engine()
    image_lmm: Engine = Engine()
    video_lmm: Engine = Engine()
    prompts: str = "config/prompts"
    """Folder of the eight prompt files."""
    ledger: str = "results/ledger.sqlite"
    """Where each call and its outcome is kept."""
    candidates: int = Field(3, ge=1)
    """N_s and N_d: statics and dynamics candidates per moment."""
    questions: int = Field(5, ge=1)
    """N_qa: questions per moment."""
    perturbations: int = Field(3, ge=1)
    """N_pos and N_neg: perturbed captions of each kind."""
    sentence_encoder: str = "all-MiniLM-L6-v2"
    """Sentence encoder for Equations 7 and 8 and for many-to-many statistics."""
    scene_reader: SceneReader = SceneReader()
