"""The benchmarks behind docs/measurements.md run at tiny sizes, and the page has a place for each table."""

import importlib.util
import re
import subprocess
import sys

import pytest
from running import PROJECT

BENCHMARKS = PROJECT / "benchmarks"
TOYS = """
import pathlib, runpy, sys
folder, kept, turns, *names = sys.argv[1:]
sys.path.insert(0, folder)
import sides
sides.KEPT = pathlib.Path(kept)
for name in names:
    print(f"# {name}", flush=True)
    sys.argv = [name, "--tiny", *turns.split()]
    try:
        runpy.run_path(f"{folder}/{name}.py", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
"""


@pytest.fixture(scope="module")
def command():
    spec = importlib.util.spec_from_file_location("benchmarks_main", BENCHMARKS / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_benchmarks_run(command, tmp_path):
    names = [name for name in command.RUNS if name != "features"]  # a ResNet takes seconds, whatever the size
    program = [sys.executable, "-c", TOYS, str(BENCHMARKS), str(tmp_path), "--turns 1", *names]
    run = subprocess.run(program, capture_output=True, text=True, cwd=PROJECT)
    assert run.returncode == 0, run.stderr
    tables = dict(part.split("\n", 1) for part in run.stdout.split("# ")[1:])
    assert list(tables) == names
    for name, table in tables.items():
        rows = cells(table.splitlines())[2:]
        assert rows, name
        for row in rows:
            assert len(row) == 8
            assert re.fullmatch(r"[\d.,]+ \w+", row[1]), row
            for rate, ratio in (row[3:5], row[6:8]):
                measured = re.fullmatch(r"[\d.,e+]+", rate) and re.fullmatch(r"[\d.]+", ratio)
                assert measured or rate == ratio == "–", row


def test_the_page_has_a_place_for_each_table(command):
    page = (PROJECT / "docs" / "measurements.md").read_text(encoding="utf-8")
    for name in command.RUNS | command.OTHERS:
        assert f"<!-- benchmarks/{name}.py -->\n" in page


@pytest.mark.slow
def test_tables_of_waits_intervals_and_a_gpu_are_made_on_any_device(command, tmp_path):
    program = [sys.executable, "-c", TOYS, str(BENCHMARKS), str(tmp_path), "", *command.OTHERS]
    run = subprocess.run(program, capture_output=True, text=True, cwd=PROJECT)
    assert run.returncode == 0, run.stderr
    waits, intervals, rows = (cells(part.splitlines())[2:] for part in re.split("\n# .*\n", run.stdout))
    assert len(waits) == 4 and all(float(cell) > 0 for row in waits for cell in row[1:])
    assert len(intervals) == 15 and all(float(cell) <= 100 for row in intervals for cell in row[:6])
    works = " ".join(row[0] for row in rows)
    for work in ("without", "bfloat16", "1 at once", "RoBERTa", "squidnet", "whole tensors"):
        assert work in works
    for _, rate, share, gigabytes in rows:
        assert re.fullmatch(r"[\d.,e+]+ \w+", rate), rate
        assert re.fullmatch(r"\d+\.\d\d|–", share) and float(gigabytes) >= 0


def cells(lines: list[str]) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
