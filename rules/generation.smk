from verified.captions.unanswered import asked_in_of
from verified.lmm.jobs import asked_first, job_of_shard, prefetch_threads, shards_of_job
from verified.lmm.prompts import prompt_file
from verified.lmm.tasks.paper import TASKS_OF_STAGE, roles_of_stage
from verified.weights.paths import role_records, sentence_records


def prompt_files(*tasks):
    """The prompt files of the given tasks: a rule depends on those it uses and no others."""
    return [prompt_file(settings.generation.prompts, task.name) for task in tasks]


def cassettes(*roles):
    """The cassettes that answer for a job's roles: another file under the same name answers otherwise."""
    used = [getattr(settings.generation, role) for role in roles]
    return sorted({role.cassette for role in used if role.cassette})


def engine_gpus(*roles):
    """GPUs of a job: the most that any of its roles asks for (they share them)."""
    return max(getattr(settings.generation, role).gpu for role in roles)


def api_slots(*roles):
    """Calls under way at once in a job, where a role is answered by an endpoint."""
    used = [getattr(settings.generation, role) for role in roles]
    return max((role.api_slots for role in used if role.kind.asks_endpoint), default=0)


def generation_environment(stage, *roles):
    """The conda file of a job: that of its stage, unless the engine of a role has one of its own."""
    own = {getattr(settings.generation, role).kind.environment for role in roles} - {None}
    return f"../envs/{max(own, default=stage)}.yaml"


def asking_settings():
    """What the calls of any stage depend on."""
    generation = settings.generation
    chosen = {role: getattr(generation, role).identity() for role in ("llm", "image_lmm", "video_lmm")}
    numbers = ("candidates", "questions", "perturbations", "attempts", "frame_side")
    return chosen | {name: getattr(generation, name) for name in numbers}


def engine_code(*roles):
    """A digest of the code of each engine that a job uses."""
    used = {(role := getattr(settings.generation, name)).engine: role.kind.module for name in roles}
    return {engine: modules_digest(used[engine].removeprefix("verified.")) for engine in sorted(used)}


def asking_shards(wildcards):
    """Shards of a job of ask_models."""
    return shards_of_job(wildcards.job, SHARDS, settings.generation.shards_per_job)


def asking_gpus(wildcards):
    """GPUs of a job of ask_models: the most that any of its models takes, as they take turns."""
    return engine_gpus(*roles_of_stage(wildcards.stage))


def asking_slots(wildcards):
    """Calls to endpoints that are under way at once in a job of ask_models."""
    return api_slots(*roles_of_stage(wildcards.stage))


def asking_inputs(wildcards):
    """Files of all shards that a job of ask_models asks about."""
    shards = asking_shards(wildcards)
    folder, roles = f"results/{wildcards.dataset}", roles_of_stage(wildcards.stage)
    found = {
        "moments": expand(f"{folder}/corpus/shards/{{shard}}.moments.jsonl", shard=shards),
        "prompts": prompt_files(*TASKS_OF_STAGE[wildcards.stage]),
        "weights": role_records(settings, *roles),
        "cassettes": cassettes(*roles),
    }
    if wildcards.stage == "statics":
        found["keyframes"] = expand(f"{folder}/keyframes/{{shard}}.tar", shard=shards)
    if wildcards.stage == "dynamics":
        found["videos"] = expand(f"{folder}/corpus/shards/{{shard}}.videos.jsonl", shard=shards)
    return found


def asked_by(stage):
    """An input function: the job of ask_models that makes the calls of a shard; none where the shard's job does."""

    def files(wildcards):
        if not asked_first(settings.generation, stage):
            return []
        job = job_of_shard(wildcards.shard, SHARDS, settings.generation.shards_per_job)
        return [f"results/{wildcards.dataset}/captions/asked/{stage}-{job}.json"]

    return files


def asking_threads(stage):
    """Cores of a job that makes a stage's calls: those that compute, and those that decode ahead of a GPU."""
    return settings.generation.threads + prefetch_threads(settings.generation, stage)


def stage_gpus(stage):
    """GPUs of a shard's job: none where ask_models makes its calls."""
    return 0 if asked_first(settings.generation, stage) else engine_gpus(*roles_of_stage(stage))
