"""Features that are given as files are held against annotations, by `verified check` and by training."""

import numpy as np
import pytest
from feature_settings import write_arrays
from planted import write_reader

from verified.config import read
from verified.features.files import feature_problems
from verified.io.jsonl import write_jsonl
from verified.planning.check_retrieval import released_findings

SECONDS, DIM = 20.0, 16


def clips(count=20):
    return np.ones((count, DIM), np.float32)


@pytest.fixture
def folder(tmp_path):
    """Annotations of three splits of one video each, with features that fit."""
    for number, split in enumerate(("train", "val", "test")):
        row = {"video": f"{split}0", "time": [2.0, 9.0], "desc_id": number, "duration": SECONDS, "cog_desc": "a door"}
        row |= {"fig_desc": "a red door", "fig_desc_score": 1.0}
        (tmp_path / "ann").mkdir(exist_ok=True)
        write_jsonl(tmp_path / "ann" / f"{split}.jsonl", [row])
    write_arrays(tmp_path / "feat/video.h5", {f"{split}0": clips() for split in ("train", "val", "test")}, dim=DIM)
    for captions in ("cog", "fig"):
        write_arrays(tmp_path / f"feat/text-{captions}.h5", {str(number): clips(4) for number in range(3)}, dim=DIM)
    (tmp_path / "c.yaml").write_text(
        f"""
name: own
datasets:
  own:
    title: Own
    source: {{kind: released, collection: own, splits: [train, val, test], released_dir: {tmp_path}/ann,
      features_dir: {tmp_path}/feat}}
    spans: {{clip_seconds: 1.0, min_pred_clips: 1, max_pred_clips: 8, max_context_clips: 48}}
retrieval: {{models: [xml]}}
"""
    )
    return tmp_path


def found(folder):
    return [(one.level, one.message) for one in released_findings(read(folder / "c.yaml"))]


def test_features_that_fit_are_said_to_fit(folder):
    assert [level for level, _ in found(folder)] == ["ok", "ok"]
    assert not [*feature_problems(folder / "feat/video.h5", {"train0": SECONDS}, 1.0, rows=3)], "the others count too"
    write_arrays(folder / "feat/sub.h5", {"train0": clips()}, dim=DIM)
    ((level, message),) = (one for one in found(folder) if "sub.h5" in one[1])
    assert (level, len(found(folder))) == ("note", 3) and message.endswith("no model reads it")


def test_videos_that_models_would_cut_are_counted(folder):
    text = (folder / "c.yaml").read_text()
    for most, expected in ((20, []), (19, ["3 of 3 videos are longer than 19 clips, and are cut"])):
        (folder / "c.yaml").write_text(text.replace("max_context_clips: 48", f"max_context_clips: {most}"))
        assert [message for level, message in found(folder) if level == "note"] == expected


def test_a_second_stream_is_checked_where_a_model_reads_it_and_else_refused_by_name(folder):
    def changed(*pairs):
        text = config
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (folder / "c.yaml").write_text(text)
        return [(level, message) for level, message in found(folder) if level != "ok"]

    config = (folder / "c.yaml").read_text()
    said = ("\n      features_dir", "\n      second_stream: true, features_dir")
    write_reader(folder / "subtitled.py")
    reading = ("[xml]", f"[xml, {folder}/subtitled.py]")
    ((level, message),) = changed(reading)
    assert level == "problem" and "subtitled reads a second stream" in message
    ((level, message),) = changed(said)
    assert level == "problem" and "datasets.own.source.second_stream" in message
    ((level, message),) = changed(said, reading)
    assert level == "problem" and message.endswith("feat/second.h5: no such file")
    counts = {"train0": 20, "val0": 19, "test0": 20}
    write_arrays(folder / "feat/second.h5", {key: clips(count)[:, :3] for key, count in counts.items()}, dim=3)
    ((level, message),) = changed(said, reading)
    assert level == "problem" and "'val0' has 19 clips here and 20" in message
    write_arrays(folder / "feat/second.h5", {key: clips()[:, :3] for key in counts}, dim=3)
    assert changed(said, reading) == []


@pytest.mark.parametrize("features", [True, False])
def test_a_moment_that_ends_before_it_starts_is_a_problem_of_its_row(folder, features):
    with (folder / "ann/train.jsonl").open("a") as rows:
        rows.write((folder / "ann/train.jsonl").read_text().replace("[2.0, 9.0]", "[20.9, 12.0]").replace(": 0", ": 7"))
    if not features:
        text = (folder / "c.yaml").read_text()
        (folder / "c.yaml").write_text(text.replace(f"features_dir: {folder}/feat", "features_dir: null"))
    ((level, message),) = found(folder)
    assert level == "problem" and "train.jsonl, row 2" in message and "[20.9, 12.0]" in message


ODD = {
    "twice the rate": (lambda: clips(40), {}, ["train0 (40 clips for 20.0 s, 20 expected)"]),
    "half of the video": (lambda: clips(10), {}, ["train0 (10 clips for 20.0 s, 20 expected)"]),
    "another rate": (clips, {"clip_seconds": 0.5}, ["clip_seconds 0.5"]),
    "transposed": (lambda: clips().T, {}, ["train0 [16, 20]"]),
    "four dimensions": (lambda: clips()[:, :, None, None], {}, ["train0 [20, 16, 1, 1]"]),
    "infinite": (lambda: clips() * np.inf, {}, ["not finite: train0"]),
}


@pytest.mark.parametrize(("values", "attributes", "named"), ODD.values(), ids=ODD)
def test_features_that_do_not_fit_are_named_before_a_run(folder, values, attributes, named):
    write_arrays(
        folder / "feat/video.h5", {"train0": values(), "val0": clips(), "test0": clips()}, dim=DIM, **attributes
    )
    ((level, message),) = (one for one in found(folder) if "video.h5" in one[1] and any(n in one[1] for n in named))
    assert level == "problem" and "val0" not in message


@pytest.mark.parametrize(
    ("key", "hint"), [("v_val0", "v_val0"), ("val0.mp4", "val0.mp4"), ("other", "no features of: val0")]
)
def test_an_id_that_is_not_there_is_named_with_the_one_meant(folder, key, hint):
    write_arrays(folder / "feat/video.h5", {key: clips(), "train0": clips(), "test0": clips()}, dim=DIM)
    _, (level, message) = found(folder)
    assert level == "problem" and hint in message


def test_a_missing_file_and_one_of_another_form_are_problems(folder):
    (folder / "feat/text-fig.h5").unlink()
    np.save(folder / "feat/x.npy", clips())
    (folder / "feat/x.npy").replace(folder / "feat/video.h5")
    problems = [message for level, message in found(folder) if level == "problem"]
    assert ["video.h5" in problems[0], "text-fig.h5" in problems[1], len(problems)] == [True, True, 2]
