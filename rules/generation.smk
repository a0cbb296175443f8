from verified.captions.unanswered import asked_in_of
from verified.generation.prompts import prompt_file
from verified.weights.paths import role_records, sentence_records


def prompt_files(*tasks):
    """The prompt files of the given tasks: a rule depends on those it uses and no others."""
    return [prompt_file(settings.generation.prompts, task) for task in tasks]


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
    return max((role.api_slots for role in used if role.engine == "openai"), default=0)


def generation_environment(stage, *roles):
    """The conda file of a job: that of its stage, or vLLM's where one of its roles runs on vLLM."""
    used = {getattr(settings.generation, role).engine for role in roles}
    return f"../envs/{'generation-cuda' if 'vllm' in used else stage}.yaml"


TASKS_OF_STAGE = {
    "statics": ("keyframe_description", "statics_candidates"),
    "dynamics": ("questions", "answers", "dynamics_candidates"),
    "perturbations": ("positives", "static_negatives", "dynamic_negatives"),
}


def asking_settings():
    """What the calls of any stage depend on."""
    generation = settings.generation
    chosen = {role: getattr(generation, role).identity() for role in ("llm", "image_lmm", "video_lmm")}
    numbers = ("candidates", "questions", "perturbations", "attempts", "frame_side")
    return chosen | {name: getattr(generation, name) for name in numbers}


def engine_code(*roles):
    """A digest of the code of each engine that a job uses."""
    used = sorted({getattr(settings.generation, role).engine for role in roles})
    return {engine: modules_digest(f"generation.engines.{engine.replace('-', '_')}") for engine in used}
