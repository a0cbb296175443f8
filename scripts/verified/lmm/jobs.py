"""Inputs, params and resources of the jobs that call models.

Snakemake runs a job again when one of its params differs from the value with which its outputs were made. For a shard
whose counts report unanswered calls, the param `asked_in` names the current run and so is new in each run. For any
other shard it is the value at the job's last calls, stored in its counts.
"""

import json
import os
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from verified.config import Config
from verified.config.generation import EngineSettings
from verified.config.params import deciding
from verified.extension import added_stages
from verified.lmm.prompts import prompt_file
from verified.lmm.tasks import Task
from verified.runtime.digest import modules_digest
from verified.runtime.resources import job_needs
from verified.weights.wanted import role_records

OF_ALL_CALLS = ("attempts", "scene_reader", "threads")
"""Keys of `generation` that decide how any task is answered."""

THIS_RUN = f"run {os.getpid()} of {time.time():.0f}"


@cache
def asked_in(counts: str) -> str:
    """The run that has to ask for the shard with this SHARD.counts.json; "" where it was all done at once.

    Remembered, because Snakemake asks twice and removes the job's old outputs in between.
    """
    try:
        stated = json.loads(Path(counts).read_text(encoding="utf-8"))
        return THIS_RUN if stated["unanswered"] else str(stated["asked_in"])
    except (OSError, ValueError, KeyError, TypeError):  # missing or damaged: its calls are retried anyway
        return ""


class AskingJobs:
    """The jobs of a configuration that ask models; `roles` are llm, image_lmm and video_lmm, those that a job uses."""

    def __init__(self, settings: Config):
        self.settings, self.generation = settings, settings.generation

    def _used_roles(self, roles: tuple[str, ...]) -> list[EngineSettings]:
        return [settings for role in roles if (settings := getattr(self.generation, role)) is not None]

    def prompts(self, *tasks: Task) -> list[str]:
        """The prompt files of the given tasks: a rule depends on those it uses and no others."""
        return [prompt_file(self.generation.prompts, task.name) for task in tasks]

    def before(self, *tasks: Task) -> list[str]:
        """Files that extensions write before a job asks these tasks."""
        return [path for stage in added_stages() for path in stage.before(self.settings, tasks)]

    def inputs(self, tasks: Iterable[Task], *roles: str) -> dict[str, list[str]]:
        """Files that answers to `tasks` depend on: prompts, weights, cassettes, and files of extensions."""
        asked = list(tasks)
        files = {
            "prompts": self.prompts(*asked),
            "weights": role_records(self.settings, *roles),
            "cassettes": self.cassettes(*roles),
        }
        return files | ({"before": before} if (before := self.before(*asked)) else {})

    def needs(self, *roles: str, mb: int = 3000, minutes: int = 60, gpu_minutes: int = 240) -> dict[str, Any]:
        """Resources of a job that asks models of these roles."""
        gpus = self.gpus(*roles)
        room = (64000, gpu_minutes) if gpus else (mb, minutes)
        return job_needs(self.settings.longest_minutes, *room, disk_mb=500, gpu=gpus, api_slots=self.api_slots(*roles))

    def cassettes(self, *roles: str) -> list[str]:
        """The cassettes that answer for a job's roles: another file under the same name answers otherwise."""
        return sorted({role.cassette for role in self._used_roles(roles) if role.cassette})

    def gpus(self, *roles: str) -> int:
        """GPUs of a job: the most that any of its roles asks for (they share them)."""
        return max(role.gpu for role in self._used_roles(roles))

    def api_slots(self, *roles: str) -> int:
        """Calls under way at once in a job, where a role is answered by an endpoint."""
        return max((role.api_slots for role in self._used_roles(roles) if role.kind.asks_endpoint), default=0)

    def environment(self, *roles: str) -> str:
        """The conda file of a job: the default for model jobs, unless the engine of a role has a separate one."""
        own = [role.kind.environment for role in self._used_roles(roles) if role.kind.environment]
        return f"../envs/{max(own, default='asking')}.yaml"

    def values(self, *tasks: Task) -> dict[str, Any]:
        """The part of `generation` that the calls of these tasks depend on, for a param (see `config.params`)."""
        fields = {name for task in tasks for name in (task.role, *task.settings)}
        return deciding(self.generation, fields.union(OF_ALL_CALLS))

    def params(
        self, tasks: Iterable[Task] | Callable[[Any], Iterable[Task]], *roles: str, counts: str = "counts"
    ) -> dict[str, Any]:
        """Params of a job that asks `tasks`, or those of its wildcards, of models of these roles.

        `counts` names the output that counts its unanswered calls.
        """
        return {
            "engines": self.engine_code(*roles),
            "generation": (lambda of: self.values(*tasks(of))) if callable(tasks) else self.values(*tasks),
            "asked_in": lambda wildcards, output: asked_in(getattr(output, counts)),
        }

    def engine_code(self, *roles: str) -> dict[str, str]:
        """A digest of the code of each engine that a job uses."""
        modules = {role.engine: role.kind.module for role in self._used_roles(roles)}
        return {engine: modules_digest(modules[engine]) for engine in sorted(modules)}

    @property
    def clip_threads(self) -> int:
        """Cores of a job that asks about clips: those that compute, and those that decode ahead of a GPU."""
        return self.generation.threads + self.generation.clip_threads
