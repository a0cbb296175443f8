"""The container file: read as a builder reads it, and its steps run in a clean folder, for no engine builds it here."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from running import PROJECT

IMAGE = "/opt/verified"


def instructions() -> list[tuple[str, str]]:
    """(instruction, its text) of the container file."""
    lines = (PROJECT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


def texts(name: str) -> list[str]:
    return [text for instruction, text in instructions() if instruction == name]


def ignored() -> list[str]:
    return (PROJECT / ".dockerignore").read_text(encoding="utf-8").split()


def test_it_has_the_form_that_engines_read():
    names = [name for name, _ in instructions()]
    assert names[0] == "FROM" and names.count("FROM") == 1
    assert set(names) <= {"FROM", "RUN", "COPY", "ARG", "ENV", "WORKDIR", "CMD"}
    assert names.index("ARG") < next(i for i, (_, text) in enumerate(instructions()) if "$TORCH_INDEX" in text)
    assert json.loads(texts("CMD")[0])[0] == "verified"


def test_its_python_is_one_that_the_package_allows():
    (version,) = re.findall(r"^python:(\d+\.\d+)-", texts("FROM")[0])
    (allowed,) = re.findall(
        r'^requires-python = "(.+)"$', (PROJECT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    assert version in SpecifierSet(allowed)
    assert any(f"PYTHON=python{version}" in step for step in texts("RUN"))


def test_nothing_that_was_built_goes_into_the_image():
    unwanted = [line.strip("/") for line in (PROJECT / ".gitignore").read_text(encoding="utf-8").split()]
    known = {"board", "comparison", "benchmarks/results"}  # of the user's own making, small
    assert set(unwanted) - known <= {pattern.removeprefix("**/") for pattern in ignored()}


def test_the_catalogue_names_it():
    catalogue = yaml.safe_load((PROJECT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))
    assert "Containerfile" in catalogue["usage"]["mandatory-flags"]["desc"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_its_steps_build_the_environment_in_a_clean_folder(tmp_path):
    """All but the system's packages, which the machine that runs the tests has: the whole environment is installed."""
    image = tmp_path / "verified"
    left = [pattern.removeprefix("**/") for pattern in ignored()]
    shutil.copytree(
        PROJECT,
        image,
        ignore=lambda _, names: [n for n in names if any(fnmatch.fnmatch(n, p) for p in [*left, ".git"])],
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("VENV", "PYTHONPATH")}
    steps = [step.replace(IMAGE, str(image)) for step in texts("RUN") if not step.startswith("apt-get")]
    assert len(steps) == len(texts("RUN")) - 1
    for step in steps:
        subprocess.run(["bash", "-c", step], cwd=tmp_path, env={**environment, "TORCH_INDEX": ""}, check=True)
    command = json.loads(texts("CMD")[0])
    path = texts("ENV")[0].partition("=")[2].strip('"').replace(IMAGE, str(image))
    environment["PATH"] = path.replace("$PATH", environment["PATH"])
    shown = subprocess.run(["which", command[0]], env=environment, capture_output=True, text=True, check=True)
    assert Path(shown.stdout.strip()).is_relative_to(image)
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
