"""The board: filled from a finished run, scored with intervals, and closed to submissions that cannot be scored."""

import csv
import gzip
import hashlib
import json

import h5py
import pytest
from refusals import said

from verified.__main__ import main

COUNT = 10


def lists(right):
    """A submission over ten queries in two videos; `right` says of a query whether its first rows are right."""
    tasks = {task: [] for task in ("VCMR", "SVMR", "VR")}
    for n in range(COUNT):
        right_span, other = [n % 2, 1.0, 4.0, 0.9], [1 - n % 2, 1.0, 4.0, 0.5]
        for task in tasks:
            wrong = [[n % 2, 8.0, 9.0, 0.6]] if task == "SVMR" else [other]
            tasks[task].append({"desc_id": n, "predictions": [right_span, *wrong] if right(n) else wrong})
    return gzip.compress(json.dumps({"video2idx": {"v0": 0, "v1": 1}, **tasks}).encode(), mtime=0)


@pytest.fixture
def run(tmp_path):
    """A finished run as far as the board reads it: two models, one with two seeds."""
    root = tmp_path / "results" / "demo"
    truth = root / "annotations" / "fig" / "test.jsonl"
    truth.parent.mkdir(parents=True)
    rows = [{"desc_id": n, "video": f"v{n % 2}", "time": [1.0, 4.0]} for n in range(COUNT)]
    truth.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (root / "features").mkdir()
    for name, backbone in (("video", "grid-conv"), ("text-fig", "all-MiniLM-L6-v2")):
        with h5py.File(root / "features" / f"{name}.h5", "w") as file:
            file.attrs["backbone"] = backbone
    digest = hashlib.sha256(truth.read_bytes()).hexdigest()
    for model, seed, right in (("xml", 1, lambda n: n < 5), ("xml", 2, lambda n: n < 7), ("hero", 1, lambda n: n < 2)):
        folder = root / "retrieval" / model / "fig" / f"seed-{seed}" / "fig"
        folder.mkdir(parents=True)
        (folder / "submission.json.gz").write_bytes(lists(right))
        facts = {"dataset": "demo", "model": model, "seed": seed, "split": "test", "nms_threshold": 0.6}
        facts["settings_sha256"] = "new"
        (folder / "metrics.json").write_text(json.dumps({**facts, "ground_truth_sha256": digest}))
    return root


@pytest.fixture
def board(run, tmp_path):
    folder = tmp_path / "submissions"
    assert main(["board-add", str(run), str(folder / "demo"), "--command", "make tables"]) == 0
    return folder


def test_a_run_fills_the_board_with_cards(board):
    card = json.loads((board / "demo" / "xml" / "card.json").read_text())
    assert card["seeds"] == [1, 2] and card["nms"] == 0.6 and card["command"] == "make tables"
    assert card["features"] == "grid-conv, all-MiniLM-L6-v2"
    names = sorted(path.name for path in (board / "demo" / "xml").iterdir())
    assert names == ["card.json", "seed-1.json.gz", "seed-2.json.gz"]


