"""Options scored as continuations: the likeliest is the answer; engines without log-probabilities are refused."""

import json

import pytest
from captioning import settings as generation_settings
from question_pages import clips, question
from refusals import refused

from verified.config.generation import EngineSettings
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified_rextime.answer import TASKS, engines_for, take_test

QUESTION = question(
    1, relevant_windows=[[0.4, 1.6]], options=["it grows", "it’s still there", "it falls down the stairs", "it turns"]
)
PROTOCOLS = pytest.mark.parametrize("protocol", ["locate_then_score", "score_with_true_span"])


class Likely:
    """An engine that finds the third option likely, and a span for other requests."""

    name, model, revision = "transformers", "m", ""

    def __init__(self):
        self.scored = []

    def answer(self, requests):
        for request in requests:
            if (text := request.slots.get("continuation")) is None:
                yield Reply("From 0.5 to 1.5.")
            else:
                self.scored.append(text)
                yield Reply(json.dumps({"mean_log_probability": -0.3 if "stairs" in text else -1.5, "tokens": 4}))


@PROTOCOLS
def test_the_likeliest_of_four_continuations_is_the_answer(protocol, tmp_path):
    engine = Likely()
    with Session(generation_settings(tmp_path), 7, TASKS[protocol], {"video_lmm": engine}) as session:
        submission, failures = take_test([QUESTION], clips(tmp_path), protocol, 4, session)
    assert submission == [{"qid": "q1", "pred_relevant_windows": [[0.5, 1.5]], "ans": "C"}] and not failures
    assert sorted(engine.scored) == sorted(f"From 0 to 2, {option}" for option in QUESTION["options"])


@PROTOCOLS
def test_scoring_needs_a_loaded_model(protocol, tmp_path):
    role = EngineSettings(engine="openai", model="m", base_url="http://localhost:1/v1", api_key_variable="TEST_KEY")
    with refused("scores given answers", "transformers", remedy=True):
        engines_for(protocol, generation_settings(tmp_path, video_lmm=role), [QUESTION])
