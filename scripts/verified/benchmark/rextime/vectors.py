"""Vectors as a grounder of questions, without training: the window that is nearest to the question.

As the retrieval models, it looks for what the question names, not for its answer.
"""

from collections.abc import Mapping

from verified.benchmark.rextime.rows import Prediction
from verified.config.datasets import Spans
from verified.features.embedded import NO_VECTOR, embed_videos, piece_calls, window_scores, windows
from verified.lmm.client import Call
from verified.lmm.embedding import embed_settings, embed_texts, text_calls
from verified.lmm.session import Session


def grounding_calls(questions: list[dict], videos: Mapping[str, dict], session: Session) -> list[Call]:
    """The calls that `ground_by_vectors` makes, for a quote of them."""
    shown = {row["vid"]: videos[row["vid"]] for row in questions if row["vid"] in videos}
    pieces = piece_calls(dict(sorted(shown.items())), embed_settings(session.settings), session)
    return [*(call for _, call in pieces), *text_calls([row["query"] for row in questions], session)]


def ground_by_vectors(
    questions: list[dict], videos: Mapping[str, dict], spans: Spans, session: Session
) -> dict[str, Prediction]:
    """The window of each question's video that is nearest to the question by vectors; the whole video without them.

    `videos` are rows of videos.jsonl by id; the lengths of windows are those that `spans` allows.
    """
    settings = embed_settings(session.settings)
    shown = {video: videos[video] for video in sorted({row["vid"] for row in questions})}
    vectors = embed_videos(shown, settings, session)
    asked = embed_texts([row["query"] for row in questions], session)
    predictions = {}
    for row, query in zip(questions, asked):
        pieces = vectors[row["vid"]]
        found = windows(len(pieces), settings.step_seconds, spans)
        scores = window_scores(pieces, query[None], found)[0]
        whole = (0.0, float(row["duration"]))
        window = found[int(scores.argmax())] * settings.step_seconds
        known = query.any() and scores.max() > NO_VECTOR
        near = (float(window[0]), min(float(window[1]), whole[1])) if known else whole
        predictions[row["qid"]] = Prediction(near, None)
    return predictions
