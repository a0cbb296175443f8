"""`verified compare`: paired differences, groups of queries, the queries that differ most, and refused inputs."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest
from captioning import tar_of
from given import fig
from refusals import refused, said

from verified.__main__ import main
from verified.benchmark.comparison.compare import count_similar, difference, groups_of, groups_table, most_different
from verified.benchmark.comparison.runs import read_run
from verified.benchmark.submissions import Query
from verified.cli.forms import read_ground_truth
from verified.keyframes.extract import encode_jpeg

COUNT = 12
CAPTIONS = ("a red ball rolls & <stops>", "a dog runs", "a cat sleeps on a warm and very soft old sofa")


@pytest.fixture
def truth(tmp_path):
    """Twelve queries in four videos of 30 s; every third caption the same."""
    kinds = ("statics", "dynamics")
    rows = [
        fig(
            n,
            f"v{n % 4}",
            float(n),
            n + 2.0 + n % 3,
            duration=30.0,
            fig_desc=CAPTIONS[n % 3],
            fig_desc_type=kinds[n % 2],
        )
        for n in range(COUNT)
    ]
    path = tmp_path / "truth.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def submission(path, truth, rank_of):
    """A submission whose list holds the true span, lengthened to a tIoU of 0.625, at rank_of(desc_id), counted from 0,
    among spans of other videos."""
    lists = []
    for line in truth.read_text().splitlines():
        row = json.loads(line)
        true_video = int(row["video"][1:])
        rows = [[(true_video + 1) % 4, 0.0, 1.0 + n, 1.0 - n / 10] for n in range(4)]
        rank = rank_of(row["desc_id"])
        if rank is not None:
            start, end = row["time"]
            rows.insert(rank, [true_video, start, start + 1.6 * (end - start), 0.95])
        lists.append({"desc_id": row["desc_id"], "predictions": rows})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"video2idx": {f"v{n}": n for n in range(4)}, "VCMR": lists, "VR": lists}))
    return path


@pytest.fixture
def runs(tmp_path, truth):
    """One model is right first in all queries but one, the other in every other query; another one has two seeds."""
    good = submission(tmp_path / "good.json", truth, lambda n: None if n == 5 else 0)
    half = submission(tmp_path / "half.json", truth, lambda n: 0 if n % 2 else 3)
    seeds = tmp_path / "results" / "demo" / "retrieval" / "xml" / "fig"
    for seed in (1, 2):
        submission(seeds / f"seed-{seed}" / "fig" / "submission.json.gz", truth, lambda n, seed=seed: n % (seed + 1))
    return good, half, seeds


def both(runs, truth):
    known = read_ground_truth(truth)
    return [read_run(str(run), known, known.queries(), "fig", None) for run in runs]


def test_wins_losses_and_the_difference_are_those_of_the_queries(runs, truth):
    good, half, seeds = both(runs, truth)
    result = difference(good, half, "VCMR/0.5/r1", np.ones(COUNT, dtype=bool))
    assert (result.wins, result.losses, result.equal) == (6, 1, 5)
    assert (round(result.first, 2), round(result.second, 2)) == (91.67, 50.0)
    assert round(result.value, 2) == 41.67 and result.low < 41.67 < result.high
    whole = SimpleNamespace(by="caption", label="any", queries=np.ones(COUNT, dtype=bool))
    shown = groups_table([good, half], "VCMR/0.5/r1", [whole])
    assert "fewer than 10 videos" in shown.notes[-1], "of twelve queries"
    assert (seeds.name, len(seeds.files)) == ("xml fig", 2)
    assert seeds.values["VCMR/0.5/r1"].shape == (2, COUNT)


def test_the_queries_that_differ_most_are_named_in_both_directions(runs, truth):
    good, half, seeds = both(runs, truth)
    ahead, behind = most_different(good, half)
    assert ahead == [0, 2, 4, 6, 8] and behind == [5]
    assert most_different(half, good) == (behind, ahead)
    assert most_different(good, seeds)[0] == [11, 1, 7, 2, 8], "the mean over trainings"


def test_captions_are_alike_only_to_those_of_other_videos():
    assert count_similar(["a dog runs"] * 3 + ["a cat"], ["v0", "v0", "v1", "v2"]).tolist() == [1, 1, 2, 0]
    queries = [Query(n, f"v{n}", 1, 2, "a dog runs" if n else "a cat") for n in range(7)]
    assert [(group.label, group.queries.sum()) for group in groups_of(queries)[-2:]] == [("none", 1), ("5 and more", 6)]


def test_the_command_writes_table_figure_and_page(runs, truth, tmp_path, capsys):
    archive = tmp_path / "keyframes" / "shard-00.tar"
    archive.parent.mkdir()
    index = json.dumps({"desc_id": 0, "keyframes": [{"time": 1.0, "file": "0.jpg"}]}).encode()
    tar_of(archive, {"index.jsonl": index, "0.jpg": encode_jpeg(np.zeros((8, 8, 3), np.uint8))})
    truth.write_text(truth.read_text().replace('"statics"', '"$odd^"').replace('"dynamics"', '["x"]', 1))
    out = tmp_path / "out"
    arguments = [str(truth), str(runs[0]), f"other={runs[1]}", "--output", str(out)]
    assert main(["compare", *arguments, "--keyframes", str(archive.parent)]) == 0
    printed = capsys.readouterr().out
    assert "| good | other | VCMR 0.5/r1 | 91.67 | 50.00 | 41.67 [" in printed
    assert printed.index("| good | 1 | 91.67") < printed.index("| other | 1 | 50.00")
    with (out / "comparison-groups.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert {row["By"] for row in rows} >= {"caption", "length of the moment", "position in the video"}
    thirds = [(row["Queries"], row["Number"]) for row in rows if row["By"] == "length of the moment"]
    assert thirds == [("up to 2 s", "4"), ("over 2 up to 3 s", "4"), ("over 3 s", "4")], "moments of 2, 3 and 4 s"
    thirds = [(row["Queries"], row["Number"]) for row in rows if row["By"] == "position in the video"]
    assert thirds == [("first third", "8"), ("middle third", "4")], "of the moment's middle"
    page = (out / "index.html").read_text()
    assert "a red ball rolls &amp; &lt;stops&gt;" in page and page.count("data:image/jpeg") == 1
    assert "right span at rank 1" in page and "right span at not among 100" in page
    assert page.count('class="single"') == len(rows) and "<h3>good minus other ¹</h3>" in page, "drawn in the page"
    assert "over trainings" not in printed.replace("mean over trainings", ""), "single trainings have no such interval"
    assert (out / "comparison-groups.svg").stat().st_size > 1000


def test_a_folder_of_submissions_is_scored_best_first(runs, truth, tmp_path, capsys):
    """A file is a run, a folder of them is a run of several trainings; whatever lies beside is no run."""
    folder = tmp_path / "submissions"
    submission(folder / "alternate.json", truth, lambda n: 0 if n % 2 else 3)
    for seed in (1, 2):
        submission(folder / "good" / f"seed-{seed}.json", truth, lambda n: None if n == 5 else 0)
    (folder / "README.md").write_text("ours")
    assert main(["compare", str(truth), str(folder), "--output", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "scores.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["Run"], row["Trainings"], round(float(row["VCMR/0.5/r1"]), 2)) for row in rows] == [
        ("good", "2", 91.67),
        ("alternate", "1", 50.0),
    ]
    submission(folder / "good" / "seed-2.json", truth, lambda n: 0).write_text("{")
    assert main(["compare", str(truth), str(folder), "--output", str(tmp_path / "out")]) == 2
    said(capsys.readouterr().err, "seed-2.json")


def test_tests_on_other_captions_have_to_be_asked_for(runs, truth, tmp_path, capsys):
    (runs[2] / "seed-1" / "fig").rename(runs[2] / "seed-1" / "cog")
    assert [path.parent.parent.name for path in both(runs, truth)[2].files] == ["seed-2"]
    folder, output = str(runs[2] / "seed-1"), str(tmp_path / "out")
    compare = ["compare", str(truth), folder, f"again={folder}", "--output", output]
    assert main(compare) == 2
    said(capsys.readouterr().err, "seed-1", "--tested-on cog")
    assert main([*compare, "--tested-on", "cog"]) == 0


def test_trainings_that_an_earlier_configuration_left_are_refused_by_name(runs, truth):
    kept = {seed: runs[2] / f"seed-{seed}" / "fig" / "metrics.json" for seed in (1, 2)}
    known = {"dataset": "demo", "model": "xml", "ground_truth_sha256": "a", "settings_sha256": "a"}
    for path in kept.values():
        path.write_text(json.dumps(known))
    assert len(both(runs, truth)[2].files) == 2
    for change, why in (({"ground_truth_sha256": "b"}, "annotations"), ({"settings_sha256": "b"}, "other settings")):
        kept[2].write_text(json.dumps(known | change))
        with refused(why, "seed-1", file=kept[2], remedy=True):
            both(runs, truth)
