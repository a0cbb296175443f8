"""docs/adding.md is followed to the letter in a copy of the project: its example becomes an engine."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from running import NANO, PROJECT

ASK = """
import sys
from verified.config.generation import Generation
from verified.lmm.session import Session
from verified.lmm.tasks.perturbations import POSITIVES
generation = Generation(llm={"engine": sys.argv[1], "model": "m"}, ledger="ledger.sqlite")
with Session(generation, 1, [POSITIVES]) as session:
    call = session.call(POSITIVES, {"caption": "a dog runs", "count": "3"}, 3)
    print(*session.ask(POSITIVES, [call], 1)[0].parsed.items, sep="|")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the project with the engine that docs/adding.md shows, added as it says."""
    folder = tmp_path_factory.mktemp("adding")
    for name in ("Snakefile", "config", "envs", "profiles", "report", "rules", "scripts"):
        (shutil.copytree if (PROJECT / name).is_dir() else shutil.copy)(PROJECT / name, folder / name)
    section = (PROJECT / "docs/adding.md").read_text().split("## An engine\n")[1].split("\n## ")[0]
    file, line = map(textwrap.dedent, re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    places = [folder / name for name in re.findall(r"`(scripts/verified/[\w/]+\.py)`", section)]
    places[0].with_name("echo.py").write_text(file)
    registry = places[1].read_text()
    places[1].write_text(re.sub(r"^(ENGINES\b.*\n)", rf"\g<1>    {line.strip()}\n", registry, flags=re.MULTILINE))
    written = run(folder, "-m", "verified", "config-docs")
    assert written.returncode == 0, written.stdout
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess:
    environment = {"PYTHONPATH": str(folder / "scripts"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_added_engine_answers_and_is_remembered(copy):
    for _ in range(2):
        asked = run(copy, "-c", ASK, "echo")
        assert asked.returncode == 0, asked.stdout
        assert asked.stdout.splitlines()[-1].split("|") == [f"a dog runs, once more, number {n}" for n in (1, 2, 3)]


def test_an_unknown_engine_is_refused_with_the_known_ones(copy):
    asked = run(copy, "-c", ASK, "ecko")
    assert asked.returncode
    assert all(f"'{name}'" in asked.stdout for name in ("echo", "scene-reader", "vllm")), asked.stdout


def test_a_run_with_the_added_engine_is_planned(copy):
    settings = yaml.safe_load(NANO.read_text())
    settings["generation"] = {**settings.get("generation", {}), "llm": {"engine": "echo", "model": "m"}}
    (copy / "mine.yaml").write_text(yaml.safe_dump(settings))
    planned = run(copy, "-m", "snakemake", "--dry-run", "--configfile", "mine.yaml")
    assert planned.returncode == 0, planned.stdout[-3000:]
    assert "write_perturbations" in planned.stdout
