import os
import sys
from functools import partial
from pathlib import Path

# The package is next to the rules. If Snakemake reads them from an address, it must be installed.
if workflow.current_basedir.is_local:
    sys.path.insert(0, str(Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent / "scripts"))

from verified.runtime.digest import code_param, modules_digest
from verified.extension import extensions, next_commands
from verified.io.video_reader import READER
from verified.runtime.job import announce_parent
from verified.runtime.project import PROJECT, near
from verified.planning.rule_functions import StopsRun, figure, page_inputs, require_moments
from verified.runtime.resources import CRITICAL_PATH, extra_tries, job_needs, shard_priority
from verified.runtime.snakemake_workarounds import disable_rate_limit, killed_jobs, rerun_incomplete, update_manifest
from verified.runtime.announcements import announce, announce_latency
from verified.runtime.progress import print_progress
from verified.runtime.wildcards import key_of, one_of, shard_names
from verified.config import folders, load
from verified.config.params import announce_operational, deciding
from verified.config.folders import dataset_labels, dataset_wildcards, datasets_with, filtered_pattern, shown_datasets
from verified.config.layers import refuse_prefix, run_values
from verified.layout import Layout
from verified.tables.summary import asks_for_tables, closing_message, show
from verified.tables.inputs import leading_tables

DEFAULT = PROJECT / "config" / "config.yaml"
PUBLISHED = str(near(PROJECT / "config" / "published.csv"))

if not workflow.overwrite_configfiles:

    configfile: str(DEFAULT)


with StopsRun():
    # Snakemake joins files as well, but ignores the layers below them.
    values, source = run_values(workflow, config, DEFAULT)
    config.clear()
    config.update(values)
    settings = load(config, source)

# The report's front page names it, also where the configuration leaves it to the default.
config["name"] = settings.name
HOME = folders.home(settings)
announce_parent()
announce_operational(settings)
os.environ[READER] = settings.video_reader
code_of = partial(partial, code_param, settings.video_reader)
tries = partial(extra_tries, settings.longest_minutes)
RUNS = workflow.is_main_process and not workflow.output_settings.dryrun
if RUNS:
    show(Path(HOME, "tables"))

SHARDS = shard_names(settings.shards)
layout = Layout(settings)
EVALUATOR = folders.evaluator_folder(settings)


wildcard_constraints:
    dataset=folders.dataset_pattern(settings, settings.datasets),
    shard=r"shard-\d+",


# Contributions of stages: each adds its files in its rules. Files of tables, and files that the report shows.
STAGE_TABLES = []
REPORT_FILES = []

datasets = folders.datasets_pattern(settings)
dataset_settings = folders.section_values(settings)
of_dataset = partial(folders.dataset_values, settings)
of_key = partial(folders.key_values, settings)
of_datasets = partial(folders.files_of_datasets, settings)
title_of = of_dataset(lambda dataset: dataset.title)
of_shard = partial(folders.shard_values, settings)
needs = partial(job_needs, settings.longest_minutes)
page_folders = partial(partial, page_inputs, settings)
enough_moments = partial(require_moments, settings, RUNS)
