"""The benchmark from annotations and feature files alone, as with the authors' archives: no video is read."""

import json
import shutil

import h5py
import pytest
import yaml
from planted import CLIPS, plant
from running import snakemake

from verified.benchmark.vcmr.evaluate import evaluate_files


@pytest.mark.slow
def test_xml_is_trained_and_tested_from_given_files(tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    train, test = plant(given, 40, seed=1), plant(given, 10, seed=2)
    shutil.copy(train.annotations, given / "train.jsonl")
    shutil.copy(test.annotations, given / "test.jsonl")
    merge(given / "video.h5", train.video, test.video)
    for name in ("cog", "fig"):
        merge(given / f"text-{name}.h5", train.text, test.text)
    source = {"kind": "released", "collection": "mine", "splits": ["train", "test"]}
    config = {
        "name": "given",
        "datasets": {
            "mine": {
                "title": "Mine",
                "source": {**source, "released_dir": str(given), "features_dir": str(given)},
                "spans": {"max_context_clips": CLIPS, "selection_split": "held-out", "held_out_share": 0.2},
            }
        },
        "retrieval": {"training": {"xml": {"steps": 6, "batch": 16, "options": {"hidden": 32}}}, "resamples": 100},
    }
    (tmp_path / "given.yaml").write_text(yaml.safe_dump(config))
    target = "results/given/mine/retrieval/xml/fig/seed-2018/cog/metrics.json"
    done = snakemake(tmp_path, "--cores", "1", target, config=tmp_path / "given.yaml")
    assert done.returncode == 0, done.stdout
    metrics = json.loads((tmp_path / target).read_text())
    assert (metrics["queries"], metrics["videos"], metrics["selection_split"]) == (30, 10, "held-out")
    submission = tmp_path / target.replace("metrics.json", "submission.json.gz")
    scored = evaluate_files(given / "test.jsonl", submission, nms_threshold=0.6).metrics
    for task, values in scored.items():
        assert values == {name: metrics["metrics"][task][name.replace("-", "/")] for name in values}, task
    assert set(scored) == set(metrics["metrics"])


def merge(target, *sources):
    """One feature file with the keys of several."""
    with h5py.File(target, "w") as out:
        for source in sources:
            with h5py.File(source) as file:
                out.attrs.update(file.attrs)
                for key in file:
                    out[key] = file[key][()]
