"""Preflight checks of `verified check`: all that are cheap, without Snakemake and without writing a file."""

import os
from collections.abc import Iterator

from verified.config import Config
from verified.config.features import BLIND, PACKAGED, PACKAGED_JOINT, PACKAGED_KNOWS
from verified.config.folders import datasets_with
from verified.config.generation import ROLES
from verified.config.roles import asked_roles
from verified.config.trust import any_confidence_warning
from verified.errors import InputError
from verified.extension import stages
from verified.io.jsonl import finite, read_jsonl
from verified.layout import Layout
from verified.lmm.ledger import Ledger
from verified.planning.check_corpus import corpus_findings
from verified.planning.check_endpoints import endpoint_findings
from verified.planning.check_features import feature_findings
from verified.planning.check_machine import batch_findings, disk_findings, gpu_findings
from verified.planning.findings import Finding
from verified.planning.quote import quote, totals
from verified.planning.readiness import problems
from verified.weights.wanted import wanted_models


def findings(settings: Config, files: str, offline: bool = False, cluster: bool = False) -> Iterator[Finding]:
    """Yield everything that would stop a run, and a line for each check that passed.

    `files` are the configuration's own, for the commands that remedies name. `offline` asks no endpoint; `cluster`
    does not look for GPUs here, as the run's are on other machines.
    """
    missing = problems(settings, files)
    yield from (Finding("problem", *problem) for problem in missing)
    stuck = {problem.key for problem in missing}
    yield from _present_findings(settings, stuck)
    moments = []
    for name in datasets_with(settings, "has_videos"):
        if not settings.datasets[name].source.rendered and not any(
            key.startswith(f"datasets.{name}.source") for key in stuck
        ):
            moments += yield from corpus_findings(settings, name)
    yield from feature_findings(settings)
    for stage in stages():
        yield from stage.preflight(settings, stuck)
    yield from batch_findings(settings, moments)
    yield from _backbone_findings(settings)
    yield from _budget_findings(settings)
    yield from _score_findings(settings)
    if settings.annotations.choose_by == "confidence" and (warning := any_confidence_warning(settings)):
        message, _, remedy = warning.partition(". ")
        yield Finding("note", "annotations.choose_by", message, remedy.rstrip("."))
    yield from _statement_findings(settings)
    if not offline:
        yield from endpoint_findings(settings.generation, asked_roles(settings))
    yield from disk_findings(settings, models_here=not any(key in stuck for key in _model_keys(settings)))
    if not cluster:
        yield from gpu_findings(settings)


def _statement_findings(settings: Config) -> Iterator[Finding]:
    """Statements that the cards of a data set of real videos still lack; only people can write them."""
    real = [name for name in datasets_with(settings, "annotated_here") if not settings.datasets[name].source.rendered]
    missing = [key for key, text in settings.export.statements if text is None]
    if real and missing and settings.export.forms:
        message = f"exported cards say nothing of {', '.join(missing)}: only you know"
        yield Finding("note", "export.statements", message, "write a sentence of each before you publish the data set")


def _backbone_findings(settings: Config) -> Iterator[Finding]:
    """Limits of the image encoders of workflow and packages on videos that are not rendered."""
    name, better = settings.features.video_backbone, "a CLIP or SigLIP model of the hub knows more"
    used: dict[str, str] = {}
    rendered = all(settings.datasets[videos].source.rendered for videos in datasets_with(settings, "has_videos"))
    if not rendered:
        used["features.video_backbone"] = name
    if not rendered and settings.annotations.choose_by == "agreement":
        used["annotations.joint_encoder"] = settings.annotations.joint_encoder
    for key, encoder in used.items():
        if encoder in (PACKAGED, PACKAGED_JOINT):
            yield Finding("note", key, f"{encoder} {PACKAGED_KNOWS}", better)
    if not rendered and name in BLIND:
        message = f"{name} knows nothing of real videos: what is found by its features is close to random"
        yield Finding("note", "features.video_backbone", message, f"set it to {PACKAGED}; {better}")


def _budget_findings(settings: Config) -> Iterator[Finding]:
    """Compare the rest of the budget with the calls that a run would still ask, as a quote counts them."""
    limits = {name: limit for name, limit in settings.generation.budget.model_dump().items() if limit is not None}
    if not limits:
        return
    try:
        wanted = totals(quote(settings))
    except InputError:  # other checks find the reason
        return
    taken = {"calls": wanted["calls"], "tokens": wanted["tokens_in"] + wanted["tokens_out"], "money": wanted["money"]}
    roles = [getattr(settings.generation, name) for name in ROLES]
    # A call is asked only if its largest possible cost fits: an answer of max_tokens.
    room = {
        "calls": 0.0,
        "tokens": max(role.sampling.max_tokens for role in roles),
        "money": max(role.sampling.max_tokens * role.prices[1] for role in roles) / 1e6,
    }
    for name, limit in limits.items():
        left, needed = limit - _spending(settings.generation.ledger)[name], taken[name]
        if needed is not None and needed > left:
            message = f"a run would still take about {needed:.4g} {name}, {max(0.0, left):.4g} of {limit:g} are left"
            remedy = f"raise it, annotate fewer moments, or see `verified quote`: the run would stop at {limit:g}"
            yield Finding("problem", f"generation.budget.{name}", message, remedy)
        elif needed and needed + room[name] > left:
            message = f"a run would still take about {needed:.4g} {name} of {left:.4g}, and not ask its last calls"
            remedy = f"raise it by {room[name]:.2g}: a call is asked if the most that it may take fits"
            yield Finding("problem", f"generation.budget.{name}", message, remedy)


def _score_findings(settings: Config) -> Iterator[Finding]:
    """Whether the minimum confidence lies within the range of confidences of earlier runs."""
    least = settings.annotations.min_score
    if least is None:
        return
    layout = Layout(settings)
    for name in datasets_with(settings, "annotated_here"):
        files = filter(os.path.isfile, layout.shards(layout.scores, name))
        scores = [row["score"] for path in files for row in read_jsonl(path) if finite(row.get("score"))]
        remedy = "annotations.min_quantile asks for a share of the captions, whatever the scale"
        if not scores:
            message = f"{name} has no confidences yet, which are margins without bounds"
            yield Finding("note", "annotations.min_score", message, remedy)
        elif not min(scores) < least <= max(scores):
            kind = "problem" if least > max(scores) else "note"
            message = f"{least:g} is outside the confidences of {name}, {min(scores):.3g} to {max(scores):.3g}"
            yield Finding(kind, "annotations.min_score", message, remedy)


def _spending(ledger: str) -> dict[str, float]:
    """The amounts in the ledger by the budget's names."""
    with Ledger(ledger) as held:
        sums = held.totals()
    return {"calls": sums["attempts"], "tokens": sums["tokens_in"] + sums["tokens_out"], "money": sums["cost"]}


def _model_keys(settings: Config) -> list[str]:
    return [", ".join(keys) for keys in wanted_models(settings).values()]


def _present_findings(settings: Config, stuck: set[str]) -> Iterator[Finding]:
    """Yield an ok for each API key that is set, and for models that are fetched."""
    roles = {name: role for name, role in asked_roles(settings).items() if role.kind.asks_endpoint}
    for variable in sorted(filter(os.environ.get, {role.api_key_variable for role in roles.values()})):
        keys = [f"generation.{name}" for name, role in roles.items() if role.api_key_variable == variable]
        yield Finding("ok", ", ".join(keys), f"{variable} is set")
    models = _model_keys(settings)
    if models and not any(key in stuck for key in models):
        yield Finding("ok", "weights", f"{len(models)} models of the hub are here, at their locked revisions")
