"""Sums of benchmark files and logs."""

import pytest

from verified.errors import InputError
from verified.planning.benchmarks import resource_use, table

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
