"""An edit re-runs the rules whose scripts use the edited module, and no others."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import PROJECT

from verified.runtime.digest import _closure, _imports

pytestmark = pytest.mark.slow

TARGETS = ("all", "results/nano/statistics/clusters.json", "results/nano/report/captions.html")
CALLING = {"caption_dynamics", "caption_statics", "write_perturbations"}
PLANS = [
    {"statistics/clustering.py": {"count_many_to_many", "project_clusters"}},
    {"benchmark/correlation.py": {"measure_validity"}},
    {"io/hdf5.py": {"extract_text_features", "extract_video_features"}},
    {"lmm/ledger.py": CALLING, "features/video.py": {"extract_video_features"}},
    {"demo/scene_reader/rewriting.py": CALLING},
    {"report/captions.py": {"browse_captions"}},
    {"benchmark/vcmr/models/xml.py": {"train_model"}},
    {
        "lmm/engines/openai.py": set(),
        "benchmark/vcmr/models/hero.py": set(),
        "cli/maintain.py": set(),
        "runtime/progress.py": set(),
        "config/retrieval.py": set(),
    },
]
"""Modules edited at once: rules that run again for their sake (those below them run too, their inputs being made anew).

Rules of one plan do not depend on each other: Snakemake names one reason only, and of a job that waits for another's
output it says nothing about params.
"""


def snakemake(folder: Path, *arguments: str) -> str:
    """Run the project's copy in `folder`, which is its working directory too."""
    command = [sys.executable, "-m", "snakemake", *arguments, *TARGETS, "--configfile", "config/nano.yaml"]
    run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout[-4000:]
    return run.stdout


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A copy of the project in which Snakemake believes that nano was built: its files are there, and empty."""
    folder = tmp_path_factory.mktemp("edits")
    for name in ("Snakefile", "config", "envs", "profiles", "report", "rules", "scripts", "extensions"):
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
        copy(PROJECT / name, folder / name)
    for outputs in re.findall(r"^    output: (.*)$", snakemake(folder, "--dry-run"), re.MULTILINE):
        for path in (folder / output for output in outputs.split(", ")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch() if path.suffix else path.mkdir(exist_ok=True)
    snakemake(folder, "--touch", "--forceall", "--cores", "1")
    assert "Nothing to be done" in snakemake(folder, "--dry-run")
    return folder


@pytest.mark.parametrize("edits", PLANS, ids=" ".join)
def test_an_edit_reruns_what_uses_it(finished, edits):
    rules = set().union(*edits.values())
    assert len(rules) == sum(map(len, edits.values()))
    before = {file: file.read_bytes() for file in (finished / "scripts/verified" / module for module in edits)}
    for file, content in before.items():
        file.write_bytes(content + b"# edited\n")
    try:
        plan = snakemake(finished, "--dry-run")
    finally:
        for file, content in before.items():
            file.write_bytes(content)
    changed = re.search(r"^    params have changed since last execution:\n +(.*)$", plan, re.MULTILINE)
    assert set(changed[1].split(", ") if changed else []) == rules
    assert bool(rules) != ("Nothing to be done" in plan)


@pytest.mark.parametrize(
    ("chooser", "param"), [("benchmark/vcmr/registry.py", "model_code"), ("lmm/engines", "engines")]
)
def test_rules_pass_what_is_chosen_at_run_time(chooser, param):
    """A script that may load a model or an engine by name stands in a rule that passes the digest of its code."""
    texts = "".join(file.read_text(encoding="utf-8") for file in sorted((PROJECT / "rules").glob("*.smk")))
    count = 0
    for rule in re.split(r"^(?:rule|checkpoint) ", texts, flags=re.MULTILINE)[1:]:
        script = re.search(r'"\.\./(scripts/\w+/\w+\.py)"', rule)
        files = _closure(_imports(ast.parse((PROJECT / script[1]).read_bytes()), "")) if script else []
        if any(chooser in file.as_posix() for file in files):
            count += 1
            assert f"        {param}=" in rule, f"rule {rule.partition(':')[0]} lacks the param {param}"
    assert count >= 3
