"""One complete run in miniature, shared by the tests of the chain."""

from pathlib import Path

import pytest
from running import snakemake


@pytest.fixture(scope="session")
def nano(tmp_path_factory) -> Path:
    """A folder in which the nano configuration was built once."""
    folder = tmp_path_factory.mktemp("nano")
    run = snakemake(folder, "--cores", "2", "results/tables")
    (folder / "run.log").write_text(run.stdout, encoding="utf-8")
    assert run.returncode == 0, run.stdout[-6000:]
    return folder
