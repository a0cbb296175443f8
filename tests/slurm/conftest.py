"""The cluster that the tests of this folder share, and the shipped profile with its lines filled in."""

from pathlib import Path

import pytest
import yaml
from running import PROJECT
from slurm.cluster import cluster as running_cluster
from slurm.cluster import missing_programs


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    assert not missing_programs(), "install slurm-wlm and munge first: make test-slurm does"
    with running_cluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture(scope="session")
def profile(tmp_path_factory) -> Path:
    """The shipped profile as for this cluster, with shorter waits."""
    values = yaml.safe_load((PROJECT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))
    values["default-resources"].pop("slurm_account")  # no accounts without accounting
    values |= {"cores": 2, "latency-wait": 15, "slurm-init-seconds-before-status-checks": 5}
    folder = tmp_path_factory.mktemp("profile")
    (folder / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    return folder
