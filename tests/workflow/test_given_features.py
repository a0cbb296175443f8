"""The benchmark from annotations and feature files alone, as with the authors' archives: no video is read."""

import json
import re
import shutil

import h5py
import numpy as np
import pytest
from feature_settings import write_arrays
from pages.material import MORE
from planted import VIDEO_DIM, write_highlights, write_reader
from running import PROJECT, ended_well

from verified.benchmark.vcmr.checkpoint import FORM
from verified.benchmark.vcmr.evaluate import evaluate_files
from verified.nn import checkpoint

OTHERS = """    late_interaction: {epochs: 1}
    subtitled: {steps: 3}
    conquer: {steps: 2, batch: 4, negatives: 2, options: {hidden: 24, heads: 2, feed_forward: 36, score_channels: 12}}
"""


@pytest.mark.slow
def test_queries_with_several_windows_and_one_kind_of_caption(tmp_path):
    """As the page says: each window of a query is learnt from, any is right; fine captions are not asked for.

    So are a model of one's own, one that works on XML's list, and one that reads a second stream.
    """
    write_highlights(tmp_path / "mine")
    with h5py.File(tmp_path / "mine" / "video.h5") as video:
        said = {key: np.random.default_rng(8).normal(size=(len(video[key]), 7)) for key in video}
    write_arrays(tmp_path / "mine" / "second.h5", said)
    shutil.copytree(PROJECT / "tests" / "models", tmp_path / "models")
    page = (PROJECT / "docs" / "given.md").read_text(encoding="utf-8")
    shown = re.search(r"```yaml\n(name: given\n.*?)```", page, re.DOTALL)
    models = "[xml, reloclnet, conquer, models/late_interaction.py, models/subtitled.py]"
    write_reader(tmp_path / "models" / "subtitled.py")
    text = shown[1].replace("[xml, reloclnet]", models).replace("_dir: mine}", "_dir: mine, second_stream: true}")
    (tmp_path / "given.yaml").write_text(text + MORE["given.yaml"] + OTHERS)
    ended_well(tmp_path, "--cores", "2", "results/tables", "report_items", config=tmp_path / "given.yaml")
    base = tmp_path / "results" / "given" / "mine"
    trained = [path.relative_to(base).parts[1:3] for path in base.rglob("checkpoint.safetensors")]
    names = ("conquer", "late_interaction", "reloclnet", "subtitled", "xml")
    assert sorted(trained) == [(name, "cog") for name in names]
    for path in base.rglob("checkpoint.safetensors"):
        config, second = checkpoint.load(path, FORM)[1]["config"], 7 if "subtitled" in path.parts else 0
        assert (config["video_dim"], config["second_dim"]) == (VIDEO_DIM + second, second)
    tested = base / "retrieval" / "xml" / "cog" / "seed-2018" / "cog"
    metrics = json.loads((tested / "metrics.json").read_text())
    truth, submission = base / "annotations" / "cog" / "val.jsonl", tested / "submission.json.gz"
    for task, values in evaluate_files(truth, submission, nms_threshold=0.6).metrics.items():
        assert values == {name: metrics["metrics"][task][name.replace("-", "/")] for name in values}, task
    page = (tmp_path / "results" / "tables" / "main-4.md").read_text()
    titles = ("XML", "ReLoCLNet", "CONQUER", "Late interaction", "subtitled")
    assert all(f"| Mine | {title} | " in page for title in titles)
    assert "VCMR of CONQUER rests on XML's list" in page and "– Mine: Late interaction only ranks videos." in page
    assert "was not trained" not in page
    front = (tmp_path / "results" / "given" / "report" / "summary.html").read_text()
    assert "<b>Coarse captions alone</b>" in front and "<b>5 retrieval models</b>" in front
    assert "CONQUER: COG " in front and (base / "figures" / "clusters.svg").is_file()
