import gzip
import json
import os
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import torch
from planted import CLIPS, TOKENS, plant, small_model

from verified.benchmark.vcmr import experiment, training
from verified.benchmark.vcmr.data import read_moments
from verified.benchmark.vcmr.experiment import Settings, own_recipe, owner_values, rank_videos, test_model, train_model
from verified.benchmark.vcmr.jobs import ranking_settings, testing_settings, training_settings
from verified.benchmark.vcmr.models.hero import Hero
from verified.benchmark.vcmr.models.xml import XML
from verified.benchmark.vcmr.ranked import read_ranked
from verified.benchmark.vcmr.search import SearchSettings
from verified.benchmark.vcmr.training import steps_of_epoch, train
from verified.config import load
from verified.config.params import VARIABLE, received
from verified.config.retrieval import Training
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.nn.training import TrainingState

test_model.__test__ = testing_settings.__test__ = False

SEARCHING = SearchSettings(min_pred_clips=1, max_pred_clips=10, quiet=True)
SPANS = {"clip_seconds": 1, "min_pred_clips": 1, "max_pred_clips": 10, "max_context_clips": CLIPS, "nms_threshold": 0.5}
RECIPE = {"epochs": 3, "batch": 20, "learning_rate": 1e-3, "options": {"hidden": 32, "query_tokens": TOKENS}}


def of_job(values: Callable[..., dict], job: object = "of", **retrieval: int) -> Settings:
    """What a job gets of a configuration, by the function behind its rule's params."""
    given = {"title": "Of", "source": {"kind": "demo"}, "spans": SPANS}
    trained = {"memory_mb": 100, "training": {"xml": RECIPE}, **retrieval}
    config = load({"name": "a", "seed": 7, "datasets": {"of": given}, "retrieval": trained})
    os.environ.setdefault(VARIABLE, "{}")
    return received(Settings, values(config, job))


JOB = SimpleNamespace(dataset="a/of", model="xml")
SETTINGS = of_job(training_settings, JOB)


def test_a_training_gets_what_is_configured():
    other = of_job(training_settings, JOB, searched_videos=3, memory_mb=200)
    searching = other.searching()
    assert (searching.min_pred_clips, searching.max_pred_clips, searching.searched_videos) == (1, 10, 3)
    assert searching.memory_mb == 200
    assert owner_values(of_job(training_settings, JOB, memory_mb=200)) == owner_values(SETTINGS) != owner_values(other)
    assert own_recipe(Hero.recipe, Training(epochs=3)).steps is None and Hero.recipe.steps
    assert own_recipe(Hero.recipe, Training(epochs=3, steps=9)).steps == 9


def test_steps_and_rates_are_those_of_the_recipes():
    accumulated = replace(XML.recipe, batch=10, accumulate=2)
    assert [steps_of_epoch(45, replace(accumulated, drop_last=last)) for last in (False, True)] == [2, 2]
    assert [steps_of_epoch(45, replace(XML.recipe, batch=10, drop_last=last)) for last in (False, True)] == [5, 4]
    assert training._rate(XML.recipe, 100, 0) == 0 < training._rate(Hero.recipe, 100, 0)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return [plant(folder, 16, seed=seed) for seed in (1, 2)]


def files_of(learn) -> dict[str, str]:
    """Files of a training that is also selected on what it learns from."""
    annotations = dict.fromkeys(("train", "selection"), str(learn.annotations))
    return {"video": str(learn.video), "text": str(learn.text), **annotations}


def trained(planted, folder, epochs=4, searching=SEARCHING, **changes):
    torch.manual_seed(0)
    model = small_model("xml", hidden=32)
    recipe = replace(model.recipe, **{"epochs": epochs, "batch": 16, "learning_rate": 1e-3, **changes})
    splits = [files.split(type(model)) for files in planted]
    owner = {"settings": str(changes)}
    state = TrainingState(folder / "state.safetensors", owner, seconds=0.0)
    return train(model, *splits, recipe, searching, 5, folder / "log.jsonl", state)


