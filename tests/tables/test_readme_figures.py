"""README's figures: equal to the command's output, and compared with a run."""

import pandas as pd
import pytest
from running import PROJECT

from verified.__main__ import main
from verified.tables.layout import TITLES
from verified.tables.readme import COLUMNS, read_rows, readme_figures, readme_table, readme_verdicts
from verified.tables.write import TIDY


@pytest.fixture
def frame(tmp_path):
    noise = {"HERO": {"trainings": 1}, "XML": {"spread": 1.234, "trainings": 3}}
    known = {"table": "main-4", "value": 20.5, "low": 18, "high": 23}
    rows = [
        {**known, **noise[method], "method": method, "task": task, "metric": metric}
        for method in noise
        for task, metric in COLUMNS
    ]
    rows[7].update(value=None, low=None, high=None, spread=None)
    task = "XML trained on FIG; XML trained on COG; VCMR 0.5/r5"
    rows.append({"table": "gains", "task": task, "test": "FIG", "metric": "Gain", "value": 16, "low": 11, "high": 21})
    (tmp_path / "all.csv").write_text(pd.DataFrame(rows, columns=TIDY, dtype=object).to_csv(index=False))
    return tmp_path


def test_published_figures_can_be_compared_with_the_run(frame, capsys):
    assert main(["dev", "readme", str(frame)]) == 0
    printed = capsys.readouterr().out
    assert "| XML | 20.50 ±1.23 |" in printed and "| HERO | 20.50 |" in printed and "| – |" in printed
    assert "- XML trained on FIG; XML trained on COG; VCMR 0.5/r5: 16.0 [11.0, 21.0]" in printed
    assert len(readme_table(printed)) == 16
    (frame / "README.md").write_text(f"Text\n\n{printed}")
    assert main(["dev", "readme", str(frame), "--check", str(frame / "README.md")]) == 3
    assert "16 figures: 9 confirmed, 0 contradicted, 7 cannot tell" in capsys.readouterr().out  # HERO: one training


@pytest.mark.parametrize(
    "here, there, verdict",
    [
        ("1.23", "20.50 ±1.23", "confirmed"),
        ("1.23", "22.20 ±1.23", "confirmed"),  # 1.7 ± 2.776 * 1.23 * sqrt(2/3) = 2.79 points
        ("1.23", "23.00 ±1.23", "cannot tell"),
        ("1.23", "27.00 ±1.23", "cannot tell"),
        ("1.23", "29.00 ±1.23", "contradicted"),
        ("0.20", "20.50 ±6.00", "cannot tell"),  # wide noise on either side confirms nothing
        ("6.00", "20.50 ±0.20", "cannot tell"),
        ("6.00", "45.00 ±6.00", "contradicted"),
        ("", "20.50 ±0.20", "confirmed"),  # one training here: the README's noise is all that is known
        ("", "20.50 ±1.23", "cannot tell"),  # 4.303 * 1.23 * sqrt(1/3 + 1) = 6.11 points
        ("", "20.50", "cannot tell"),
    ],
)
def test_verdict_of_a_run_on_a_figure(here, there, verdict, frame):
    rows = read_rows(frame / "all.csv")
    row = next(row for row in rows if row["method"] == "XML")
    text = readme_figures(rows).replace("| XML | 20.50 ±1.23", f"| XML | {there}")
    row.update(spread=here, trainings="3" if here else "1")
    judged = next(one for one in readme_verdicts(text, rows) if one.name == "XML VCMR 0.5/r1")
    assert judged.verdict == verdict, judged.why


def test_readme_has_the_table_that_the_command_prints():
    shown = readme_table((PROJECT / "README.md").read_text(encoding="utf-8"))
    assert {method for method, _, _ in shown} == set(TITLES.values())
