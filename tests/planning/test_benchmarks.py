"""Sums of benchmark files and logs, and the longest road through them."""

import base64
import json

import pytest

from verified.errors import InputError
from verified.planning.benchmarks import describe, longest_road, resource_use, table

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def job(logs, place: str, seconds: str, megabytes: str, log: str = "") -> None:
    path = logs / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".tsv").write_text(f"{HEAD}{seconds}\t0:00:01\t{megabytes}\t1\t1\t1\t0\t0\t50\t{seconds}\n")
    path.with_suffix(".log").write_text(log)


def test_jobs_of_a_rule_are_summed(tmp_path):
    job(
        tmp_path,
        "demo/extract_keyframes/shard-00",
        "4.0",
        "100",
        "10:00:00 keyframes: 3/8 videos (38 %), 1/s\n10:00:04 keyframes: 8/8 videos (100 %), 2.0/s, done in 4 s\n",
    )
    job(
        tmp_path, "demo/extract_keyframes/shard-01", "1.0", "300", "keyframes: 2/2 videos (100 %), 2.0/s, done in 1 s\n"
    )
    job(tmp_path, "build_tables", "NA", "-")
    job(tmp_path, "somebody/elses", "9", "9")
    rows = resource_use(tmp_path)
    assert [(row.stage, row.rule, row.jobs) for row in rows] == [
        ("keyframes", "extract_keyframes", 2),
        ("tables", "build_tables", 1),
    ]
    assert (rows[0].seconds, rows[0].most_mb, rows[0].rate, rows[1].rate) == (5.0, 300.0, "2 videos/s", "")
    assert table(rows).splitlines()[-1] == "| all | | 3 | 5 | 5 | 300 | |"


def test_a_file_that_is_damaged_counts_for_what_can_be_read_of_it(tmp_path):
    job(tmp_path, "build_tables", "2.0", "100")
    for number, content in enumerate((b"s\tmax_rss\n\xff\xfe\t9\n", b"s\n" + b"9" * 200_000, b"")):
        place = tmp_path / f"extract_keyframes-{number}"
        place.mkdir()
        (place / "extract_keyframes.tsv").write_bytes(content)
    rows = {row.rule: row for row in resource_use(tmp_path)}
    assert rows["build_tables"].seconds == 2.0 and rows["extract_keyframes"].most_mb == 9.0


def test_nothing_measured_is_said_so(tmp_path):
    with pytest.raises(InputError, match="no benchmark files"):
        resource_use(tmp_path)


def note(folder, output: str, log: str, *inputs: str) -> None:
    """What Snakemake notes about an output; a long name is divided into folders."""
    name = base64.urlsafe_b64encode(output.encode()).decode()
    parts = [f"@{name[at : at + 200]}" for at in range(0, len(name) - 200, 200)] + [
        name[(len(name) - 1) // 200 * 200 :]
    ]
    path = folder.joinpath(".snakemake", "metadata", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"rule": "any", "log": [log] if log else [], "input": list(inputs)}))


def test_the_longest_road_is_the_chain_of_jobs_that_took_longest(tmp_path):
    took = {"render": 10, "probe/shard-00": 2, "probe/shard-01": 5, "train": 30, "test": 4, "count": 31, "link": 0.2}
    for place, seconds in took.items():
        job(tmp_path / "logs", place, str(seconds), "100")
    note(tmp_path, "results/videos", "logs/render.log", "given.csv")
    note(tmp_path, "results/probes-0", "logs/probe/shard-00.log", "results/videos/a.mp4")
    note(tmp_path, "results/probes-1", "logs/probe/shard-01.log", "results/videos")
    note(tmp_path, "results/link", "logs/link.log", "results/probes-1")
    note(tmp_path, "results/model", "logs/train.log", "results/link", "results/probes-0")
    note(tmp_path, f"results/{'long/' * 60}record", "logs/train.log", "results/link")
    note(tmp_path, "results/metrics", "logs/test.log", f"results/{'long/' * 60}record")
    note(tmp_path, "results/counts", "logs/count.log", "results/probes-0")
    note(tmp_path, "results/all", "", "results/metrics")
    note(tmp_path, "results/gone", "elsewhere/gone.log", "results/metrics")
    (tmp_path / ".snakemake" / "metadata" / "noise").write_bytes(b"\xff")
    road = longest_road(tmp_path / "logs")
    assert [path.stem for path, _ in road.jobs] == ["render", "shard-01", "link", "train", "test"]
    assert (road.seconds, road.all_seconds) == (49.2, 82.2)
    assert describe(road).splitlines()[0].endswith("1.7 jobs at a time do all the work")
    assert [line.split()[0] for line in describe(road).splitlines()[1:]] == ["10", "5", "30", "4"]


def test_notes_that_lead_in_a_circle_end(tmp_path):
    for place, other in (("a", "b"), ("b", "a")):
        job(tmp_path / "logs", place, "3", "1")
        note(tmp_path, f"results/{place}", f"logs/{place}.log", f"results/{other}")
    assert longest_road(tmp_path / "logs").all_seconds == 6


def test_without_notes_there_is_no_road(tmp_path):
    job(tmp_path / "logs", "build_tables", "3", "1")
    assert longest_road(tmp_path / "logs").jobs == []
