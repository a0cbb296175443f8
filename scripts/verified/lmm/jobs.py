"""Jobs that call models: their inputs from rules, and the shards whose calls one job makes.

Each captions job loads its models itself; for a 7B model that takes minutes. With `generation.shards_per_job` above 1,
a job of the rule ask_models makes all calls of a stage for that many shards, one model after the other, and stores the
answers in the ledger. The jobs of the shards then find every answer there: they load no model and need no GPU.
"""

from collections.abc import Callable
from typing import Any

from verified.config import Config
from verified.config.generation import EngineSettings, Generation
from verified.config.params import deciding
from verified.extension import extensions, named
from verified.layout import Layout
from verified.lmm.prompts import prompt_file
from verified.lmm.tasks import Task
from verified.lmm.tasks.paper import TASKS_OF_STAGE, roles_of_stage
from verified.runtime.digest import modules_digest
from verified.runtime.wildcards import shard_names
from verified.weights.wanted import role_records


def asks_first(generation: Generation, stage: str) -> bool:
    """Whether the calls of a stage's shards are made by ask_models."""
    loads = any(getattr(generation, role).kind.loads_model for role in roles_of_stage(stage))
    return loads and generation.shards_per_job > 1


def shards_of_job(job: str, shards: list[str], per_job: int) -> list[str]:
    """Shards of ``job-NN``, in order."""
    number = int(job.removeprefix("job-"))
    return shards[number * per_job : (number + 1) * per_job]


def job_of_shard(shard: str, shards: list[str], per_job: int) -> str:
    """The ``job-NN`` that asks for a shard."""
    return f"job-{shards.index(shard) // per_job:02d}"


OF_ALL_CALLS = ("attempts", "scene_reader", "threads")
"""Keys of `generation` that decide how any task is answered."""


class AskingJobs:
    """The jobs of a configuration that ask models; `roles` are llm, image_lmm and video_lmm, those that a job uses."""

    def __init__(self, settings: Config):
        self.settings, self.generation = settings, settings.generation
        self.all_shards = shard_names(settings.shards)

    def _used_roles(self, roles: tuple[str, ...]) -> list[EngineSettings]:
        return [settings for role in roles if (settings := getattr(self.generation, role)) is not None]

    def prompts(self, *tasks: Task) -> list[str]:
        """The prompt files of the given tasks: a rule depends on those it uses and no others."""
        return [prompt_file(self.generation.prompts, task.name) for task in tasks]

    def before(self, *tasks: Task) -> list[str]:
        """Files that extensions write before a job asks these tasks."""
        waits = [named(extension.before) for extension in extensions() if extension.before]
        return [path for wait in waits for path in wait(self.settings, tasks)]

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

    def engine_code(self, *roles: str) -> dict[str, str]:
        """A digest of the code of each engine that a job uses."""
        modules = {role.engine: role.kind.module for role in self._used_roles(roles)}
        return {engine: modules_digest(modules[engine]) for engine in sorted(modules)}

    def threads(self, stage: str) -> int:
        """Cores of a job that makes a stage's calls: those that compute, and those that decode ahead of a GPU."""
        ahead = self.generation.clip_threads if stage == "dynamics" else 0
        return self.generation.threads + ahead

    def asking_job(self, stage: str) -> Callable[[Any], list[str]]:
        """An input function: the job of ask_models that makes the calls of a shard; empty if the shard's job does."""

        def files(wildcards: Any) -> list[str]:
            if not asks_first(self.generation, stage):
                return []
            job = job_of_shard(wildcards.shard, self.all_shards, self.generation.shards_per_job)
            return [Layout.asked.replace("{stage}-{job}", f"{stage}-{job}")]

        return files

    def threads_of_shard(self, stage: str) -> int:
        """Cores of a shard's job: those that compute alone where ask_models makes its calls."""
        return self.generation.threads if asks_first(self.generation, stage) else self.threads(stage)

    def gpus_of_shard(self, stage: str) -> int:
        """GPUs of a shard's job: 0 if ask_models makes its calls."""
        return 0 if asks_first(self.generation, stage) else self.gpus(*roles_of_stage(stage))

    # Of a job of ask_models, from its wildcards

    def shards(self, wildcards: Any) -> list[str]:
        """The shards that it asks about."""
        return shards_of_job(wildcards.job, self.all_shards, self.generation.shards_per_job)

    def gpus_asking(self, wildcards: Any) -> int:
        """The most GPUs that any of its models takes, as they take turns."""
        return self.gpus(*roles_of_stage(wildcards.stage))

    def slots_asking(self, wildcards: Any) -> int:
        """Its calls to endpoints that are under way at once."""
        return self.api_slots(*roles_of_stage(wildcards.stage))

    def threads_asking(self, wildcards: Any) -> int:
        """Its cores."""
        return self.threads(wildcards.stage)

    def inputs(self, wildcards: Any) -> dict[str, list[str]]:
        """The files of all its shards."""
        stage, roles = wildcards.stage, roles_of_stage(wildcards.stage)

        def each(template: str) -> list[str]:
            return [template.replace("{shard}", shard) for shard in self.shards(wildcards)]

        found = {
            "moments": each(Layout.shard_moments),
            "prompts": self.prompts(*TASKS_OF_STAGE[stage]),
            "weights": role_records(self.settings, *roles),
            "cassettes": self.cassettes(*roles),
        }
        if stage == "statics":
            found["keyframes"] = each(Layout.keyframes)
        if stage == "dynamics":
            found["videos"] = each(Layout.shard_videos)
        return found
