"""Mutate the package's modules that changed since a revision, and list the mutants that no quick test finds.

cosmic-ray makes them in a copy of the project. Modules share the time evenly; those that few tests reach come first.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from changed import PACKAGES, PROJECT, changed_files
from planted_mistakes import QUICK, copy_tree, tests_of, variables

CONFIG = """[cosmic-ray]
module-path = {module}
timeout = {seconds}
test-command = {command}
[cosmic-ray.distributor]
name = "local"
"""


def modules(revision: str) -> list[Path]:
    files = (file for file in changed_files(PROJECT, revision) if file.suffix == ".py" and file.is_file())
    return sorted(file for file in files if any(file.is_relative_to(folder) for folder in PACKAGES.values()))


def mutate(project: Path, module: str, tests: list[Path], seconds: float, each: float) -> list[tuple[dict, dict]]:
    """The mutants of a module that were tested within so many seconds, and their outcomes."""
    command = [sys.executable, "-m", "pytest", *QUICK, *(str(test.relative_to(PROJECT)) for test in tests)]
    values = {"module": json.dumps(module), "seconds": each, "command": json.dumps(shlex.join(command))}
    (project / "mutants.toml").write_text(CONFIG.format(**values), encoding="utf-8")
    cosmic_ray = [sys.executable, "-m", "cosmic_ray.cli"]
    run = {"cwd": project, "env": variables(project), "check": True, "capture_output": True, "text": True}
    subprocess.run([*cosmic_ray, "init", "--force", "mutants.toml", "mutants.sqlite"], **run)
    text = (project / module).read_text(encoding="utf-8")
    try:
        subprocess.run([*cosmic_ray, "exec", "mutants.toml", "mutants.sqlite"], **run, timeout=seconds)
    except subprocess.TimeoutExpired:
        (project / module).write_text(text, encoding="utf-8")
    dump = subprocess.run([*cosmic_ray, "dump", "mutants.sqlite"], **run).stdout
    return [(item, result) for item, result in map(json.loads, dump.splitlines()) if result]


def survivors(tested: list[tuple[dict, dict]]) -> Iterator[str]:
    """A line per mutant that no test found: file, line, and the text that replaced it."""
    for item, result in tested:
        if result["test_outcome"] == "survived":
            (mutation,) = item["mutations"]
            added = [line for line in result["diff"].splitlines() if line.startswith("+") and line[:3] != "+++"]
            yield f"{mutation['module_path']}:{mutation['start_pos'][0]}: {' '.join(added)[1:].strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutate changed modules; list the mutants that no quick test finds.")
    parser.add_argument("--since", default="main", metavar="REVISION", help="modules that changed since (main)")
    parser.add_argument("--minutes", type=float, default=120, help="at most so long, once the tests are chosen")
    parser.add_argument("--each", type=float, default=120, help="at most so many seconds for the tests of a mutant")
    asked = parser.parse_args()
    names = [str(file.relative_to(PROJECT)) for file in modules(asked.since)]
    reached = {name: [test for tests in tests_of(name, Path(name).parts[2]) for test in tests] for name in names}
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        project = copy_tree(Path(folder))
        for done, name in enumerate(sorted(names, key=lambda name: len(reached[name]))):
            share = (end - time.monotonic()) / (len(names) - done)
            if reached[name] and share > 0:
                tested = mutate(project, name, reached[name], share, asked.each)
                outcomes.update(result["test_outcome"] for _, result in tested)
                print(f"{name}: {len(tested)} mutants", *survivors(tested), sep="\n  ", flush=True)
    print(f"{outcomes['survived']} of {outcomes.total()} mutants survive, of {len(names)} modules")


if __name__ == "__main__":
    main()
