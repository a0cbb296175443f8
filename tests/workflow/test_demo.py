"""The main job as README.md gives it: the demo, in the project's own folder."""

import csv
import sys

import pytest
from running import PROJECT, printed

from verified.tables.readme import CONTRADICTED, TABLE, read_rows, readme_verdicts


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_the_main_job_builds_the_demo():
    printed([sys.executable, "-m", "snakemake", "--cores", "all", "results/tables"], PROJECT)
    with (PROJECT / "results" / "tables" / "validity.csv").open(encoding="utf-8", newline="") as lines:
        checks = list(csv.DictReader(lines))
    assert checks
    # Aims may be missed and are then reported as such; a value that could not be measured at all is a defect.
    assert all(check["Value"] != "–" for check in checks)
    # README prints three trainings of each model: the single ones of this machine's run contradict none of them.
    rows = read_rows(PROJECT / "results" / "tables" / "all.csv")
    recalls = [row for row in rows if row["table"] == TABLE and row["value"]]
    assert recalls and {row["trainings"] for row in recalls} == {"1"}
    assert "one training of each model" in (PROJECT / "results" / "tables" / "main-4.md").read_text(encoding="utf-8")
    verdicts = readme_verdicts((PROJECT / "README.md").read_text(encoding="utf-8"), rows)
    assert [verdict for verdict in verdicts if verdict.verdict == CONTRADICTED] == []
