"""Every shipped configuration and profile can be planned."""

import pytest
import yaml
from refusals import names
from running import PROJECT, SHIPPED, snakemake

from verified.__main__ import main

# Plans that need nothing beside the checkout; the others read a corpus of the user's.
CONFIGS = [name for name in ("config", "nano", "released", "grounding") if name in SHIPPED]
PROFILES = sorted(path.parent for path in (PROJECT / "profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("name", CONFIGS)
def test_configurations_plan(tmp_path, name):
    run = snakemake(tmp_path, "--dry-run", "results/tables", config=SHIPPED[name])
    assert run.returncode == 0, run.stdout[-4000:]
    assert "build_tables" in run.stdout


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.name)
def test_profiles_plan(tmp_path, profile):
    run = snakemake(tmp_path, "--dry-run", "--profile", str(profile), "results/tables")
    assert run.returncode == 0, run.stdout[-4000:]
    assert "build_tables" in run.stdout


def test_moments_can_be_proposed_where_a_file_names_some(tmp_path):
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "a.mp4").write_bytes(b"")
    (tmp_path / "moments.csv").write_text("video,start,end,caption\na,0,1,a dog runs\n")
    source = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
    settings = {"name": "lab", "datasets": {"lab": {"title": "Lab", "source": source}}}
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(settings))
    run = snakemake(tmp_path, "--dry-run", "results/lab/corpus/proposed.csv", config=tmp_path / "lab.yaml")
    assert run.returncode == 0, run.stdout[-4000:]
    assert "propose_moments" in run.stdout


@pytest.mark.parametrize("command", [["plan"], ["report"]])
def test_a_missing_executor_is_named_with_its_package(tmp_path, capsys, command):
    (tmp_path / "config.yaml").write_text("executor: cluster-of-ours\njobs: 2\n")
    assert main([*command, "--profile", str(tmp_path)]) == 2
    assert names(capsys.readouterr().err, "cluster-of-ours", "pip install snakemake-executor-plugin-cluster-of-ours")
