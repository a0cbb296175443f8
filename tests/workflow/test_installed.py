"""The package without a checkout: a source archive and a wheel of it, installed into an environment of its own."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from running import PROJECT

pytestmark = pytest.mark.night

BUILT_FROM = ("Snakefile", "rules", "scripts", "envs", "report", "config", "profiles", "extensions")
OWN = (*BUILT_FROM, "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
OWN += ("requirements.in", "requirements-dev.in", "requirements-text.in")
LEFT = shutil.ignore_patterns("__pycache__", "*.egg-info")


def run(command: list[str], folder: Path, status: int = 0) -> str:
    """Standard output of a command that ends with `status`, in a folder outside any checkout."""
    ended = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert ended.returncode == status, (ended.stdout + ended.stderr)[-4000:]
    assert "Traceback" not in ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Folder of the commands of an environment with the wheel; libraries come from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("installed")
    tree = folder / "tree"
    tree.mkdir()
    for name in OWN:
        (shutil.copytree if (PROJECT / name).is_dir() else shutil.copy)(
            PROJECT / name, tree / name, **({"ignore": LEFT} if (PROJECT / name).is_dir() else {})
        )
    archive = "import setuptools.build_meta as build; build.build_sdist('../archive')"
    run([sys.executable, "-c", archive], tree)
    (sdist,) = (folder / "archive").glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(
        [*pip, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", folder / "wheel", sdist],
        folder,
    )
    (wheel,) = (folder / "wheel").glob("*.whl")
    environment = folder / "environment"
    run([sys.executable, "-m", "venv", "--without-pip", environment], folder)
    python = environment / "bin" / "python"
    run([*pip, "--python", python, "install", "--no-index", "--no-deps", wheel], folder)
    packages = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip()
    # Python reads no .pth files in folders that a .pth file names: an editable installation there stays out of sight.
    Path(packages, "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    found = run([python, "-c", "import verified; print(verified.__file__)"], folder).strip()
    assert Path(found).is_relative_to(packages)
    return environment / "bin"


@pytest.fixture(scope="module")
def carried(installed, tmp_path_factory) -> Path:
    return Path(run([installed / "verified", "dev", "where"], tmp_path_factory.mktemp("where")).strip())


def test_the_package_carries_the_workflow_as_it_is(carried):
    def files(root: Path, part: str) -> dict[str, bytes]:
        base = root / part
        listed = [base] if base.is_file() else [path for path in base.rglob("*") if path.is_file()]
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in listed
            if not {"__pycache__", "verified", "tests"} & set(path.parts[len(root.parts) :])
            and ".egg-info" not in str(path)
        }

    for part in BUILT_FROM:
        assert files(carried, part) == files(PROJECT, part), part


def test_the_workflow_runs_from_the_package(installed, carried, tmp_path):
    rendered = "results/nano/corpus/rendered.jsonl"
    snakemake = [installed / "python", "-m", "snakemake", "--scheduler", "greedy", "--cores", "1"]
    files = ["--snakefile", carried / "Snakefile", "--configfile", carried / "config" / "nano.yaml"]
    run([*snakemake, *files, "--", rendered], tmp_path)
    assert (tmp_path / rendered).is_file()