def test_the_board_is_ordered_and_means_run_over_seeds(board, tmp_path, capsys):
    assert main(["board", str(board), "--output", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "board-demo.csv").open() as text:
        rows = list(csv.DictReader(line for line in text if not line.startswith("# ")))
    assert [(row["Submission"], row["Seeds"], float(row["VCMR/0.5/r1"])) for row in rows] == [
        ("xml", "2", 60.0),
        ("hero", "1", 20.0),
    ]
    low, high = (float(rows[0][f"VCMR/0.5/r1 {side}"]) for side in ("low", "high"))
    assert 0 <= low < 60 < high <= 100
    assert "# board-demo: submissions on demo" in capsys.readouterr().out


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "../../x"},
        {"model": "/tmp/x"},
        {"model": ".."},
        {"model": ".hidden"},
        {"model": "a\x00b"},
        {"model": "x" * 300},
        {"model": ""},
        {"model": "\ud800"},
        {"model": 7},
        {"split": "../../../secret"},
        {"split": None},
        {"seed": "../1"},
        {"seed": True},
        {"seed": 3},
        {"dataset": ["demo"]},
        {"nms_threshold": "0.5"},
        {"ground_truth_sha256": 5},
    ],
)
def test_what_metrics_say_writes_nothing_outside_of_the_board(run, tmp_path, capsys, changed):
    for path in run.rglob("metrics.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    before = set(tmp_path.rglob("*"))
    assert main(["board-add", str(run), str(tmp_path / "submissions" / "demo")]) == 2
    said(capsys.readouterr().err, "metrics.json", remedy=True)
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("content", ["[]", "3", "{}", '{"model": "xml"}', "[" * 10000])
def test_metrics_that_say_too_little_are_refused(run, tmp_path, capsys, content):
    for path in run.rglob("metrics.json"):
        path.write_text(content)
    assert main(["board-add", str(run), str(tmp_path / "submissions" / "demo")]) == 2
    said(capsys.readouterr().err, "metrics.json")


def test_a_run_on_another_ground_truth_does_not_join(board, run, capsys):
    truth = board / "demo" / "truth.jsonl"
    truth.write_text(truth.read_text().replace("4.0", "5.0"))
    assert main(["board-add", str(run), str(board / "demo")]) == 2
    said(capsys.readouterr().err, truth, run / "annotations" / "fig" / "test.jsonl", remedy=True)


def test_a_run_with_fewer_seeds_takes_the_place_of_its_earlier_entry(board, run, tmp_path):
    (run / "retrieval" / "xml" / "fig" / "seed-2" / "fig" / "metrics.json").unlink()
    assert main(["board-add", str(run), str(board / "demo")]) == 0
    assert sorted(path.name for path in (board / "demo" / "xml").iterdir()) == ["card.json", "seed-1.json.gz"]
    assert main(["board", str(board), "--output", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("now, before", [('"nms_threshold": 0.6', '"nms_threshold": 0.5'), ('"new"', '"old"')])
def test_trainings_of_different_settings_are_no_entry(now, before, run, tmp_path, capsys):
    metrics = run / "retrieval" / "xml" / "fig" / "seed-2" / "fig" / "metrics.json"
    metrics.write_text(metrics.read_text().replace(now, before))
    assert main(["board-add", str(run), str(tmp_path / "submissions" / "demo")]) == 2
    said(capsys.readouterr().err, metrics, remedy=True)
    assert not (tmp_path / "submissions").exists()


def test_a_data_set_whose_name_makes_no_file_name_is_named(board, tmp_path, capsys):
    (board / "demo").rename(board / "my data")
    assert main(["board", str(board), "--output", str(tmp_path / "out")]) == 2
    said(capsys.readouterr().err, board / "my data", "name", remedy=True)


def test_a_run_whose_annotations_changed_since_its_test_does_not_join(run, tmp_path, capsys):
    truth = run / "annotations" / "fig" / "test.jsonl"
    truth.write_text(truth.read_text().replace("4.0", "5.0"))
    assert main(["board-add", str(run), str(tmp_path / "submissions" / "demo")]) == 2
    said(capsys.readouterr().err, "metrics.json", "truth", remedy=True)


def test_an_empty_run_and_an_empty_board_are_named(tmp_path, capsys):
    assert main(["board-add", str(tmp_path), str(tmp_path / "submissions")]) == 2
    said(capsys.readouterr().err, tmp_path, "model", remedy=True)
    assert main(["board", str(tmp_path / "none")]) == 2
    said(capsys.readouterr().err, tmp_path / "none", "data set", remedy=True)


def changed_card(**values):
    def change(folder):
        card = json.loads((folder / "card.json").read_text())
        card.update(values)
        (folder / "card.json").write_text(json.dumps({key: value for key, value in card.items() if value != "drop"}))

    return change


def shortened(folder):
    document = json.loads(gzip.decompress((folder / "seed-1.json.gz").read_bytes()))
    document["VCMR"].pop()
    (folder / "seed-1.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))


def without_svmr(folder):
    document = json.loads(gzip.decompress((folder / "seed-1.json.gz").read_bytes()))
    del document["SVMR"]
    (folder / "seed-1.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))


@pytest.mark.parametrize(
    ("change", "file", "named"),
    [
        (changed_card(commit="drop"), "card.json", "commit"),
        (changed_card(prize="first"), "card.json", "model"),
        (changed_card(model=" "), "card.json", "'model'"),
        (changed_card(seeds=[]), "card.json", "'seeds'"),
        (changed_card(seeds=[1, 1]), "card.json", "'seeds'"),
        (changed_card(seeds=[1, 2, 3]), "seed-3.json.gz", "card"),
        (changed_card(seeds=[1]), "xml", "seed-2.json.gz"),
        (changed_card(nms=7), "card.json", "'nms'"),
        (shortened, "seed-1.json.gz", "desc_id 9"),
        (without_svmr, "seed-1.json.gz", "SVMR"),
        (lambda folder: (folder / "seed-1.json.gz").write_bytes(b"\x1f\x8bno"), "seed-1.json.gz", "gzip"),
        (lambda folder: (folder / "card.json").unlink(), "card.json", "card.json"),
    ],
)
def test_a_submission_that_cannot_be_scored_is_refused_by_name(change, file, named, board, tmp_path, capsys):
    change(board / "demo" / "xml")
    assert main(["board", str(board), "--output", str(tmp_path / "out")]) == 2
    said(capsys.readouterr().err, "xml", file, named)
