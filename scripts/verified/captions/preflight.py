"""Calls of captions for a quote, and a check that their clips fit into a model's context."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from verified.captions.clips import frame_count
from verified.captions.dynamics import ask_dynamics
from verified.captions.statics import ask_statics
from verified.config import Config
from verified.config.folders import dataset_folder, datasets_with, shown_datasets
from verified.corpus.inventory import unprobed_rows
from verified.errors import InputError
from verified.keyframes.seen import SeenKeyframes
from verified.layout import Layout
from verified.lmm.session import Session
from verified.lmm.vision_tokens import frame_tokens
from verified.runtime.progress import track
from verified.stage import Finding, Shard, supposed_videos

PROMPT_ROOM = 1024
"""Tokens reserved for the words of a prompt, if frames fill the context."""


def ask_captions(name: str, settings: Config, shards: Sequence[Shard], session: Session) -> int:
    """Ask all calls about a data set in a session that counts (`Stage.ask_of`); moments whose keyframes are not cut."""
    if name not in shown_datasets(settings):  # it only trains the evaluator
        return 0
    dataset, layout, unseen = settings.datasets[name], Layout(settings), 0
    tracked = track(shards, f"quote for {name}", len(shards), "shards")
    for file, (moments, videos) in zip(layout.shards(layout.keyframes, name), tracked):
        with SeenKeyframes(Path(file), dataset.keyframes, moments, videos) as keyframes:
            ask_statics(moments, keyframes, session)
            unseen += len(keyframes.supposed)
        ask_dynamics(moments, supposed_videos(moments) | videos, dataset.dynamics.model_dump(), session)
    return unseen


def longest_clip(settings: Config) -> int:
    """Most frames of a clip of the run: of its longest known moment, or the most that its settings allow."""
    most = 2
    for name in datasets_with(settings, "annotated_here"):
        source, dynamics = settings.datasets[name].source, settings.datasets[name].dynamics
        seconds = [float("inf")]
        with contextlib.suppress(InputError):  # other checks name what cannot be read
            corpus = f"{dataset_folder(settings, name)}/corpus"
            seconds = [row["end"] - row["start"] for row in unprobed_rows(source, corpus).usable]
        longest = min(max(seconds, default=0.0), dynamics.max_frames / (dynamics.fps or 1.0))
        most = max(most, frame_count(longest, dynamics.model_dump())[0])
    return most


def frame_findings(settings: Config, *_: object) -> Iterator[Finding]:
    """Clips that do not fit into the context of a model that is loaded here."""
    role, side = settings.generation.video_lmm, settings.generation.frame_side
    tokens = frame_tokens(role, side, side * 3 // 4)
    if not role.kind.loads_model or tokens is None:
        return
    room = role.max_context_tokens - role.sampling.max_tokens - PROMPT_ROOM
    for name in datasets_with(settings, "annotated_here"):
        dynamics = settings.datasets[name].dynamics
        frames = min(dynamics.frames or dynamics.max_frames, dynamics.max_frames)
        if frames * tokens > room:
            message = f"{frames} frames take {frames * tokens:.0f} tokens, the context has {room} for them"
            remedy = "raise generation.video_lmm.max_context_tokens, or lower max_frames"
            yield Finding("problem", f"datasets.{name}.dynamics.max_frames", message, remedy)
