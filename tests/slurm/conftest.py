"""The cluster that the tests of this folder share, and the shipped profile with its lines filled in."""

import importlib.util
from pathlib import Path

import pytest
import yaml
from running import PROJECT


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    specification = importlib.util.spec_from_file_location("cluster", Path(__file__).with_name("cluster.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert not module.missing_programs(), "install slurm-wlm and munge first: make test-slurm does"
    with module.cluster(tmp_path_factory.mktemp("slurm")) as running:
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
