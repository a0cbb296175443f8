"""`verified compare` and `verified evaluate`: paired differences, groups of queries, and inputs of many forms."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest
from captioning import jpeg, make_tar
from given import fig
from refusals import refused, said
from whole_truths import published_files

from verified.__main__ import main
from verified.benchmark.comparison.compare import count_similar, difference, furthest_ahead, groups_of, groups_table
from verified.benchmark.comparison.runs import read_run
from verified.benchmark.submissions import Query, match, rows_by_id
from verified.cli.forms import read_ground_truth
from verified.io.jsonl import read_jsonl, write_jsonl

COUNT = 12
CAPTIONS = ("a red ball rolls & <stops>", "a dog runs", "a cat sleeps on a warm and very soft old sofa")


@pytest.fixture
def truth(tmp_path):
    """Twelve queries in four videos of 30 s; every third caption the same."""
    kinds = ("statics", "dynamics")
    rows = []
    for n in range(COUNT):
        said = {"fig_desc": CAPTIONS[n % 3], "fig_desc_type": kinds[n % 2]}
        rows.append(fig(n, f"v{n % 4}", float(n), n + 2.0 + n % 3, duration=30.0, **said))
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
    assert furthest_ahead(good, half) == [0, 2, 4, 6, 8]
    assert furthest_ahead(half, good) == [5]
    assert furthest_ahead(good, seeds) == [11, 1, 7, 2, 8], "the mean over trainings"


def test_captions_are_alike_only_to_those_of_other_videos():
    assert count_similar(["a dog runs"] * 3 + ["a cat"], ["v0", "v0", "v1", "v2"]).tolist() == [1, 1, 2, 0]
    queries = [Query(n, f"v{n}", 1, 2, "a dog runs" if n else "a cat") for n in range(7)]
    assert [(group.label, group.queries.sum()) for group in groups_of(queries)[-2:]] == [("none", 1), ("5 and more", 6)]


def test_the_command_writes_table_figure_and_page(runs, truth, tmp_path, capsys):
    archive = tmp_path / "keyframes" / "shard-00.tar"
    archive.parent.mkdir()
    make_tar(archive, [{"desc_id": 0, "video": "v0", "start": 0.5}], {0: [jpeg(0)]})
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


TVR = [
    {"desc_id": 1, "desc": "a", "vid_name": "v1", "ts": [30.0, 40.0], "duration": 60.0},
    {"desc_id": 2, "desc": "b", "vid_name": "v2", "ts": [10.0, 20.0], "duration": 60.0},
]


def written(path, rows):
    write_jsonl(path, rows)
    return path


def lists(path, *rows):
    entries = [{"desc_id": n, "predictions": each} for n, each in enumerate(rows, start=1)]
    path.write_text(json.dumps({"video2idx": {"v1": 0, "v2": 1}, "VCMR": entries, "SVMR": entries}))
    return path


def evaluated(capsys, *arguments):
    assert main(["evaluate", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("a 1 2##a dog runs.\n", ["charades-sta", "VCMR"]),
        ('{"video2idx": {"a": 0}, "vcmr": []}', ["'vcmr'", "VCMR"]),
        ("{}", ["no other key"]),
    ],
)
def test_other_forms_are_named_with_those_that_are_read(tmp_path, capsys, content, named):
    (tmp_path / "s").write_text(content)
    assert main(["evaluate", str(written(tmp_path / "truth.jsonl", TVR)), str(tmp_path / "s")]) == 2
    shown = capsys.readouterr().err
    assert all(part in shown for part in named), shown


ODD = [
    ([[40.0, 30.0]], [[20.0, 10.0]], ["2 of 2 spans end before they start"]),
    ([[35.0, 35.0]], [[10.0, 20.0]], ["1 of 2 spans have no length"]),
    ([[30.0, 61.5]], [[-2.0, 20.0]], ["2 of 2 spans leave their video, by up to 2.00 s"]),
    ([[0.5, 0.66]], [[0.16, 0.33]], ["fractions"]),
    ([[750, 1000]], [[250, 500]], ["2 of 2 spans leave their video", "frames"]),
    ([[15, 20]], [[5, 10]], ["indices of segments"]),
    ([[30.0, 40.0]], [[10, 60]], []),
]


@pytest.mark.parametrize(("first", "second", "named"), ODD)
def test_odd_spans_are_noted(tmp_path, capsys, first, second, named):
    truth = written(tmp_path / "truth.jsonl", TVR)
    moments = lists(
        tmp_path / "s.json", *([[n, *span, 0.9] for span in each] for n, each in enumerate((first, second)))
    )
    notes = [note for note in evaluated(capsys, truth, moments)["notes"] if "span" in note]
    assert [name for name in named if not any(name in note for note in notes)] == []
    assert bool(notes) == bool(named)


@pytest.mark.parametrize(("span", "named"), [([35.0, 35.0], "have no length"), ([40.0, 30.0], "end before they start")])
def test_a_true_span_that_none_can_find_is_noted(tmp_path, capsys, span, named):
    truth = written(tmp_path / "truth.jsonl", [{**TVR[0], "ts": span}, TVR[1]])
    found = evaluated(capsys, truth, lists(tmp_path / "s.json", [[0, *sorted(span), 0.9]], [[1, 10.0, 20.0, 0.9]]))
    assert found["SVMR"]["0.5-r1"] == 50.0
    assert any(f"1 of 2 true spans {named}" in note for note in found["notes"])


@pytest.mark.parametrize("name", ["charades.txt", "activitynet.json", "didemo.json"])
def test_windows_of_moments_count_as_lists_of_their_videos(tmp_path, capsys, name):
    published_files(tmp_path)
    truth, windows = tmp_path / name, tmp_path / "windows.jsonl"
    videos = {query.id: int(query.video[1:]) for query in read_ground_truth(truth).queries()}
    entries = [
        {"desc_id": row["qid"], "predictions": [[videos[row["qid"]], *span] for span in row["pred_relevant_windows"]]}
        for row in read_jsonl(windows)
    ]
    (tmp_path / "lists.json").write_text(json.dumps({"video2idx": {"v0": 0, "v1": 1}, "SVMR": entries}))
    of_windows, of_lists = (evaluated(capsys, truth, each) for each in (windows, tmp_path / "lists.json"))
    assert of_windows == of_lists and 0 < of_windows["further"]["SVMR"]["mIoU"] < 100
    command = ["compare", truth, f"w={windows}", f"l={tmp_path / 'lists.json'}", "--output", tmp_path / "out"]
    assert main([str(word) for word in command]) == 0
    with refused("--partial", file=windows):
        write_jsonl(windows, read_jsonl(windows)[1:])
        read_ground_truth(truth).answers(windows, None)


def test_rows_have_numbers_and_ids_and_whole_numbers_are_texts(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "x": 1}\n{"id": 7, "x": 2}\n{"id": "a", "x": 3}\n')
    rows = [(number, name, row["x"]) for number, name, row in rows_by_id(path, "id", ("x",), last_of_equal_ids=True)]
    assert rows == [(1, "a", 1), (2, "7", 2), (3, "a", 3)]
    with refused("a", file=path, row=3, remedy=True):
        list(rows_by_id(path, "id"))


def test_ids_must_be_the_same_unless_those_in_both_are_asked_for():
    given = {"b": 0, "x": 0, "a": 0}
    with refused("c", "x", "--partial", file="s.json", remedy=True):
        match(["c", "b", "a"], given, False, "s.json")
    found = match(["c", "b", "a"], given, True, "s.json", "questions", "row")
    assert (found.both, found.missing, found.unknown) == (["b", "a"], ["c"], ["x"])
    assert [note.partition(" ")[0] for note in found.notes] == ["1", "1"]
    assert match([1, 2], {1: 0, 2: 0}, False, "s.json").notes == []
