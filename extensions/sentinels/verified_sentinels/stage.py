"""The calls about sentinels, for `verified quote` and the budget's check."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config import Config
from verified.config.generation import Generation
from verified.stage import SharedCalls, Stage, supposed_videos
from verified_sentinels.config import TASKS, Sentinels, captioned, folder, is_asked

if TYPE_CHECKING:
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task

SECONDS = 3.0
"""Assumed length of a moment that is not rendered yet."""


def _tasks(settings: Config) -> "Iterable[Task]":
    return TASKS if is_asked(settings) else ()


def _asks(settings: Config, _generation: Generation) -> Iterator[SharedCalls]:
    if is_asked(settings):
        for name in captioned(settings):
            yield SharedCalls(f"{name}: sentinels", partial(_ask, settings, name))


def _ask(settings: Config, name: str, session: "Session") -> None:
    from verified.captions.dynamics import ask_dynamics
    from verified.captions.statics import ask_statics
    from verified.io.jsonl import read_jsonl
    from verified.keyframes.seen import SeenKeyframes

    files, dataset = Path(folder(settings, name)), settings.datasets[name]
    moments, videos = _supposed(settings.section(Sentinels).number), {}
    if (files / "moments.jsonl").exists() and (files / "videos.jsonl").exists():
        rendered = read_jsonl(files / "moments.jsonl")
        if len(rendered) == len(moments):
            moments, videos = rendered, {row["video"]: row for row in read_jsonl(files / "videos.jsonl")}
    with SeenKeyframes(files / "keyframes.tar", dataset.keyframes, moments, videos) as keyframes:
        ask_statics(moments, keyframes, session)
    ask_dynamics(moments, supposed_videos(moments) | videos, dataset.dynamics.model_dump(), session)


def _supposed(number: int) -> list[dict]:
    return [
        {"desc_id": each, "video": f"sentinel {each}", "start": 0.0, "end": SECONDS, "caption": f"a ball moves {each}"}
        for each in range(1, number + 1)
    ]


STAGE = Stage("sentinels", _tasks, asks=_asks)
