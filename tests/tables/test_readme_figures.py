"""README's figures: what the command prints is what README holds, and is held to a run's intervals."""

import pandas as pd
import pytest
from running import PROJECT

from verified.__main__ import main
from verified.tables.layout import TITLES
from verified.tables.readme import COLUMNS, read_rows, readme_figures, readme_problems, readme_table
from verified.tables.write import TIDY


@pytest.fixture
def frame(tmp_path):
    rows = [
        {
            "table": "main-4",
            "method": method,
            "task": task,
            "metric": metric,
            "value": 20.5,
            "low": 18,
            "high": 23,
            "spread": 1.234 if method == "XML" else None,
        }
        for method in ("HERO", "XML")
        for task, metric in COLUMNS
    ]
    rows[7].update(value=None, low=None, high=None, spread=None)
    task = "XML trained on FIG; XML trained on COG; VCMR 0.5/r5"
    rows.append({"table": "gains", "task": task, "test": "FIG", "metric": "Gain", "value": 16, "low": 11, "high": 21})
    (tmp_path / "all.csv").write_text("# a comment\n" + pd.DataFrame(rows, columns=TIDY).to_csv(index=False))
    return tmp_path


def test_what_is_printed_is_what_can_be_held_to_the_run(frame, capsys):
    assert main(["tables", "readme", str(frame)]) == 0
    printed = capsys.readouterr().out
    assert "| XML | 20.50 ±1.23 |" in printed and "| HERO | 20.50 |" in printed and "| – |" in printed
    assert "- XML trained on FIG; XML trained on COG; VCMR 0.5/r5: 16.0 [11.0, 21.0]" in printed
    assert len(readme_table(printed)) == 16
    (frame / "README.md").write_text(f"Text\n\n{printed}")
    assert main(["tables", "readme", str(frame), "--check", str(frame / "README.md")]) == 0
    assert "confirms all 16 figures" in capsys.readouterr().out


def test_a_figure_outside_the_interval_is_named(frame, capsys):
    text = readme_figures(read_rows(frame / "all.csv")).replace("| HERO | 20.50", "| HERO | 25.00")
    (frame / "README.md").write_text(text)
    assert main(["tables", "readme", str(frame), "--check", str(frame / "README.md")]) == 1
    assert "HERO VCMR 0.5/r1: 25.00 there, 20.50 [18.0, 23.0] here" in capsys.readouterr().out
    assert readme_problems(text.replace("HERO", "Other"), read_rows(frame / "all.csv"))[0].endswith("not in this run")


@pytest.mark.parametrize(
    "method, cell, fits",
    [
        ("HERO", "25.00", False),
        ("HERO", "25.00 ±0.90", False),  # one training here: 4.303 * 0.9 * sqrt(1/3 + 1) = 4.47 points
        ("HERO", "25.00 ±0.91", True),
        ("XML", "25.00 ±1.20", False),  # three trainings here: 4.303 * 1.2 * sqrt(1/3 + 1/3) = 4.22 points
        ("XML", "25.00 ±1.29", True),
    ],
)
def test_a_spread_over_trainings_says_how_far_another_run_may_be(method, cell, fits, frame):
    rows = read_rows(frame / "all.csv")
    lines = readme_figures(rows).splitlines()
    number = next(number for number, line in enumerate(lines) if line.startswith(f"| {method} "))
    lines[number] = lines[number].replace("20.50 ±1.23" if method == "XML" else "20.50", cell, 1)
    assert (readme_problems("\n".join(lines), rows) == []) == fits


@pytest.mark.parametrize("change", [("20.50", "twenty"), ("| 20.50 ", "")])
def test_a_table_of_another_form_is_refused(change, frame, capsys):
    text = readme_figures(read_rows(frame / "all.csv")).replace(*change)
    (frame / "README.md").write_text(text)
    assert main(["tables", "readme", str(frame), "--check", str(frame / "README.md")]) == 2
    assert main(["tables", "readme", str(frame / "none")]) == 2
    assert "build the tables first" in capsys.readouterr().err


def test_readme_has_the_table_that_the_command_prints():
    shown = readme_table((PROJECT / "README.md").read_text(encoding="utf-8"))
    assert {method for method, _, _ in shown} == set(TITLES.values())
