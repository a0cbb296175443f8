"""Every shipped configuration and profile can be planned."""

import pytest
from running import PROJECT, snakemake

# Plans that need nothing beside the checkout; the others read a corpus of the user's.
CONFIGS = [
    name for name in ("config", "nano", "released", "grounding") if (PROJECT / "config" / f"{name}.yaml").is_file()
]
PROFILES = sorted(path.parent for path in (PROJECT / "profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("name", CONFIGS)
def test_configurations_plan(tmp_path, name):
    run = snakemake(tmp_path, "--dry-run", "results/tables", config=PROJECT / "config" / f"{name}.yaml")
    assert run.returncode == 0, run.stdout[-4000:]
    assert "build_tables" in run.stdout


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.name)
def test_profiles_plan(tmp_path, profile):
    run = snakemake(tmp_path, "--dry-run", "--profile", str(profile), "results/tables")
    assert run.returncode == 0, run.stdout[-4000:]
    assert "build_tables" in run.stdout
