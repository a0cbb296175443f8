"""Whether the corpus has it: learnt from queries with known answers, measured on others, silent where it cannot."""

from types import SimpleNamespace

import numpy as np
import pytest

from verified.io.jsonl import write_jsonl
from verified.nn.sentences import encode
from verified_search.captions import Captions
from verified_search.presence import (
    PASSES,
    UNRELATED,
    clues,
    fit,
    hint,
    nearest_caption,
    presence,
    unrelated_scores,
)
from verified_search.update import _holders


def searches(best: np.ndarray, seed: int) -> np.ndarray:
    """Clues of searches whose best cosines are given."""
    draw = np.random.default_rng(seed)
    return np.stack(
        [
            clues(
                [SimpleNamespace(score=score) for score in (value, *draw.uniform(-0.1, 0.2, 20))],
                [SimpleNamespace(score=float(np.exp(20 * value)))],
            )
            for value in best
        ]
    )


def fitted(distance: float) -> dict:
    draw = np.random.default_rng(0)
    present, absent = draw.normal(0.4 + distance, 0.1, 100), draw.normal(0.4, 0.1, 100)
    return fit(searches(present, 1), searches(absent, 2), [f"v{n // 4}" for n in range(100)], "truth", seed=1)


def test_a_model_that_tells_gives_probabilities_that_mean_something():
    known = fitted(0.2)
    low, high = known["auroc_interval"]
    # The cosines of the two kinds are two standard deviations apart: an AUROC of Φ(√2) = 0.921.
    assert known["tells"] and low < 0.921 < high and known["queries"] == 100
    draw = np.random.default_rng(5)
    here = np.r_[draw.normal(0.6, 0.1, 400), draw.normal(0.4, 0.1, 400)]
    shown = []
    for value in here:
        one, moment = SimpleNamespace(score=value), SimpleNamespace(score=float(np.exp(20 * value)))
        others = [SimpleNamespace(score=score) for score in draw.uniform(-0.1, 0.2, 20)]
        shown.append(presence(known, [one, *others], [moment]))
    shown, truth = np.array(shown), np.r_[np.ones(400), np.zeros(400)]
    for low, high in ((0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01)):  # calibrated: 20 % means one in five
        inside = (shown >= low) & (shown < high)
        assert abs(shown[inside].mean() - truth[inside].mean()) < 0.12, (low, high)
    assert "Probably not here" in hint(known, 0.2, None) and "20%" in hint(known, 0.2, None)
    assert hint(known, 0.7, 1.0) == ""
    assert presence(known, [], []) < 0.1


def test_unrelated_sentences_decide_where_the_model_cannot_tell():
    known = fitted(0.0)
    assert not known["tells"] and presence(known, [SimpleNamespace(score=0.9)], []) is None
    for undecided in (known, None):
        assert "cannot be told" in hint(undecided, None, None)
        assert "Probably not here (30%" in hint(undecided, None, 0.3) and hint(undecided, None, 0.05) == ""


def test_a_sentence_near_no_caption_is_told_from_one_that_is():
    texts = ["a rabbit stretches", "the Earth is seen from space", "a man talks in a car"]
    rows = [{"video": "v", "start": 0.0, "end": 1.0, "fine": "", "coarse": text} for text in texts]
    captions = Captions(rows, dict(zip(texts, encode(texts))))
    scores = np.array(unrelated_scores(captions))
    assert len(scores) == len(UNRELATED) == len(set(UNRELATED))

    def share(sentence: str) -> float:
        return (scores >= nearest_caption(captions, sentence)).mean()

    assert share("our planet") < PASSES < share("someone writes an invoice")
    assert unrelated_scores(Captions([], {})) == []
    many = [{"video": "v", "start": 0.0, "end": 1.0, "fine": "", "coarse": text} for text in UNRELATED[::4]]
    assert unrelated_scores(Captions(many, dict(zip(UNRELATED, encode(UNRELATED))))) == [], "the corpus shows them"


@pytest.mark.parametrize("count", [0, 5])
def test_too_few_queries_teach_nothing(count):
    rows = np.zeros((count, 3))
    assert fit(rows, rows, ["v"] * count, "truth", 1) is None
    assert presence(None, [SimpleNamespace(score=0.9)], []) is None


def test_who_holds_such_a_moment(tmp_path):
    facts = {"shape": "ring", "colour": "red", "motion": "moves"}
    events = [(1, "a", facts), (2, "b", facts), (3, "c", {**facts, "colour": "blue"})]
    write_jsonl(tmp_path / "truth.jsonl", [{"video": v, "events": [{"desc_id": d, "facts": f}]} for d, v, f in events])
    holders, how = _holders([], str(tmp_path / "truth.jsonl"))
    assert holders[1] == holders[2] == {"a", "b"} and holders[3] == {"c"} and how == "the demo's truth"
    captions = [{"desc_id": 1, "video": "a", "coarse": "He sits"}, {"desc_id": 2, "video": "b", "coarse": "he sits"}]
    holders, how = _holders(captions, None)
    assert holders[1] == {"a", "b"} and how == "coarse captions"
