"""The workflow inside another one: Snakemake's module statement, as the workflow catalogue deploys it."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from running import NANO, PROJECT, called, ended_well, printed

CORPUS = "results/nano/corpus/moments.jsonl"
RENDERED = "results/nano/corpus/rendered.jsonl"
DEPLOYED = """
configfile: "config/config.yaml"

module verified:
    snakefile: {snakefile}
    config: config

use rule * from verified
"""


def importer(folder: Path, config: Path | dict = NANO, snakefile: str | None = None) -> Path:
    """A project that uses the workflow: its own Snakefile and its own config/config.yaml."""
    for below in ("workflow", "config"):
        (folder / below).mkdir(parents=True)
    written = DEPLOYED.replace("{snakefile}", snakefile or repr(str(PROJECT / "workflow" / "Snakefile")))
    (folder / "workflow" / "Snakefile").write_text(written, encoding="utf-8")
    target = folder / "config" / "config.yaml"
    if isinstance(config, dict):
        target.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    else:
        shutil.copy(config, target)
    return folder


def run(folder: Path, *arguments: str, **options) -> str:
    """Snakemake called in the importer's folder, as its user would; returns what it printed."""
    command = [sys.executable, "-m", "snakemake", "--scheduler", "greedy", "--nocolor", *arguments]
    return printed(command, folder, **options)


def jobs(plan: str) -> Counter:
    return Counter(re.findall(r"^(?:local)?rule ([\w/]+):$", plan, re.MULTILINE))


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Counter:
    return jobs(ended_well(tmp_path_factory.mktemp("alone"), "--dry-run"))


def test_an_importer_plans_the_same_jobs(tmp_path, alone):
    folder = importer(tmp_path / "project")
    assert jobs(run(folder, "--dry-run")) == alone
    assert alone["build_tables"] == 1


@pytest.mark.slow
def test_an_importer_builds_the_files_of_the_workflow(tmp_path):
    folder = importer(tmp_path / "project")
    run(folder, "--cores", "2", CORPUS)
    assert "Nothing to be done" in ended_well(folder, "--cores", "2", CORPUS), "code, params or inputs of a rule differ"


def test_layers_are_found_beside_the_importers_file(tmp_path, alone):
    folder = importer(tmp_path / "project", {"layers": ["below.yaml"], "seed": 7})
    shutil.copy(NANO, folder / "config" / "below.yaml")
    assert jobs(run(folder, "--dry-run", "--printshellcmds")) == alone
    nowhere = importer(tmp_path / "other", {"layers": ["gone.yaml"]})
    ended = called([sys.executable, "-m", "snakemake", "--dry-run"], nowhere)
    assert ended.returncode != 0 and "gone.yaml" in ended.stdout


@pytest.mark.night
def test_rules_read_from_a_repository_with_the_package_installed(tmp_path):
    """snakedeploy's form. GitHub is a repository on this disk, by git's own redirection of addresses."""
    upstream = tmp_path / "github" / "somebody" / "verified"
    for part in ("rules", "scripts", "envs", "report", "workflow", "extensions"):
        shutil.copytree(PROJECT / part, upstream / part, ignore=shutil.ignore_patterns("verified", "__pycache__"))
    shutil.copy(PROJECT / "Snakefile", upstream)
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[url "file://{tmp_path}/github/"]\n\tinsteadOf = https://github.com/\n'
        "[user]\n\tname = somebody\n\temail = somebody@example.org\n[safe]\n\tdirectory = *\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": str(settings), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("GITHUB_TOKEN", None)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["tag", "v1.0.0"]):
        subprocess.run(["git", *command], cwd=upstream, env=environment, check=True)
    hosted = 'github("somebody/verified", path="workflow/Snakefile", tag="v1.0.0")'
    folder = importer(tmp_path / "project", snakefile=hosted)
    run(folder, "--cores", "2", RENDERED, env=environment)
    assert (folder / RENDERED).is_file()
