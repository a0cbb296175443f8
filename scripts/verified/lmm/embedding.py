"""Vectors of texts, frames and clips: each a call of the role `embed`, found in the ledger or asked once."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from verified.config.generation import EmbedSettings
from verified.lmm.asking import Call
from verified.lmm.outcome import Outcome
from verified.lmm.request import Sampling
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING, vector_of

NOT_DRAWN = Sampling(max_tokens=0, temperature=0.0, top_p=1.0)
"""Vectors depend on no seed and no sampling: both stay the same in the ledger's keys."""


def embed_texts(texts: Sequence[str], session: Session, query: bool = True) -> np.ndarray:
    """Vectors [texts, dim] of length 1, float32; zeros where there is no answer. Equal texts are asked once.

    `query`: sentences that are looked for, which have a form and an instruction of their own.
    """
    calls = text_calls(texts, session, query)
    return stack(session.ask(EMBEDDING, calls, len(calls)))


def text_calls(texts: Iterable[str], session: Session, query: bool = True) -> list[Call]:
    """The calls that `embed_texts` makes."""
    settings = _settings(session)
    form = settings.query_form if query else "{text}"
    return [_call(session, "query" if query else "text", form.replace("{text}", text)) for text in texts]


def shown_call(session: Session, kind: str, digest: str, load: Callable[[], dict]) -> Call:
    """The call of a frame or clip; `digest` says what `load` will fetch."""
    return _call(session, kind, "", digest, load)


def stack(outcomes: Iterable[Outcome]) -> np.ndarray:
    """The vectors of answers [answers, dim], float32; zeros where one has none. [0, 0] of no vector at all."""
    vectors = [vector_of(outcome.text) if outcome.status == "ok" else None for outcome in outcomes]
    dim = next((len(vector) for vector in vectors if vector is not None), 0)
    whole = np.zeros((len(vectors), dim), np.float32)
    for row, vector in enumerate(vectors):
        if vector is not None:
            whole[row] = vector
    return whole


def _settings(session: Session) -> EmbedSettings:
    """Those of the role. Raises ValueError where nobody is named for it: the caller looks first."""
    if session.settings.embed is None:
        raise ValueError("generation.embed is not set")
    return session.settings.embed


def _call(
    session: Session, kind: str, text: str, digest: str | None = None, load: Callable[[], dict] | None = None
) -> Call:
    settings = _settings(session)
    told = settings.query_instruction if kind == "query" else settings.instruction
    told = told if settings.chats else ""
    shortened = f"{settings.dimensions} dim" if settings.dimensions else ""
    media = tuple(part for part in (digest, told and f"told {told}", shortened) if part)
    call = session.call(EMBEDDING, {"kind": kind, "instruction": told}, media=media, load=load)
    call.request = dataclasses.replace(call.request, prompt=text, sampling=NOT_DRAWN, seed=0)
    return call
