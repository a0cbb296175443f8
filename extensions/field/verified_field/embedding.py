"""Vectors of texts, frames and clips: each a call of the role `embed`, read from the ledger or made once."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from verified.config.generation import EmbedSettings, Generation
from verified.lmm.client import Call
from verified.lmm.request import Outcome, Sampling
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING, vector_of

NOT_DRAWN = Sampling(max_tokens=0, temperature=0.0, top_p=1.0)
"""Vectors depend on no seed and no sampling: both stay the same in the ledger's keys."""


def embed_texts(texts: Sequence[str], session: Session, query: bool = True) -> np.ndarray:
    """Vectors [texts, dim] of length 1, float32; zeros without an answer. Equal texts are embedded once.

    `query`: search sentences, which have a separate form and instruction.
    """
    calls = text_calls(texts, session, query)
    return stack(session.ask(EMBEDDING, calls, len(calls)))


def text_calls(texts: Iterable[str], session: Session, query: bool = True) -> list[Call]:
    """The calls that `embed_texts` makes."""
    settings = embed_settings(session.settings)
    form = settings.query_form if query else "{text}"
    return [_call(session, "query" if query else "text", form.replace("{text}", text)) for text in texts]


def shown_call(session: Session, frames: int, digest: str, load: Callable[[], dict]) -> Call:
    """The call of a frame, or of a clip of several; `digest` identifies the data that `load` fetches."""
    return _call(session, "clip" if frames > 1 else "frame", "", frames, digest, load)


def stack(outcomes: Iterable[Outcome]) -> np.ndarray:
    """The vectors of answers [answers, dim], float32; zeros for an answer without one. [0, 0] without any vector."""
    vectors = [vector_of(outcome.text) if outcome.status == "ok" else None for outcome in outcomes]
    dim = next((len(vector) for vector in vectors if vector is not None), 0)
    whole = np.zeros((len(vectors), dim), np.float32)
    for row, vector in enumerate(vectors):
        if vector is not None:
            whole[row] = vector
    return whole


def embed_settings(generation: Generation) -> EmbedSettings:
    """Settings of the role. Raises ValueError if no model has it: the configuration checks this first."""
    if generation.embed is None:
        raise ValueError("generation.embed is not set")
    return generation.embed


def _call(
    session: Session,
    kind: str,
    text: str,
    frames: int = 0,
    digest: str | None = None,
    load: Callable[[], dict] | None = None,
) -> Call:
    settings = embed_settings(session.settings)
    instruction = settings.query_instruction if kind == "query" else settings.instruction
    instruction = instruction if settings.chats else ""
    shortened = f"{settings.dimensions} dim" if settings.dimensions else ""
    media = tuple(part for part in (digest, instruction and f"told {instruction}", shortened) if part)
    slots = {"kind": kind, "instruction": instruction, "frame_number": str(frames)}
    call = session.call(EMBEDDING, slots, media=media, load=load)
    call.request = dataclasses.replace(call.request, prompt=text, sampling=NOT_DRAWN, seed=0)
    return call
