"""Preflight checks of `verified check`: all that are cheap, without Snakemake and without writing a file."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from verified.captions.preflight import longest_clip
from verified.config import Config
from verified.config.folders import datasets_with, home
from verified.config.generation import ROLES
from verified.errors import InputError
from verified.io.files import is_in_future
from verified.lmm.ledger import Ledger
from verified.lmm.preflight import endpoint_findings
from verified.lmm.prompts import read_prompts
from verified.planning.needs import disk_needs
from verified.planning.quote import quote, totals
from verified.planning.stages import roles_in_use, stages, supplied, wanted_models
from verified.runtime.gpu_leases import machine_devices
from verified.runtime.manifest import BUILT, NAME, manifest_of
from verified.stage import Finding, refused
from verified.weights.records import BUILT_IN, is_from_hub, read_lock

ROOM_GB = 1.0
"""Free disk, in GB, that every run needs: logs, the ledger, tables and figures."""


def findings(settings: Config, files: str, offline: bool = False, cluster: bool = False) -> Iterator[Finding]:
    """Yield everything that would stop a run, and a line for each check that passed.

    `files` are the configuration's own, for the commands that remedies name. `offline` asks no endpoint; `cluster`
    does not look for GPUs here, as the run's are on other machines.
    """
    missing = problems(settings, files)
    yield from missing
    stuck = {problem.key for problem in missing}
    models = [", ".join(keys) for keys in wanted_models(settings).values()]
    fetched = not any(key in stuck for key in models)
    if models and fetched:
        yield Finding("ok", "weights", f"{len(models)} models of the hub are here, at their locked revisions")
    for stage in stages():
        yield from stage.preflight(settings, stuck)
    yield from _lost_outputs(settings)
    yield from _budget_findings(settings)
    if not offline:
        tasks = dict.fromkeys(task for stage in stages() for task in stage.tasks(settings))
        yield from endpoint_findings(settings.generation, roles_in_use(settings), tasks, longest_clip(settings))
        for stage in stages():
            yield from stage.live(settings)
    yield _disk_finding(settings, fetched)
    if not cluster:
        yield from _gpu_findings(settings)


def problems(settings: Config, files: str) -> list[Finding]:
    """Every missing input, and every setting that does not fit it; `files` as of `findings`."""
    absent = [
        Finding("problem", item.key, message, item.remedy) for item in supplied(settings) if (message := item.missing)
    ]
    models = _model_problems(settings, f"run: verified fetch --configfile {files}")
    future = [
        Finding("problem", "clock", f"the time of {item.path} is in the future: Snakemake stops at it", remedy)
        for item in supplied(settings)
        if is_in_future(item.path)
        for remedy in [f"run: touch {shlex.quote(item.path)}"]
    ]
    others = (problem for stage in stages() for problem in stage.problems(settings))
    return [*models, *absent, *future, *others, *_prompt_problems(settings)]


def _model_problems(settings: Config, fetch: str) -> Iterator[Finding]:
    """Models of the hub, and UMT's file, that are not fetched; folders of models that are not there."""
    hub, lock = settings.weights.hub, settings.weights.lock
    try:
        locked = read_lock(lock)["models"]
    except InputError as error:
        yield refused("weights.lock", error, f"remove it and {fetch}")
        return
    for hub_model, keys in wanted_models(settings).items():
        key, entry = ", ".join(keys), locked.get(hub_model.key)
        if hub and not Path(hub, hub_model.name).is_dir():
            remedy = "put its files there, or set weights.hub to null"
            yield Finding("problem", key, f"{hub_model.name} is not in {hub}", remedy)
        elif entry is None:
            yield Finding("problem", key, f"{hub_model.key} is not locked in {lock}", fetch)
        elif not hub:
            folder = Path(settings.weights.folder, hub_model.name.replace("/", "--"), entry["commit"])
            if missing := [name for name in entry["files"] if not (folder / name).is_file()]:
                message = f"{len(missing)} of {len(entry['files'])} files of {hub_model.key} are not in {folder}"
                yield Finding("problem", key, message, fetch)
    for name, _, key in (model for stage in stages() for model in stage.models(settings)):
        if name not in BUILT_IN and not is_from_hub(name) and not Path(name).is_dir():
            yield Finding("problem", key, f"no folder {name}", "name a folder or a model of the hub")
    umt = settings.evaluator
    if umt.umt_file and umt.umt_url and not umt.checkpoint and not Path(umt.umt_file).is_file():
        yield Finding("problem", "evaluator.umt_file", f"no file {umt.umt_file}", fetch)


