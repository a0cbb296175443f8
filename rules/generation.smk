from verified.captions.counts import asked_in_of
from verified.lmm.jobs import AskingJobs
from verified.lmm.tasks.paper import TASKS_OF_STAGE
from verified.weights.wanted import role_records, sentence_records

ASKING = AskingJobs(settings)


def asking_inputs(tasks, *roles):
    """Files that answers to `tasks` depend on: prompts, weights, cassettes, and files of extensions."""
    weights, cassettes = role_records(settings, *roles), ASKING.cassettes(*roles)
    files = {"prompts": ASKING.prompts(*tasks), "weights": weights, "cassettes": cassettes}
    return files | ({"before": before} if (before := ASKING.before(*tasks)) else {})


def asking_needs(*roles, mb=3000, minutes=60, gpu_minutes=240):
    """Resources of a job that asks models of these roles."""
    gpus = ASKING.gpus(*roles)
    room = needs(64000, gpu_minutes) if gpus else needs(mb, minutes)
    return {**room, "disk_mb": 500, "gpu": gpus, "api_slots": ASKING.api_slots(*roles)}
