"""Perturbed captions and Equations 7 and 8 by the real SentenceBERT model."""

from captioning import make_moments, settings
from stub_engine import StubEngine

from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified.perturbations.write import TASK_OF_KIND, farthest, nearest, perturb, shard_counts

ENCODER = "all-MiniLM-L6-v2"
ANSWERS = {
    "positives": ["A boy stands up to run after a cat.", "A boy gets up to chase a cat.", "A ship sinks at sea."],
    "static_negatives": [
        "A girl stands up to chase a cat.",
        "A boy stands up to chase a dog.",
        "Planets orbit a star.",
    ],
    "dynamic_negatives": ["A boy sits down to pet a cat.", "A cat chases a boy.", "A boy stands up to chase a kitten."],
}


def run(folder, captions, reply):
    engine = StubEngine(reply)
    with Session(settings(folder), 7, TASK_OF_KIND.values(), {"llm": engine}) as session:
        rows = perturb(make_moments(captions), session, ENCODER)
        return rows, shard_counts(rows, 3, session.outcome_counts()), engine


def test_nearest_positive_and_farthest_negatives(tmp_path):
    def reply(request, _):
        return Reply("\n".join(f'{number}. "{item}"' for number, item in enumerate(ANSWERS[request.task], start=1)))

    rows, counts, engine = run(tmp_path, ["A boy stands up to chase a cat."] * 4, reply)
    assert len(engine.requests) == 3 and len({str(row["selected"]) for row in rows}) == 1
    row = rows[0]
    best = max(range(3), key=lambda index: row["similarities"]["positives"][index])
    assert row["selected"]["positive"] == row["positives"][best] != "A ship sinks at sea."
    assert row["selected"]["statics"] == "Planets orbit a star."
    assert row["selected"]["dynamics"] in ("A boy sits down to pet a cat.", "A cat chases a boy.")
    assert row["similarities"]["dynamics"].index(min(row["similarities"]["dynamics"])) == row["dynamics"].index(
        row["selected"]["dynamics"]
    )
    assert all(-1 <= value < 0.999 for values in row["similarities"].values() for value in values)
    assert counts["moments"] == counts["selected"] == 4


def test_without_a_usable_kind_nothing_is_selected_and_the_reason_stands(tmp_path):
    def reply(request, text):
        if request.task == "static_negatives":
            return Reply("", "blocked", "content-filter")
        short = request.task == "positives" and "cat" in request.slots["caption"]
        return Reply("\n".join([*text.splitlines()[:2], '3. "the original caption"']) if short else text)

    rows, counts, _ = run(tmp_path, ["a dog runs", "a cat sits"], reply)
    assert [row["selected"]["statics"] for row in rows] == [None, None]
    assert rows[0]["statics"] == [] and rows[0]["reasons"] == {"statics": "blocked: content-filter"}
    assert rows[1]["reasons"] == {"statics": "blocked: content-filter", "positives": "short"}
    assert (counts["selected"], counts["not_selected"], counts["kinds"]["statics"]["without"]) == (0, 2, 2)
    numbers = {
        kind: tuple(of[name] for name in ("complete", "short", "without")) for kind, of in counts["kinds"].items()
    }
    refused = {kind: of["refused"] for kind, of in counts["kinds"].items()}
    assert refused == {"positives": {"original-caption": 1}, "statics": {}, "dynamics": {}}
    assert numbers == {"positives": (1, 1, 0), "statics": (0, 0, 2), "dynamics": (2, 0, 0)}


def test_equation_7_passes_over_the_caption_itself():
    assert nearest("A dog runs.", ["a dog runs", "a dog trots"], [0.999, 0.8]) == "a dog trots"
    assert nearest("A dog runs.", ["a dog  runs!"], [0.999]) is None and nearest("x", [], []) is None
    assert nearest("x", ["a", "b"], [0.5, 0.5]) == "a"


def test_equation_8_takes_the_least_similar():
    assert farthest(["a", "b", "c"], [0.3, 0.1, 0.1]) == "b" and farthest([], []) is None
