"""Counts of shards next to their rows, and their sums over a data set."""

from collections import Counter
from collections.abc import Iterable

from verified.lmm.request import STATUSES


def add_up(stages: dict[str, Iterable[dict]]) -> dict:
    """Sum of the counts of all shards, by stage (statics, dynamics, perturbations).

    `stages` gives the shards' counts. Of each stage: `moments`; `rows`, how many are complete, short and without, which
    sum to the moments (for perturbations by kind); candidates refused by reason; `tasks`, one row per task whose
    outcomes sum to its calls. Raises ValueError where counts do not reconcile.
    """
    return {stage: _stage(stage, list(shards)) for stage, shards in stages.items()}


def _stage(stage: str, shards: list[dict]) -> dict:
    moments = sum(shard["moments"] for shard in shards)
    kinds = sorted({kind for shard in shards for kind in shard.get("kinds", {})})
    by_kind = {kind: [shard["kinds"][kind] for shard in shards] for kind in kinds} or {stage: shards}
    rows = {
        name: {state: sum(shard_counts[state] for shard_counts in listed) for state in ("complete", "short", "without")}
        for name, listed in by_kind.items()
    }
    refused = sum(
        (Counter(shard_counts["refused"]) for listed in by_kind.values() for shard_counts in listed), Counter()
    )
    tasks = [_task(task, [shard["calls"][task] for shard in shards]) for task in (shards[0]["calls"] if shards else ())]
    for name, counts in rows.items():
        if sum(counts.values()) != moments:
            raise ValueError(f"{stage}, {name}: {counts} do not sum to {moments} moments")
    return {"moments": moments, "rows": rows, "refused": dict(sorted(refused.items())), "tasks": tasks}


def _task(task: str, shards: list[dict]) -> dict:
    outcomes = {status: sum(shard["outcomes"][status] for shard in shards) for status in STATUSES}
    calls = sum(shard["calls"] for shard in shards)
    if sum(outcomes.values()) != calls:
        raise ValueError(f"{task}: {outcomes} do not sum to {calls} calls")
    named = {key: sum((Counter(shard.get(key, {})) for shard in shards), Counter()) for key in ("reasons", "served")}
    return {"task": task, "calls": calls, **outcomes, **{key: dict(sorted(row.items())) for key, row in named.items()}}


def served_models(outcomes: dict) -> str:
    """``Y for X (12 answers)``, of `add_up`: models that endpoints named, and the others that they were asked for."""
    tasks = (task["served"] for stage in outcomes.values() for task in stage["tasks"])
    served = sum(map(Counter, tasks), Counter())
    return ", ".join(f"{names} ({count} answers)" for names, count in sorted(served.items()))


def add_served(about: dict, outcomes: dict) -> dict:
    """Facts of a card, with `served_models` below its models."""
    served = served_models(outcomes)
    return about | {"models": about["models"] | {"Answers by other models": served}} if served else about
