import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir, "scripts")))

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import validate

from verified.common.digest import code_digest
from verified.common.errors import InputError
from verified.common.job import announce_parent
from verified.common.resources import growing
from verified.common.run_lock import enter
from verified.common.shards import shard_names
from verified.config import load
from verified.tables.closing import closing_message

try:
    settings = load(config, ", ".join(map(str, workflow.configfiles)) or "--config")
except InputError as error:
    raise WorkflowError(f"error: {error}")
# Values given with --config arrive as text inside mappings; the model has turned them into numbers.
validate(
    settings.model_dump(mode="json", exclude_unset=True),
    Path(workflow.basedir, "config", "schema.json"),
    set_default=False,
)

announce_parent()
if workflow.is_main_process and not workflow.output_settings.dryrun:
    try:
        if message := enter(Path(".snakemake")):
            logger.info(message)
    except InputError as error:
        raise WorkflowError(f"error: {error}")

SHARDS = shard_names(settings.shards)


wildcard_constraints:
    dataset="|".join(settings.datasets),
    shard=r"shard-\d+",


def dataset_settings(section):
    """A params function: one section of the data set's settings as plain values."""

    def values(wildcards):
        chosen = getattr(settings.datasets[wildcards.dataset], section)
        return chosen.model_dump(mode="json")

    return values
