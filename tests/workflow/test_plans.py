"""Every shipped configuration and profile can be planned."""

import pytest
from refusals import names
from running import PROJECT, SHIPPED, snakemake

from verified.__main__ import main

# Plans that need nothing beside the checkout, and that no other test makes.
CONFIGS = [name for name in ("released", "grounding") if name in SHIPPED]
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


@pytest.mark.parametrize("command", [["plan"], ["report"]])
def test_a_missing_executor_is_named_with_its_package(tmp_path, capsys, command):
    (tmp_path / "config.yaml").write_text("executor: cluster-of-ours\njobs: 2\n")
    assert main([*command, "--profile", str(tmp_path)]) == 2
    assert names(capsys.readouterr().err, "cluster-of-ours", "pip install snakemake-executor-plugin-cluster-of-ours")
