import gc
import sys
from pathlib import Path

# A plan of thousands of jobs makes millions of objects that stay: Python's collector would look through all of them ten
# times, a twentieth of a start.
gc.set_threshold(50_000, 20, 20)

# Beside the rules lies the package. Where Snakemake reads them from an address, it has to be installed.
if workflow.current_basedir.is_local:
    sys.path.insert(0, str(Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent / "scripts"))

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import validate

from verified.runtime.digest import follow_imports, modules_digest, name_reader
from verified.runtime.folders import key_of
from verified.errors import InputError
from verified.runtime.job import announce_parent
from verified.runtime.project import PROJECT
from verified.runtime.resources import LONGEST, CRITICAL_PATH, scale_by_attempt, limit_runtime
from verified.runtime.run_lock import enter
from verified.runtime.run_marks import keep_own_marks
from verified.runtime.seals import announce, finish_begun, marked
from verified.runtime.shards import shard_names
from verified.config import load
from verified.config.folders import dataset_folder, dataset_of, dataset_pattern, dataset_values, datasets_with
from verified.config.folders import evaluator_folder, home
from verified.benchmark.rextime import paths as suite_paths
from verified.config.run_values import run_values
from verified.corpus.minimum_size import check_enough
from verified.tables.summary import asked_for, closing_message, show, show_if_nothing_is_left
from verified.tables.paths import leading_tables

DEFAULT = PROJECT / "config" / "config.yaml"

if not workflow.overwrite_configfiles:

    configfile: str(DEFAULT)


try:
    # Snakemake joins files as well, but knows nothing of the layers below them.
    values, source = run_values(workflow, config, DEFAULT)
    config.clear()
    config.update(values)
    settings = load(config, source)
except InputError as error:
    raise WorkflowError(f"error: {error}")
# Values given with --config arrive as text inside mappings; the model has turned them into numbers.
validate(
    settings.model_dump(mode="json", exclude_unset=True),
    str(PROJECT / "config" / "schema.json"),
    set_default=False,
)

# The report's front page names it, also where the configuration leaves it to the default.
config["name"] = settings.name
HOME = home(settings)
announce_parent()
if workflow.is_main_process and not workflow.output_settings.dryrun:
    keep_own_marks()
    try:
        if message := enter(Path(".snakemake")):
            logger.info(message)
    except InputError as error:
        raise WorkflowError(f"error: {error}")
    show_if_nothing_is_left(workflow, HOME)

SHARDS = shard_names(settings.shards)
EVALUATOR = evaluator_folder(settings)


wildcard_constraints:
    dataset=dataset_pattern(settings, settings.datasets),
    shard=r"shard-\d+",


def dataset_settings(section):
    """A params function: one section of the data set's settings as plain values."""

    def values(wildcards):
        return getattr(dataset_of(settings, wildcards), section).model_dump(mode="json")

    return values


def datasets(*abilities):
    """A wildcard constraint: the data sets whose source can do all of this (see `verified.config.sources`)."""
    return dataset_pattern(settings, datasets_with(settings, *abilities))


def of_datasets(pattern, datasets, **wildcards):
    """Files of several data sets, given by key: `pattern` below the folder of each, expanded over `wildcards`."""
    folders = [dataset_folder(settings, dataset) for dataset in datasets]
    return expand(f"{{folder}}/{pattern}", folder=folders, **wildcards)


def labelled(labels):
    """Labels of a figure or page of one data set in the report."""
    return lambda wildcards: {"data set": key_of(wildcards.dataset), **labels}


def to_rebuild(wildcards):
    """An input function: what `verified verify --heal` removed, no later run has built again, and a rule still makes."""
    return [path for path in marked(HOME) if any(rule.is_producer(path) for rule in workflow.rules)]


def longest_minutes():
    """What the profile says is the longest time of a job, in minutes; None where it says nothing."""
    said = workflow.global_resources.get(LONGEST)
    return said.value if said else None


def usual_retries():
    """How often the profile has a lost job tried again."""
    return getattr(workflow.execution_settings, "retries", None) or 0
