"""Check the disk and the GPUs of this machine against a run's requests, and the data against its batch sizes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from verified.captions.clips import PROMPT_ROOM
from verified.config import Config
from verified.config.folders import datasets_with
from verified.config.generation import ROLES
from verified.extension import stages
from verified.lmm.vision_tokens import frame_tokens
from verified.planning.check_corpus import has_clip
from verified.planning.findings import Finding
from verified.planning.needs import needs
from verified.runtime.gpu_leases import machine_devices

ROOM_GB = 1.0
"""Free disk, in GB, that every run needs: logs, the ledger, tables and figures."""


def disk_findings(settings: Config, models_here: bool) -> Iterator[Finding]:
    """Compare free disk below results/ with the estimate of `verified plan`, without models that are already
    fetched."""
    sizes = needs(settings).disk
    estimate = {kind: size for kind, size in sizes.items() if not (models_here and kind == "models")}
    wanted = ROOM_GB + sum(estimate.values())
    free = shutil.disk_usage(next(path for path in (Path("results"), Path(".")) if path.exists())).free / 1e9
    if free < wanted:
        largest = max(estimate, key=lambda kind: estimate[kind])
        message = f"{free:.1f} GB are free, about {wanted:.1f} are needed, most of it for {largest}"
        yield Finding("problem", "disk", message, "make room, or run in a folder on another disk")
    else:
        yield Finding("ok", "disk", f"{free:.0f} GB are free, about {wanted:.1f} are needed")


def gpus_asked(settings: Config) -> dict[str, int]:
    """Configuration key → GPUs of one of its jobs, if any."""
    asked = {"evaluator.gpus": settings.evaluator.gpus} if datasets_with(settings, "annotated_here") else {}
    for name in ROLES:
        role = getattr(settings.generation, name)
        if role.kind.loads_model:
            asked[f"generation.{name}.gpu"] = role.gpu
    asked["features.gpu"] = settings.features.gpu if datasets_with(settings, "has_videos") else 0
    asked["retrieval.device"] = int(settings.retrieval.device == "cuda")
    for stage in stages():
        asked |= stage.gpus(settings)
    return {key: count for key, count in asked.items() if count}


def gpu_findings(settings: Config) -> Iterator[Finding]:
    """Compare the requested GPUs with those of this machine, and name models whose jobs would run on the CPU."""
    asked, here = gpus_asked(settings), len(machine_devices())
    lacking = {key: count for key, count in asked.items() if count > here}
    if lacking:
        message = f"up to {max(lacking.values())} GPUs are asked for, {here} are here"
        remedy = "lower them, or run where they are; on a cluster, whose nodes have them: --cluster"
        yield Finding("problem", ", ".join(lacking), message, remedy)
    elif asked:
        yield Finding("ok", ", ".join(asked), f"{here} GPUs are here, up to {max(asked.values())} are asked for")
    slow = [f"generation.{name}" for name in ROLES if _on_cpu(getattr(settings.generation, name))]
    if slow and datasets_with(settings, "annotated_here"):
        yield Finding(
            "note", ", ".join(slow), "these models run on the CPU, slowly", "set their gpu to 1 if there is one"
        )


def _on_cpu(role) -> bool:
    return role.kind.loads_model and not role.gpu


def batch_findings(settings: Config, moments: list[dict]) -> Iterator[Finding]:
    """Check that `moments`, the usable ones of all own data sets, fill the evaluator's batches, and that clips fit the
    context."""
    if not moments:
        return
    batch, splits = settings.evaluator.batch, settings.evaluator.splits
    count = sum(has_clip(row) and (splits is None or row["split"] in splits) for row in moments)
    if count < batch:
        message = f"{count} usable moments are too few for batches of {batch}"
        aside = (
            f"; {len(moments) - count} are of other splits or shorter than two frames" if count < len(moments) else ""
        )
        yield Finding(
            "problem", "evaluator.batch", f"{message}{aside}", f"set it to {max(2, count)} or less, or add moments"
        )
    else:
        yield Finding("ok", "evaluator.batch", f"{count} usable moments for batches of {batch}")
    role = settings.generation.video_lmm
    side = settings.generation.frame_side
    tokens = frame_tokens(role, side, side * 3 // 4)
    if not role.kind.loads_model or tokens is None:
        return
    room = role.max_context_tokens - role.sampling.max_tokens - PROMPT_ROOM
    for name in datasets_with(settings, "annotated_here"):
        dynamics = settings.datasets[name].dynamics
        if dynamics.max_frames is None:  # the number of frames follows from the context
            continue
        frames = min(dynamics.frames or dynamics.max_frames, dynamics.max_frames)
        if frames * tokens > room:
            message = f"{frames} frames take {frames * tokens:.0f} tokens, the context has {room} for them"
            remedy = "raise generation.video_lmm.max_context_tokens, or set max_frames to null: as many as fit"
            yield Finding("problem", f"datasets.{name}.dynamics.max_frames", message, remedy)
