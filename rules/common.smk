import sys
from pathlib import Path

# Beside the rules lies the package. Where Snakemake reads them from an address, it has to be installed.
if workflow.current_basedir.is_local:
    sys.path.insert(0, str(Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent / "scripts"))

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from verified.runtime.digest import follow_imports, modules_digest, name_reader
from verified.errors import InputError
from verified.runtime.job import announce_parent
from verified.runtime.project import PROJECT
from verified.runtime.resources import (
    CRITICAL_PATH,
    limit_runtime,
    longest_minutes,
    scale_by_attempt,
    start_at_any_rate,
    try_further,
)
from verified.runtime.run_lock import enter
from verified.runtime.run_marks import keep_own_marks
from verified.runtime.announcements import announce
from verified.runtime.rebuilding import files_to_rebuild, finish_begun
from verified.runtime.shards import shard_names
from verified.config import load
from verified.config.params import announce_operational, deciding
from verified.config.folders import (
    dataset_pattern,
    dataset_values,
    datasets_pattern,
    evaluator_folder,
    filtered_pattern,
)
from verified.config.folders import files_of_datasets, home, dataset_labels, section_values
from verified.benchmark.rextime import paths as suite_paths
from verified.config.run_values import run_values
from verified.corpus.minimum_size import check_enough
from verified.tables.summary import asks_for_tables, closing_message, show, show_if_nothing_is_left
from verified.tables.paths import leading_tables

DEFAULT = PROJECT / "config" / "config.yaml"
# Relative, so that a project can be moved with its results.
PUBLISHED = Path("config", "published.csv")
PUBLISHED = str(PUBLISHED if PROJECT == Path.cwd() else PROJECT / PUBLISHED)

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

# The report's front page names it, also where the configuration leaves it to the default.
config["name"] = settings.name
HOME = home(settings)
announce_parent()
announce_operational(settings)
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


# What stages contribute: each adds its files where its rules stand. Files of tables, and files that the report shows.
STAGE_TABLES = []
REPORT_FILES = []

datasets = datasets_pattern(settings)
dataset_settings = section_values(settings)
of_datasets = files_of_datasets(settings)
to_rebuild = files_to_rebuild(workflow, HOME)