@pytest.mark.parametrize("change", ["features", "none"])
def test_a_killed_run_goes_on_only_with_the_same_files(change, planted, tmp_path, monkeypatch, caplog):
    learn, _ = planted
    monkeypatch.setattr(experiment, "SAVE_SECONDS", 0.0)

    def run(folder, source=learn):
        files = files_of(learn) | {"video": str(source.video)}
        folder.mkdir(exist_ok=True)
        train_model("xml", "fig", 2018, files, SETTINGS, str(folder / "c.safetensors"), str(folder / "l.jsonl"))
        return (folder / "c.safetensors").read_bytes(), (folder / "l.jsonl").read_bytes()

    scores, epochs = training._selection_scores, iter((True, True, False))

    def killed(*arguments):
        if not next(epochs):
            raise KeyboardInterrupt
        return scores(*arguments)

    monkeypatch.setattr(training, "_selection_scores", killed)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "killed")
    assert (tmp_path / "killed" / "unfinished.safetensors").is_file()
    monkeypatch.setattr(training, "_selection_scores", scores)
    source = learn
    if change == "features":
        with h5py.File(learn.video, locking=False) as before, h5py.File(tmp_path / "v.h5", "w") as after:
            after.attrs.update(before.attrs)
            for key in before:
                after[key] = 0.5 * before[key][()]
        source = replace(learn, video=tmp_path / "v.h5")
    with caplog.at_level("INFO", "verified"):
        again = run(tmp_path / "killed", source)
    assert again == run(tmp_path / "fresh", source), "as if it had never been killed"
    reason = {"features": "with other inputs;", "none": "going on with a saved state: 6 steps done"}[change]
    assert reason in caplog.text
    assert not list((tmp_path / "killed").glob("unfinished*"))


def test_trainings_of_other_seeds_begin_and_draw_otherwise(planted, tmp_path, monkeypatch):
    files, begun = files_of(planted[0]), []

    def train(model, *given):
        begun.append((given[4], next(model.parameters()).detach().clone()))
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment, "train", train)
    for seed in (3, 11):
        with pytest.raises(KeyboardInterrupt):
            train_model("xml", "fig", seed, files, SETTINGS, str(tmp_path / "c.safetensors"), str(tmp_path / "l.jsonl"))
    (one, weights), (two, others) = begun
    assert one != two and not torch.equal(weights, others)


def test_the_best_epoch_is_selected_and_patience_ends_the_training(planted, tmp_path, monkeypatch):
    values = iter([3.0, 5.0, 4.0, 5.0, 1.0, 9.0])
    monkeypatch.setattr(training, "_selection_scores", lambda *_: {"selection": next(values)})
    result = trained(planted, tmp_path, epochs=6, patience=2)
    assert result.epoch == 1
    assert len(result.history) == 4  # two epochs without improvement are allowed, the third stops
    assert [row["epoch"] for row in read_jsonl(tmp_path / "log.jsonl")] == [0, 1, 2, 3]


def test_a_batch_is_padded_to_its_longest_query_and_where_that_is_asked_for_to_its_longest_video(
    planted, tmp_path, monkeypatch
):
    seen, drawn = set(), []

    def is_full(values, mask) -> bool:
        return values.shape[1] == mask.shape[1] == int(mask.sum(dim=1).max())

    def losses(self, batch, **more):
        drawn.append(float(batch.query.sum()))
        seen.add((is_full(batch.query, batch.query_mask), is_full(batch.video, batch.video_mask)))
        return of_xml(self, batch, **more)

    of_xml = XML.losses
    monkeypatch.setattr(XML, "losses", losses)
    for padding, expected in (("official", {(True, True)}), ("context", {(True, False)})):
        (tmp_path / padding).mkdir()
        trained(planted, tmp_path / padding, epochs=2, batch=2, searching=replace(SEARCHING, padding=padding))
        assert seen >= expected and all(full for full, _ in seen)
        assert padding == "context" or seen == expected
        assert drawn[:24] != drawn[24:] and len(drawn) == 48, "each epoch has an order of its own"
        seen.clear()
        drawn.clear()


def test_a_held_out_part_selects_and_the_rest_trains(planted, tmp_path):
    file = planted[0].annotations
    settings = SETTINGS.model_copy(update={"held_out_share": 0.3})
    parts = experiment._training_moments({"train": str(file), "selection": str(file)}, "fig", settings)
    held, rest, everything = (read_moments(file, "fig", part, 0.3).videos for part in ("held-out", "rest", None))
    assert {name: moments.videos for name, moments in parts.items()} == {"train": rest, "selection": held}
    assert sorted(held + rest) == everything and 0 < len(held) < len(rest)
    rows = [row | {"windows": [row["time"], [0, 1]]} for row in read_jsonl(file)]
    write_jsonl(tmp_path / "windows.jsonl", rows)
    parts = experiment._training_moments(dict.fromkeys(parts, str(tmp_path / "windows.jsonl")), "fig", SETTINGS)
    assert (len(parts["train"]), len(parts["selection"])) == (2 * len(rows), len(rows)), "trained on each window"


