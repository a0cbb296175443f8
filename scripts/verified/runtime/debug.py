"""Run a rule's script by hand, in this process: for a debugger, a profiler, a notebook."""

# Snakemake is untyped, and has no public way to a single job.
# pyright: reportMissingTypeStubs=false, reportPrivateUsage=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

import runpy
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verified.errors import InputError, nearest
from verified.runtime.manifest import rebuild_command
from verified.runtime.project import PROJECT


def mock_snakemake(
    rule: str, wildcards: Mapping[str, str], configfiles: Sequence[str | Path], folder: str | Path = "."
) -> Any:
    """The object `snakemake` that the script of `rule` sees, with real paths, params, threads and resources.

    wildcards: name → value, for example ``{"dataset": "demo", "shard": "shard-00"}``. configfiles: as on Snakemake's
    command line; empty for the default. Paths are relative to `folder`, which becomes the working directory; folders of
    outputs and logs are made. Raises InputError for a rule or a wildcard that does not exist, and for missing inputs.
    """
    return _as_scripts_see(_job(rule, wildcards, configfiles, Path(folder)))


def run_script(rule: str, wildcards: Mapping[str, str], configfiles: Sequence[str | Path]) -> None:
    """Run the script of `rule` in this process; breakpoints in it and in the package work."""
    job = _job(rule, wildcards, configfiles, Path())
    script = job.rule.basedir.join(job.rule.script).get_path_or_uri(secret_free=True)
    runpy.run_path(script, init_globals={"snakemake": _as_scripts_see(job)}, run_name="__main__")


def _as_scripts_see(job: Any) -> Any:
    from snakemake.iocontainers import Snakemake

    if absent := [str(path) for path in job.input if not Path(path).exists()]:
        build = rebuild_command(absent[:1], shlex.join(map(str, job.rule.workflow.configfiles)))
        raise InputError(f"{job.rule.name} reads {absent[0]}, which is not there", remedy=f"build it first: {build}")
    for path in (*job.output, *job.log):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Snakemake(
        job.input,
        job.output,
        job.params,
        job.wildcards,
        job.threads,
        job.resources,
        job.log,
        job.rule.workflow.config,
        job.rule.name,
        None,
        str(PROJECT / "scripts"),
    )


def _workflow(configfiles: Sequence[str | Path], folder: Path) -> Any:
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

    files = [Path(file).resolve() for file in configfiles]
    api = SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True))
    context = api.__enter__().workflow(
        resource_settings=ResourceSettings(cores=1),
        config_settings=ConfigSettings(configfiles=files),
        snakefile=PROJECT / "Snakefile",
        workdir=folder.resolve(),
    )
    workflow = context._workflow
    workflow.dag_settings = DAGSettings()
    return workflow


def _job(rule: str, wildcards: Mapping[str, str], configfiles: Sequence[str | Path], folder: Path) -> Any:
    workflow = _workflow(configfiles, folder)
    from snakemake.dag import DAG  # a circular import that works only when snakemake.api is imported first
    from snakemake.exceptions import WorkflowError
    from snakemake.jobs import Job

    scripted = {rule_object.name: rule_object for rule_object in workflow.rules if rule_object.script}
    if rule not in scripted:
        problem = f"no rule {rule!r} with a script{nearest(rule, scripted)}"
        raise InputError(problem, remedy=f"known: {', '.join(sorted(scripted))}")
    names = set(scripted[rule].wildcard_names)
    if names != set(wildcards):
        listed = ", ".join(sorted(names)) or "none"
        raise InputError(f"{rule} has the wildcards {listed}, not {', '.join(sorted(wildcards)) or 'none'}")
    try:
        job = Job(scripted[rule], DAG(workflow, rules=[scripted[rule]]), wildcards_dict=dict(wildcards))
        _ = job.params, job.threads, job.resources  # evaluated now, while the workflow exists
    except (WorkflowError, KeyError) as error:
        raise InputError(f"{rule} cannot be made with {dict(wildcards)}: {error}") from None
    return job
