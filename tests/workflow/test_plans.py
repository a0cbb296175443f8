"""Every shipped profile can be planned."""

import pytest
from running import PROJECT, snakemake

PROFILES = sorted(path.parent for path in (PROJECT / "profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.name)
def test_profiles_plan(tmp_path, profile):
    run = snakemake(tmp_path, "--dry-run", "--profile", str(profile), "results/tables")
    assert run.returncode == 0, run.stdout[-4000:]
    assert "build_tables" in run.stdout
