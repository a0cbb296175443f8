"""The container files: read as builders read them, and their steps run in a clean folder, as no engine is here."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from running import PROJECT

IMAGE = "/opt/verified"


def texts(name: str) -> list[str]:
    lines = (PROJECT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [line.split(" ", 1)[1] for line in lines if line.startswith(f"{name} ")]


PIP = """#!/bin/sh
echo "$@" >> {log}
case "$*" in *--report*) printf '{{"archive_info": {{"hashes": {{"sha256": "{sha256}"}}}}}}' > {report} ;; esac
"""
PYTHON = """#!/bin/sh
[ "$2" = venv ] && mkdir -p {venv}/bin && cp {bin}/pip {bin}/python {venv}/bin/
case "$*" in *importlib.metadata*) [ {version} = 2.0.0 ] || exit 1 ;; esac
exit 0
"""


@pytest.mark.parametrize(("version", "cuda"), [("2.0.0", True), ("2.0.0+cpu", False)])
def test_a_torch_with_cuda_gets_its_libraries_from_the_lock(tmp_path, version, cuda):
    """The recipe with a pip that notes what it is asked for: nothing of several gigabytes is installed."""
    lock = (PROJECT / "requirements.txt").read_text(encoding="utf-8")
    sha256 = re.search(r"^torch==.*?sha256:(\w+)", lock, re.DOTALL | re.MULTILINE)[1]
    for name in ("Makefile", "requirements.txt", "requirements-cuda.txt", "pyproject.toml"):
        shutil.copy(PROJECT / name, tmp_path)
    (tmp_path / "bin").mkdir()
    values = {"log": tmp_path / "log", "report": tmp_path / ".venv/torch.json", "sha256": sha256}
    values |= {"venv": tmp_path / ".venv", "bin": tmp_path / "bin", "version": version}
    for name, text in (("pip", PIP), ("python", PYTHON)):
        (tmp_path / "bin" / name).write_text(text.format(**values))
        (tmp_path / "bin" / name).chmod(0o755)
    make = ["make", "-C", str(tmp_path), "env", f"PYTHON={tmp_path / 'bin' / 'python'}", "VENV=.venv"]
    done = subprocess.run(make, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    installed = (tmp_path / "log").read_text().splitlines()
    locked = [line for line in installed if "--require-hashes" in line]
    assert [line.rpartition(" -r ")[2] for line in locked] == ["requirements.txt", *["requirements-cuda.txt"] * cuda]
    assert "--report" in installed[0] and "torch==" in installed[0] and installed[-1] == "check"


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_its_steps_build_the_environment_in_a_clean_folder(tmp_path):
    """All but the system's packages, which the machine that runs the tests has: the whole environment is installed."""
    image = tmp_path / "verified"
    ignored = (PROJECT / ".dockerignore").read_text(encoding="utf-8").split()
    left = [pattern.removeprefix("**/") for pattern in ignored]
    shutil.copytree(PROJECT, image, ignore=shutil.ignore_patterns(*left, ".git"))
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
