"""Group the calls of several shards, so that a model is loaded once for all of them.

Each captions job loads its models itself; for a 7B model that takes minutes. Or it waits for batches of its own, hours
at times. With `generation.shards_per_job` above 1, a job of the rule ask_models makes all calls of a stage for that
many shards, one model after the other, and leaves the answers in the ledger. The jobs of the shards then find
everything there: they load no model and need no GPU.
"""

from verified.config.generation import Generation
from verified.lmm.tasks.paper import roles_of_stage


def prefetch_threads(generation: Generation, stage: str) -> int:
    """Threads in which a job of `stage` decodes clips ahead of its model: none where no GPU would wait for them.

    Pictures of the statics stage need none: reading one takes a hundredth of the model's time for it.
    """
    role = generation.video_lmm
    wanted = stage == "dynamics" and role.kind.loads_model and role.gpu
    return generation.prefetch_threads if wanted else 0


def asks_first(generation: Generation, stage: str) -> bool:
    """Whether the calls of a stage's shards are made by ask_models."""
    together = any(getattr(generation, role).together for role in roles_of_stage(stage))
    return together and generation.shards_per_job > 1


def shards_of_job(job: str, shards: list[str], per_job: int) -> list[str]:
    """Shards of ``job-NN``, in order."""
    number = int(job.removeprefix("job-"))
    return shards[number * per_job : (number + 1) * per_job]


def job_of_shard(shard: str, shards: list[str], per_job: int) -> str:
    """The ``job-NN`` that asks for a shard."""
    return f"job-{shards.index(shard) // per_job:02d}"
