"""Results of the grades: R_s, R_d and S with intervals, and the agreement of the raters (Table 3, supplement Table
3)."""

from collections.abc import Mapping

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.errors import InputError
from verified.people.agreement import Level, grade_matrix, krippendorff_alpha
from verified.people.study.sample import GRADES
from verified.runtime.seeds import generator

RESAMPLES = 1000
LEVELS: dict[str, Level] = {"statics": "nominal", "dynamics": "nominal", "accuracy": "ordinal"}


def summarise(answers: list[dict], key: Mapping, raters: int | None = None) -> dict:
    """Summarise the captions with grades of at least `raters` people (the study's own number if None).

    The verdict on a caption is the median of its grades, which for yes and no is the majority; an evenly split even
    number of raters gives one half. Measures have 95 % intervals over captions, and each of the three questions
    Krippendorff's alpha.

    R_s is the share (%) of statics captions judged to have richer static information, R_d likewise for dynamics; S is
    the mean accuracy grade of statics, of dynamics, and of all. `missing` lists the participants without answers,
    `left_out` the questions that therefore have too few. Raises InputError if all have too few.
    """
    wanted_raters = raters or key["raters"]
    people, questions = (range(1, len(key[name]) + 1) for name in ("participants", "questions"))
    whole = {
        grade: grade_matrix(((row["participant"], row["question"], row[grade]) for row in answers), people, questions)
        for grade in GRADES
    }
    answered = (~np.isnan(whole[GRADES[0]])).sum(axis=1)
    complete = (~np.isnan(whole[GRADES[0]])).sum(axis=0) >= wanted_raters
    if not complete.any():
        raise InputError(
            f"no caption has the grades of {wanted_raters} people yet",
            remedy="import the files of more participants, or lower --raters",
        )
    types = np.array([row["type"] for row in key["questions"]])[complete]
    matrices = {grade: matrix[:, complete] for grade, matrix in whole.items()}
    values = {grade: np.nanmedian(matrix, axis=0) for grade, matrix in matrices.items()}
    everything = np.ones(len(types), dtype=bool)
    measures = {
        "R_s_percent": (100 * values["statics"], types == "statics"),
        "S_statics": (values["accuracy"], types == "statics"),
        "R_d_percent": (100 * values["dynamics"], types == "dynamics"),
        "S_dynamics": (values["accuracy"], types == "dynamics"),
        "S_total": (values["accuracy"], everything),
    }
    return {
        "dataset": key["dataset"],
        "title": key["title"],
        "study": key["study"],
        "participants": len(key["participants"]),
        "missing": [int(position) + 1 for position in np.flatnonzero(answered == 0)],
        "raters": wanted_raters,
        "left_out": [row["question"] for row, enough in zip(key["questions"], complete) if not enough],
        "answers": int((~np.isnan(matrices[GRADES[0]])).sum()),
        "measures": {
            name: _measure(grades[counted], *((0, 100) if name.endswith("percent") else (1, 5)))
            for name, (grades, counted) in measures.items()
        },
        "agreement": {grade: _agreement(matrices[grade], LEVELS[grade], key["seed"]) for grade in GRADES},
    }


def _measure(values: np.ndarray, least: float, most: float) -> dict:
    """Mean of grades from `least` to `most` and its interval; None without captions, no bounds for a single one."""
    numbers = dict.fromkeys(("value", "low", "high"))
    if len(values):
        interval = mean_interval((values - least)[None, :, None], range(len(values)), top=most - least)
        numbers = {name: float(getattr(interval, name)[0]) + least for name in numbers}
    return {name: None if number is None or np.isnan(number) else number for name, number in numbers.items()} | {
        "captions": len(values)
    }


def _agreement(matrix: np.ndarray, level: Level, seed: int) -> dict:
    random = generator(seed, "study", "agreement", level)
    resampled = (random.integers(0, matrix.shape[1], matrix.shape[1]) for _ in range(RESAMPLES))
    draws = [krippendorff_alpha(matrix[:, columns], level) for columns in resampled]
    usable = [draw for draw in draws if draw is not None]
    low, high = (float(bound) for bound in np.quantile(usable, [0.025, 0.975])) if usable else (None, None)
    return {"alpha": krippendorff_alpha(matrix, level), "low": low, "high": high, "level": level}
