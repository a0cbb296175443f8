"""The lock: complete, pinned, hashed, with all builds of torch, and what the code imports is asked for by name."""

import ast
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

import pytest
from locks import entries, locked, version_of
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from running import PROJECT

LOCKS = ("requirements.txt", "requirements-cuda.txt")
OPTIONAL = {
    "decord": "a second reader of videos, for who installs it",
    "rapidocr": "what reads text in pictures, for who installs requirements-text.in",
    "vllm": "an engine with an environment of its own",
}


def asked(name: str) -> dict[str, str]:
    """Package → version, of a file that is edited by hand."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): version_of(requirement) for requirement in requirements}


@pytest.mark.parametrize("name", LOCKS)
def test_every_file_is_pinned_and_hashed_and_names_no_address(name):
    assert all(hashes for _, hashes in entries(name).values())
    assert locked(name)
    assert not re.search(r"://|--(?:extra-)?index|--find-links", (PROJECT / name).read_text(encoding="utf-8"))


def test_actions_of_others_are_pinned_by_digest():
    """A tag can be moved to other code; what runs with the project's rights is named by its commit."""
    workflows = sorted((PROJECT / ".github" / "workflows").iterdir())
    used = [line for path in workflows for line in re.findall(r"uses:\s*([^.\s].+)", path.read_text(encoding="utf-8"))]
    assert used and all(re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in used), used


@pytest.mark.parametrize("name", ["requirements.in", "requirements-dev.in"])
def test_the_lock_holds_what_is_asked_for(name):
    assert asked(name).items() <= locked("requirements.txt").items()


def test_torch_comes_in_its_cpu_builds_and_in_those_of_pypi():
    requirement, hashes = entries("requirements.txt")["torch"]
    assert str(requirement.specifier) == "==2.13.0"
    rows = [line.split() for line in (PROJECT / "envs" / "torch-cpu.sha256").read_text(encoding="utf-8").splitlines()]
    cpu = {digest for digest, _ in rows}
    assert cpu < hashes
    assert all(name.startswith("torch-2.13.0+cpu-") for _, name in rows)
    # CUDA's libraries would be gigabytes for everybody: they stand apart, and nothing stands in both.
    assert not locked(LOCKS[0]).keys() & locked(LOCKS[1]).keys()
    assert any(package.startswith("nvidia-") for package in locked(LOCKS[1]))
    assert not [package for package in locked(LOCKS[0]) if package.startswith("nvidia-")]


def test_this_environment_is_the_locked_one():
    for package, (requirement, _) in entries("requirements.txt").items():
        if requirement.marker is None or requirement.marker.evaluate():
            assert version(package).partition("+")[0] == version_of(requirement)


def test_the_lock_is_written_from_what_was_resolved(tmp_path):
    """`make lock` without its resolver: split again, both files are what they are, and a newer torch is refused."""
    for name in (".ci/lock.py", "envs/torch-cpu.sha256"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((PROJECT / name).read_bytes())
    resolved = tmp_path / "resolved.txt"
    listed = (tmp_path / "envs" / "torch-cpu.sha256").read_text(encoding="utf-8").splitlines()
    text = "".join((PROJECT / name).read_text(encoding="utf-8") for name in LOCKS)
    for digest in (line.split()[0] for line in listed):
        text = text.replace(f" \\\n    --hash=sha256:{digest}", "")
    command = [sys.executable, tmp_path / ".ci" / "lock.py", resolved]
    resolved.write_text(text, encoding="utf-8")
    subprocess.run(command, check=True)
    for name in LOCKS:
        assert (tmp_path / name).read_text(encoding="utf-8") == (PROJECT / name).read_text(encoding="utf-8")
    resolved.write_text(text.replace("torch==2.13.0", "torch==2.14.0"), encoding="utf-8")
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode != 0 and "torch-cpu.sha256" in refused.stderr


def imported() -> dict[str, set[str]]:
    """Top-level name → files, of all that the package and the scripts import from outside."""
    names: dict[str, set[str]] = {}
    for file in sorted((PROJECT / "scripts").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.append(node.module)
            for module in modules:
                names.setdefault(module.partition(".")[0], set()).add(Path(file).name)
    return {name: files for name, files in names.items() if name not in {*sys.stdlib_module_names, "verified"}}


def test_what_the_code_imports_is_a_requirement_of_its_own():
    owners, named = packages_distributions(), asked("requirements.in")
    for module, files in imported().items():
        if module in OPTIONAL:
            continue
        candidates = {canonicalize_name(owner) for owner in owners.get(module, [module])}
        assert candidates & named.keys(), f"{', '.join(sorted(files))} imports {module}, which requirements.in lacks"


def test_what_is_optional_is_imported_and_not_required():
    assert OPTIONAL.keys() <= imported().keys()
    assert not OPTIONAL.keys() & asked("requirements.in").keys()
    with pytest.raises(PackageNotFoundError):
        version("vllm")


def test_make_and_pip_allow_the_same_python():
    makefile, project = ((PROJECT / name).read_text(encoding="utf-8") for name in ("Makefile", "pyproject.toml"))
    (gate,) = re.findall(r"not \((\d+), (\d+)\) <= sys\.version_info\[:2\] < \((\d+), (\d+)\)", makefile)
    assert 'requires-python = ">={}.{},<{}.{}"'.format(*gate) in project
    assert f"--python-version {gate[0]}.{gate[1]} " in makefile
