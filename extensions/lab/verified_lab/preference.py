"""A blind choice between two captions of a clip: its plan, its pages, and a test of the preference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.errors import InputError
from verified.people.agreement import grade_matrix, krippendorff_alpha
from verified.people.answers import Form
from verified.people.pages import Page
from verified.people.sample import add_digest, assign
from verified.runtime.seeds import generator

SIDES = ("first", "second")
EQUAL = "equal"
QUESTIONS = ("better", "accurate")
"""Which caption describes the clip in more telling detail, and which is accurate."""


def _problem(answer: Mapping, question: Mapping, key: Mapping) -> str | None:
    for name in QUESTIONS:
        if answer.get(name) not in (*SIDES, EQUAL):
            return f"{name} is {answer.get(name)!r}, not one of {', '.join((*SIDES, EQUAL))}"
    return None


def _key_problem(key: Mapping) -> str | None:
    names = key.get("names")
    if not isinstance(names, list) or len(names) != 2:
        return "names are not those of two runs"
    for row in key["questions"]:
        shown = row.get("shown")
        if not isinstance(shown, list) or sorted(map(str, shown)) != sorted(map(str, names)):
            return f"question {row['question']} does not say whose captions it shows"
        if not isinstance(row.get("video"), str):
            return f"question {row['question']} names no video"
    return None


FORM = Form("preference", "participant", "question", QUESTIONS, _problem, _key_problem)


def plan(
    names: tuple[str, str],
    pairs: Iterable[tuple[dict, dict]],
    captions: int,
    questions: int,
    raters: int,
    seed: int,
) -> dict[str, Any]:
    """The key of the pages: drawn moments with both captions, their order on the page, and each participant's
    questions.

    `pairs`: rows of annotations of both runs for the same moment. Equal captions are dropped and counted. Raises
    InputError if all are equal.
    """
    pairs = list(pairs)
    differing = [pair for pair in pairs if pair[0]["fig_desc"].strip() != pair[1]["fig_desc"].strip()]
    if not differing:
        raise InputError("both runs have the same captions", remedy="there is nothing to choose between")
    random = generator(seed, "preference", *names)
    drawn = [differing[place] for place in random.permutation(len(differing))[:captions]]
    swapped = random.random(len(drawn)) < 0.5
    lists = [
        {
            "question": number,
            "video": one["video"],
            "time": one["time"],
            "first": (two if swap else one)["fig_desc"],
            "second": (one if swap else two)["fig_desc"],
            "shown": [names[int(swap)], names[1 - int(swap)]],
        }
        for number, ((one, two), swap) in enumerate(zip(drawn, swapped.tolist()), start=1)
    ]
    key = {
        "names": list(names),
        "seed": seed,
        "raters": raters,
        "equal": len(pairs) - len(differing),
        "questions": lists,
        "participants": assign(len(lists), min(questions, len(lists)), raters, seed),
    }
    return add_digest("preference", key)


def pages(key: Mapping, clips: Mapping[int, bytes]) -> Iterator[Page]:
    """A page per participant, without any sign of a caption's origin."""
    questions = {row["question"]: row for row in key["questions"]}
    for participant, numbers in enumerate(key["participants"], start=1):
        shown = {
            "preference": key["preference"],
            "participant": participant,
            "questions": [{name: questions[number][name] for name in ("question", *SIDES)} for number in numbers],
        }
        yield Page(
            f"participant-{participant:02d}.html",
            f"Two descriptions of a clip, participant {participant}",
            {"preference": shown},
            {f"clip-{number}": clips[number] for number in numbers},
        )


def summarise(answers: Sequence[Mapping], key: Mapping) -> dict[str, Any]:
    """For each question the preference for the first run: `share` in percent with ties counting half and a 95 %
    interval over videos, `p` of a two-sided sign test over captions, and Krippendorff's alpha.

    A caption's verdict is the mean of its answers; for the sign test, captions without a majority count for neither.
    """
    people, numbers = (range(1, len(key[name]) + 1) for name in ("participants", "questions"))
    videos = np.array([row["video"] for row in key["questions"]])
    found = {}
    for name in QUESTIONS:
        given = (
            (row["participant"], row["question"], _value(row[name], key["questions"][row["question"] - 1], key))
            for row in answers
        )
        matrix = grade_matrix(given, people, numbers)
        answered = ~np.isnan(matrix).all(axis=0)
        verdict = np.nanmean(matrix[:, answered], axis=0)
        share = mean_interval(100 * verdict[None, :, None], videos[answered], top=100)
        wins, losses = int((verdict > 0.5).sum()), int((verdict < 0.5).sum())
        found[name] = {
            "captions": int(answered.sum()),
            "share": float(share.value[0]),
            "low": _plain(share.low[0]),
            "high": _plain(share.high[0]),
            "preferred": wins,
            "other_preferred": losses,
            "undecided": int(answered.sum()) - wins - losses,
            "p": sign_test(wins, losses),
            "alpha": krippendorff_alpha(matrix, "ordinal"),
        }
    return {"names": list(key["names"]), "answers": len(answers), "equal": key["equal"], "questions": found}


def _value(answer: str, question: Mapping, key: Mapping) -> float:
    """1 if the first run's caption is preferred, 0 for the second's, one half for neither."""
    if answer == EQUAL:
        return 0.5
    return float(question["shown"][SIDES.index(answer)] == key["names"][0])


def sign_test(wins: int, losses: int) -> float | None:
    """Two-sided p of a fair coin for a split at least this uneven; None without throws."""
    if not wins + losses:
        return None
    from scipy.stats import binomtest  # pyright: ignore[reportMissingTypeStubs] (it has none)

    return float(binomtest(wins, wins + losses).pvalue)


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
