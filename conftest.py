"""Settings of all tests, those of extensions among them, whose folders it puts on the import path."""

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath
from unittest import mock

import pytest
from changed import PROJECT, changed_files, is_reached
from hypothesis import settings
from running import snakemake

from verified.runtime.job import take_environment

sys.path += [str(folder) for folder in PROJECT.glob("extensions/*/tests")]

# The same cases in each run, however slow the machine: what passed once passes again.
settings.register_profile("verified", derandomize=True, deadline=None)
settings.load_profile("verified")

# Where several processes share the tests (`pytest -n 2`), each computes on one thread; read when torch is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# `make test ARGS=...` hands its own arguments on to each `make` and `pytest` that a test runs.
for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "ARGS", "PYTEST_ADDOPTS"):
    os.environ.pop(name, None)

os.environ.setdefault("VERIFIED_LOG", "snakemake")  # tests read Snakemake's own log of a run

take_environment()  # before torch is imported, as commands and jobs do

NANO = (
    "test_kills.py",
    "test_report_and_study.py",
    "test_damage.py",
    "test_nano.py",
    "test_search_index.py",
    "test_own_model.py",
)
"""Files of tests/workflow that read the nano run: all in one process, which builds it once."""

FIRST = ("test_demo.py", "test_rehearsal.py", "test_lopsided.py", *NANO, "test_released_figures.py")
"""Files whose tests take minutes: begun last, they would keep a core waiting."""

ORDINARY = os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else None


@pytest.fixture(scope="session")
def nano(tmp_path_factory) -> Path:
    """A folder in which the nano configuration was built once."""
    folder = tmp_path_factory.mktemp("nano")
    run = snakemake(folder, "--cores", "2", "results/tables")
    (folder / "run.log").write_text(run.stdout, encoding="utf-8")
    assert run.returncode == 0, run.stdout[-6000:]
    return folder


@pytest.fixture(autouse=True)
def ordinary_process():
    """No library that a test calls may make this process a real-time one: all that it starts would be one as well."""
    yield
    if ORDINARY is not None and os.sched_getscheduler(0) != ORDINARY:
        os.sched_setscheduler(0, ORDINARY, os.sched_param(0))
        pytest.fail("the scheduling policy of this process was changed")


@pytest.fixture(autouse=True)
def same_environment():
    """A command that a test gives in this process may start Snakemake in it, whose announcements to jobs would stay."""
    with mock.patch.dict(os.environ):
        yield


def pytest_addoption(parser):
    parser.addoption("--changed", nargs="?", const="main", metavar="REVISION", help="tests that an edit can reach")


def pytest_configure(config):
    revision = config.getoption("--changed")
    try:
        config.changed = changed_files(PROJECT, revision) if revision else None
    except subprocess.CalledProcessError as error:
        raise pytest.UsageError(f"--changed: {error.stderr.strip()}") from error


def pytest_ignore_collect(collection_path, config):
    if config.changed is not None and collection_path.match("test_*.py"):
        return not is_reached(collection_path, config.changed) or None
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        long = item.get_closest_marker("slow") or item.get_closest_marker("night")
        if long and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3 * item.config.getini("timeout")))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal out whole files, in their order: what a module's fixture builds is built once."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = PurePosixPath(nodeid.partition("::")[0])
            return "nano" if file.name in NANO else str(file)

    config.option.loadscopereorder = False
    return Files(config, log)
