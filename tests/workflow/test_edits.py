"""An edit re-runs the rules whose scripts use the edited module, and no others."""

import re
import sys
from pathlib import Path

import pytest
from running import copy_project, printed

pytestmark = pytest.mark.slow

TARGETS = ("all", "results/nano/statistics/clusters.json", "results/nano/report/captions.html")
CALLING = {"caption_dynamics", "caption_statics", "write_perturbations"}
PLANS = [
    {"statistics/clustering.py": {"count_many_to_many", "project_clusters"}},
    {"benchmark/auroc.py": {"measure_validity"}},
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
    return printed(command, folder)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A copy of the project in which Snakemake believes that nano was built: its files are there, and empty."""
    folder = copy_project(tmp_path_factory.mktemp("edits") / "project")
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


def test_a_prompt_of_candidates_plans_nothing_of_coarse_captions(finished):
    prompt = finished / "config/prompts/statics_candidates.md"
    before = prompt.read_bytes()
    prompt.write_bytes(before + b"edited\n")
    try:
        plan = snakemake(finished, "--dry-run")
    finally:
        prompt.write_bytes(before)
    assert "list_coarse_captions" not in plan and "choose_annotations" in plan
    made = "\n".join(re.findall(r"^    output: (.*)$", plan, re.MULTILINE)).replace(", ", "\n")
    assert set(re.findall(r"^results/nano/features/text-(.*)\.h5$", made, re.MULTILINE)) == {"fig", "fig-lowest"}
    runs = re.findall(r"^results/nano/retrieval/xml/(.*)/(?:checkpoint|metrics)\..*$", made, re.MULTILINE)
    trained = {"fig/seed-2018", "fig-lowest/seed-2018"}
    tested = {f"{run}/fig" for run in ("cog/seed-2018", *trained)} | {"fig/seed-2018/cog"}
    assert sorted(runs) == sorted(trained | tested)