@pytest.fixture(scope="module")
def run(planted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    learn, test = planted
    files = files_of(learn)
    checkpoint = str(folder / "c.safetensors")
    train_model("xml", "fig", 2018, files, SETTINGS, checkpoint, str(folder / "l.jsonl"))
    files |= {"checkpoint": checkpoint}
    rank_videos(files, "fig", of_job(ranking_settings), str(folder / "ranked.h5"))
    short = of_job(ranking_settings, searched_videos=3, training_list_videos=7)
    rank_videos(files, "fig", short, str(folder / "short.h5"))
    tested = {"checkpoint": checkpoint, "video": str(test.video), "text": str(test.text)}
    tested["test"] = str(folder / "test.jsonl")
    write_jsonl(tested["test"], [row | {"cog_desc": "coarse"} for row in read_jsonl(test.annotations)])
    facts = {"dataset": "d", "model": "xml", "trained_on": "cog", "tested_on": "fig", "seed": 2018, "split": "test"}
    outputs = (str(folder / name) for name in ("submission.json.gz", "metrics.json", "per_query.npz"))
    test_model(tested, facts, of_job(testing_settings), *outputs)
    return folder


def test_epochs_are_selected_by_the_first_rows_of_vcmr_at_both_thresholds(run):
    for row in read_jsonl(run / "l.jsonl"):
        assert row["selection"] == pytest.approx(row["VCMR/0.5/r1"] + row["VCMR/0.7/r1"], abs=1e-3)
        assert row["SVMR/0.7/r1"] not in (row["VCMR/0.7/r1"], row["VR/r1"])


def test_a_model_that_only_ranks_videos_is_selected_by_them(planted, tmp_path, monkeypatch):
    monkeypatch.setattr(XML, "localises", False)
    row = trained(planted, tmp_path).history[-1]
    assert row["selection"] == row["VR/r1"] != pytest.approx(row["VCMR/0.5/r1"] + row["VCMR/0.7/r1"], abs=1e-3)


def test_lists_for_training_and_for_a_search_have_depths_of_their_own(run, planted):
    names = read_moments(planted[0].annotations, "fig").videos
    depths = {part: read_ranked(run / "short.h5", part, names).video.shape[1] for part in ("train", "selection")}
    assert depths == {"train": 7, "selection": 3}


def test_metrics_numbers_per_query_and_submission_agree(run, planted):
    from verified.benchmark.vcmr.evaluate import evaluate_files
    from verified.benchmark.vcmr.metrics import TVR_METRICS, tvr_name

    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["queries"] == 48 and metrics["videos"] == 16 and metrics["epochs"] == RECIPE["epochs"]
    lists = json.loads(gzip.decompress((run / "submission.json.gz").read_bytes()))["VCMR"]
    assert [row["desc"] for row in lists] == [row["fig_desc"] for row in read_jsonl(planted[1].annotations)]
    for nms, key in ((0.5, "metrics"), (None, "without_nms")):
        scored = evaluate_files(planted[1].annotations, run / "submission.json.gz", nms_threshold=nms).metrics
        ours = {
            task: {tvr_name(name): value for name, value in values.items() if name in TVR_METRICS}
            for task, values in metrics[key].items()
        }
        assert scored == ours
    with np.load(run / "per_query.npz") as per_query:
        assert len(per_query["desc_id"]) == 48 and len(set(per_query["video"])) == 16
        for task, values in metrics["metrics"].items():
            for name, value in values.items():
                assert round(100 * per_query[f"{task}/{name}"].mean(dtype=np.float64), 2) == value
                low, high = metrics["intervals"][task][name]
                assert low <= value <= high


@pytest.mark.parametrize("videos, least", [(3, 4), (3, 3)])
def test_a_handful_of_videos_selects_no_epoch(videos, least, planted, tmp_path, monkeypatch):
    """The first epoch looks best to a few queries: it is taken only where there are videos enough to be believed."""
    (tmp_path / "few").mkdir()
    few = [planted[0], plant(tmp_path / "few", videos, seed=3)]
    draws = iter((80.0, 40.0, 40.0, 40.0))
    monkeypatch.setattr(training, "_selection_scores", lambda *_: {"selection": next(draws)})
    found = trained(few, tmp_path, patience=1, selection_videos=least)
    assert (found.epoch, len(found.history)) == ((3, 4) if videos < least else (0, 2))
