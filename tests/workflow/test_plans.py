"""Every shipped profile can be planned."""

import pytest
from running import PROJECT, ended_well

PROFILES = sorted(path.parent for path in (PROJECT / "profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.name)
def test_profiles_plan(tmp_path, profile):
    assert "build_tables" in ended_well(tmp_path, "--dry-run", "--profile", str(profile), "results/tables")