def _prompt_problems(settings: Config) -> Iterator[Finding]:
    tasks = dict.fromkeys(task for stage in stages() for task in stage.tasks(settings) if task.prompted)
    try:
        read_prompts(settings.generation.prompts, tasks)
    except InputError as error:
        yield refused("generation.prompts", error, "correct the prompt file")


def _lost_outputs(settings: Config) -> Iterator[Finding]:
    """A note on outputs of the last run that are gone: only their dependents would tell that it was finished."""
    file = Path(home(settings), NAME)
    try:
        manifest = manifest_of(file)
    except InputError as error:
        yield refused(home(settings), error)
        return
    made = (Path(BUILT, place) for place, digest in (manifest.outputs if manifest else {}).items() if digest)
    if lost := [path for path in made if not path.exists()]:
        message = f"outputs of the last run are gone: {len(lost)}, such as {lost[0]}"
        yield Finding("note", home(settings), message, "the next run makes them again")


def _budget_findings(settings: Config) -> Iterator[Finding]:
    """Compare the rest of the budget with the calls that a run would still ask, as a quote counts them."""
    limits = {name: limit for name, limit in settings.generation.budget.model_dump().items() if limit is not None}
    if not limits:
        return
    try:
        needs = totals(quote(settings))
    except InputError:  # other checks find the reason
        return
    with Ledger(settings.generation.ledger) as held:
        sums = held.totals()
    roles = [getattr(settings.generation, name) for name in ROLES]
    # A call is made only if its largest possible cost fits: an answer of max_tokens.
    longest = max(role.sampling.max_tokens for role in roles)
    dearest = max(role.sampling.max_tokens * role.price_out for role in roles) / 1e6
    amounts = {  # cost still expected, cost so far, and the largest cost of one call
        "calls": (needs["calls"], sums["attempts"], 0.0),
        "tokens": (needs["tokens_in"] + needs["tokens_out"], sums["tokens_in"] + sums["tokens_out"], longest),
        "money": (needs["money"], sums["cost"], dearest),
    }
    for name, limit in limits.items():
        needed, taken, room = amounts[name]
        remaining, key = limit - taken, f"generation.budget.{name}"
        if needed is not None and needed > remaining:
            message = (
                f"a run would still take about {needed:.4g} {name}, {max(0.0, remaining):.4g} of {limit:g} are left"
            )
            remedy = f"raise it, annotate fewer moments, or see `verified quote`: the run would stop at {limit:g}"
            yield Finding("problem", key, message, remedy)
        elif needed and needed + room > remaining:
            message = f"a run would still take about {needed:.4g} {name} of {remaining:.4g}, and not ask its last calls"
            remedy = f"raise it by {room:.2g}: a call is made only if its largest cost fits"
            yield Finding("problem", key, message, remedy)


def _disk_finding(settings: Config, models_local: bool) -> Finding:
    """Compare free disk below results/ with the estimated need, without models that are already fetched."""
    estimate = {kind: size for kind, size in disk_needs(settings).items() if not (models_local and kind == "models")}
    needs = ROOM_GB + sum(estimate.values())
    free = shutil.disk_usage(next(path for path in (Path("results"), Path(".")) if path.exists())).free / 1e9
    if free >= needs:
        return Finding("ok", "disk", f"{free:.0f} GB are free, about {needs:.1f} are needed")
    largest = max(estimate, key=lambda kind: estimate[kind])
    message = f"{free:.1f} GB are free, about {needs:.1f} are needed, most of it for {largest}"
    return Finding("problem", "disk", message, "make room, or run in a folder on another disk")


def _gpu_findings(settings: Config) -> Iterator[Finding]:
    """Compare the requested GPUs with those of this machine, and name models whose jobs would run on the CPU."""
    requested = {key: count for stage in stages() for key, count in stage.gpus(settings).items() if count}
    available = len(machine_devices())
    if lacking := {key: count for key, count in requested.items() if count > available}:
        message = f"up to {max(lacking.values())} GPUs are requested, {available} are available"
        remedy = "lower them, or run where they are; on a cluster, whose nodes have them: --cluster"
        yield Finding("problem", ", ".join(lacking), message, remedy)
    elif requested:
        yield Finding(
            "ok", ", ".join(requested), f"{available} GPUs are available, up to {max(requested.values())} are requested"
        )
    roles = {f"generation.{name}": getattr(settings.generation, name) for name in ROLES}
    slow = [key for key, role in roles.items() if role.kind.loads_model and not role.gpu]
    if slow and datasets_with(settings, "annotated_here"):
        remedy = "set their gpu to 1 if there is one"
        yield Finding("note", ", ".join(slow), "these models run on the CPU, slowly", remedy)
