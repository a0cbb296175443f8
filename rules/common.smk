import os
import re
import sys
from functools import partial
from pathlib import Path

# The package is next to the rules. If Snakemake reads them from an address, it must be installed.
if workflow.current_basedir.is_local:
    sys.path.insert(0, str(Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent / "scripts"))

from snakemake.exceptions import WorkflowError

from verified.runtime.digest import code_param, modules_digest
from verified.errors import InputError
from verified.extension import extensions
from verified.io.video_reader import READER
from verified.runtime.job import announce_parent
from verified.runtime.project import PROJECT
from verified.runtime.resources import CRITICAL_PATH, extra_tries, limited_minutes, scale_by_attempt, shard_priority
from verified.runtime.snakemake_workarounds import disable_rate_limit, killed_jobs, rerun_incomplete, update_manifest
from verified.runtime.announcements import announce, announce_latency
from verified.runtime.progress import print_progress
from verified.runtime.wildcards import key_of, shard_names
from verified.config import load
from verified.config.params import announce_operational, deciding
from verified.config.folders import (
    dataset_labels,
    dataset_pattern,
    dataset_values,
    datasets_pattern,
    datasets_with,
    evaluator_folder,
    files_of_datasets,
    filtered_pattern,
    home,
    key_values,
    section_values,
    shown_datasets,
)
from verified.config.run_values import refuse_prefix, run_values
from verified.corpus.inventory import check_enough
from verified.layout import Layout
from verified.tables.summary import asks_for_tables, closing_message, show
from verified.tables.inputs import leading_tables

DEFAULT = PROJECT / "config" / "config.yaml"
# Relative, so that a project can be moved with its results.
PUBLISHED = Path("config", "published.csv")
PUBLISHED = str(PUBLISHED if PROJECT == Path.cwd() else PROJECT / PUBLISHED)

if not workflow.overwrite_configfiles:

    configfile: str(DEFAULT)


try:
    # Snakemake joins files as well, but ignores the layers below them.
    values, source = run_values(workflow, config, DEFAULT)
    config.clear()
    config.update(values)
    settings = load(config, source)
except InputError as error:
    raise WorkflowError(f"error: {error}")

# The report's front page names it, also where the configuration leaves it to the default.
config["name"] = settings.name
HOME = home(settings)
announce_parent()
announce_operational(settings)
os.environ[READER] = settings.video_reader
code_of = partial(code_param, settings.video_reader)
tries = partial(extra_tries, settings.longest_minutes)
RUNS = workflow.is_main_process and not workflow.output_settings.dryrun
if RUNS:
    show(Path(HOME, "tables"))

SHARDS = shard_names(settings.shards)
layout = Layout(settings)
EVALUATOR = evaluator_folder(settings)


wildcard_constraints:
    dataset=dataset_pattern(settings, settings.datasets),
    shard=r"shard-\d+",


# Contributions of stages: each adds its files in its rules. Files of tables, and files that the report shows.
STAGE_TABLES = []
REPORT_FILES = []

datasets = datasets_pattern(settings)
dataset_settings = section_values(settings)
of_dataset = partial(dataset_values, settings)
of_key = partial(key_values, settings)
of_datasets = files_of_datasets(settings)
title_of = of_dataset(lambda dataset: dataset.title)


def needs(mb, minutes, **others):
    """Resources of a job, memory in MB and minutes at its first attempt; each retry of a killed job gets more of both."""
    return {"mem_mb": scale_by_attempt(mb), "runtime": limited_minutes(settings.longest_minutes, minutes), **others}


def one_of(names):
    """A wildcard constraint for `names`; it matches nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def of_shard(state):
    """A params function: the state of ``wildcards.shard`` in the source of ``wildcards.dataset``."""
    return lambda wildcards: state(
        settings.datasets[key_of(wildcards.dataset)].source, wildcards.shard, settings.shards
    )


def page_folders(kind):
    """An input function: pages for people of every annotated data set. Raises InputError without one."""

    def folders(wildcards):
        if not (shown := datasets_with(settings, "annotated_here")):
            raise InputError(
                "no data set of this configuration is annotated from its videos",
                remedy="the pages show clips of moments with their captions",
            )
        return of_datasets(f"{kind}/pages", shown)

    return folders


def figure(name, shows, place, caption=None):
    """Outputs of a figure of a data set: SVG, which the report shows, PNG and CSV; `place`: its number in the paper."""
    stem, labels = f"results/{{dataset}}/figures/{name}", dataset_labels({"shows": shows, "as": place})
    caption = f"../report/{caption or name}.rst"
    shown = report(f"{stem}.svg", caption=caption, category="Figures", labels=labels)
    return [shown, f"{stem}.png", f"{stem}.csv"]


def enough_moments(wildcards):
    """No files: stops a run whose corpora are too small for the evaluator before any model call."""
    try:
        if RUNS:
            check_enough(settings)
    except InputError as error:
        raise WorkflowError(f"error: {error}")
    return []
