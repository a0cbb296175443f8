"""Perturbed captions (section 3.3, Equation 6; supplement listings 7 to 9)."""

from verified.lmm.tasks.numbered import list_task, read_captions

POSITIVES = list_task("positives", ("caption", "count"), 50, read_captions, settings=("perturbations",))
STATIC_NEGATIVES = list_task("static_negatives", ("caption", "count"), 50, read_captions, settings=("perturbations",))
DYNAMIC_NEGATIVES = list_task("dynamic_negatives", ("caption", "count"), 50, read_captions, settings=("perturbations",))
TASKS = (POSITIVES, STATIC_NEGATIVES, DYNAMIC_NEGATIVES)
