"""XML's ranked lists, and CONQUER and SQuiDNet on top of them, from files to files."""

import json

import numpy as np
import pytest
from planted import CLIPS, TOKENS, Planted, plant

from verified.common.jsonl import read_jsonl
from verified.retrieval.experiment import rank_videos, test_model, train_model
from verified.retrieval.ranked import read_ranked
from verified.retrieval.registry import model_class
from verified.retrieval.submission import read_submission

test_model.__test__ = False

LISTED = 12
SETTINGS = {
    "spans": {
        "clip_seconds": 1.0, "min_pred_clips": 1, "max_pred_clips": 12, "max_context_clips": CLIPS,
        "nms_threshold": 0.6, "selection_split": "val", "test_split": "test",
    },
    "text_encoder": "all-MiniLM-L6-v2", "external_score": "exp", "listed_videos": LISTED, "memory_mb": 100,
    "device": "cpu", "threads": 1, "seed": 7, "bootstrap": 100,
}  # fmt: skip
RECIPES = {
    "xml": {"epochs": 4, "batch": 32, "learning_rate": 2e-3},
    "conquer": {"epochs": 12, "batch": 16, "learning_rate": 2e-3},
    "squidnet": {"epochs": 8, "batch": 16, "learning_rate": 2e-3, "negatives": 3},
}


class Run:
    """Training, ranking and testing in one folder, as the rules call them."""

    def __init__(self, folder, learn, test):
        self.folder = folder
        self.learn = {"video": str(learn.video), "text": str(learn.text)}
        self.learn |= {"train": str(learn.annotations), "selection": str(learn.annotations)}
        self.test = {"video": str(test.video), "text": str(test.text), "test": str(test.annotations)}

    def train(self, name):
        settings = SETTINGS | {
            "recipe": RECIPES[name], "options": {**model_class(name).small, "query_tokens": TOKENS}
        }  # fmt: skip
        files = self.learn | ({} if name == "xml" else {"ranked": self.path("ranked-train.h5")})
        train_model(name, "fig", 1, files, settings, self.path(f"{name}.safetensors"), self.path(f"{name}.jsonl"))

    def rank(self):
        for files, part in ((self.learn, "train"), (self.test, "test")):
            checkpoint = {"checkpoint": self.path("xml.safetensors")}
            rank_videos(files | checkpoint, "fig", SETTINGS, self.path(f"ranked-{part}.h5"))

    def score(self, name):
        files = self.test | {"checkpoint": self.path(f"{name}.safetensors"), "ranked": self.path("ranked-test.h5")}
        facts = {"dataset": "d", "model": name, "trained_on": "fig", "tested_on": "fig", "seed": 1, "split": "test"}
        outputs = (self.path(f"{name}-{part}") for part in ("submission.json.gz", "metrics.json", "hits.npz"))
        test_model(files, facts, SETTINGS, read_jsonl(self.path(f"{name}.jsonl")), *outputs)

    def path(self, name):
        return str(self.folder / name)

    def metrics(self, name):
        return json.loads((self.folder / f"{name}-metrics.json").read_text())

    def ordered_videos(self, name):
        """Videos and scores of the VR lists, [Q, K] each, in the order of the moments."""
        rows = np.stack(list(read_submission(self.folder / f"{name}-submission.json.gz").tasks["VR"].values()))
        return rows[:, :, 0].astype(int), rows[:, :, 3]

    def split(self, part):
        """A split in the form for XML, and its ranked lists."""
        files = self.test if part == "test" else self.learn
        data = Planted(files[part], files["video"], files["text"]).split(model_class("xml"))
        return data, read_ranked(self.path(f"ranked-{part}.h5"), part, data.moments.videos)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two-stage")
    run = Run(folder, plant(folder, 40, seed=1), plant(folder, 20, seed=2))
    run.train("xml")
    run.rank()
    for name in ("conquer", "squidnet"):
        run.train(name)
    for name in ("xml", "conquer", "squidnet"):
        run.score(name)
    return run


def test_lists_hold_at_most_the_videos_asked_for(run):
    for part in ("train", "test"):
        data, lists = run.split(part)
        assert lists.video.shape == (len(data.moments), LISTED)
        assert all(len(set(row)) == LISTED for row in lists.video.tolist())


def test_training_queries_outside_their_list_are_left_out_and_counted(run):
    data, lists = run.split("train")
    outside = int((lists.rank_of(data.moments.desc_id, data.moments.video) < 0).sum())
    assert outside > 0
    for name in ("conquer", "squidnet"):
        assert run.metrics(name)["left_out_queries"] == outside
    assert run.metrics("xml")["left_out_queries"] == 0


def test_test_queries_outside_their_list_are_counted_and_stay_in_the_metrics(run):
    data, lists = run.split("test")
    rank = lists.rank_of(data.moments.desc_id, data.moments.video)
    inside = 100 * (rank >= 0).mean()
    for name in ("conquer", "squidnet"):
        metrics = run.metrics(name)
        assert metrics["queries_outside_list"] == int((rank < 0).sum())
        assert metrics["queries"] == len(data.moments)
        assert metrics["metrics"]["VR"]["r100"] == round(inside, 2)
        assert metrics["metrics"]["VCMR"]["0.5-r100"] <= round(inside, 2)
    assert run.metrics("conquer")["metrics"]["SVMR"]["0.5-r100"] > inside  # the ground-truth video, listed or not


def test_conquer_leaves_the_order_of_the_videos_and_their_scores(run):
    _, lists = run.split("test")
    videos, scores = run.ordered_videos("conquer")
    assert np.array_equal(videos, lists.video)
    assert np.allclose(scores, np.exp(20 * lists.cosine), rtol=1e-5)
    for count in (1, 5, 10):
        assert run.metrics("conquer")["metrics"]["VR"][f"r{count}"] == run.metrics("xml")["metrics"]["VR"][f"r{count}"]


def test_squidnet_reorders_the_videos_of_the_list(run):
    _, lists = run.split("test")
    videos, scores = run.ordered_videos("squidnet")
    assert np.array_equal(np.sort(videos), np.sort(lists.video))
    assert not np.array_equal(videos, lists.video)
    assert np.allclose(scores.sum(axis=1), 1, atol=1e-4)
    assert (np.diff(scores, axis=1) <= 0).all()


@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_what_is_learned_localises_in_unseen_videos(run, name):
    history = read_jsonl(run.path(f"{name}.jsonl"))
    assert history[-1]["moment"] < 0.8 * history[0]["moment"]
    # A span of 4 of some 13 clips, drawn by chance, overlaps by half in about 15 % of the queries.
    assert run.metrics(name)["without_nms"]["SVMR"]["0.5-r1"] > 30
