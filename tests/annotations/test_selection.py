"""Choosing the caption of highest and lowest confidence."""

from candidate_rows import moment_row, score_row
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from verified.annotations.lint import lint
from verified.annotations.selection import annotate, candidates_by_moment, choose, choose_by, select, smallest_score
from verified.config.annotations import Lint
from verified.io.fig import write_fig

MOMENT = moment_row(7)


def candidate(kind: str, index: int, score: float, desc_id: int = 7) -> dict:
    return score_row(desc_id, kind, index, score, lineage=f"{kind}-{index}")


def test_highest_and_lowest_over_both_types():
    scores = [candidate("dynamics", 0, 2.0), candidate("statics", 1, -1.0), candidate("statics", 0, 0.5)]
    highest, lowest, reasons = annotate([MOMENT], candidates_by_moment([MOMENT], scores))
    assert (highest[0]["fig_desc"], lowest[0]["fig_desc"]) == ("dynamics 0", "statics 1")
    assert (highest[0]["fig_desc_score"], lowest[0]["fig_desc_score"]) == (2.0, -1.0)
    assert highest[0]["fig_desc_type"] == "dynamics" and highest[0]["lineage"] == "dynamics-0"
    assert not reasons


def test_equal_scores_take_statics_first_for_the_highest_and_the_last_for_the_lowest():
    scores = [candidate("dynamics", 0, 1.0), candidate("statics", 1, 1.0), candidate("statics", 0, 1.0)]
    highest, lowest = choose(candidates_by_moment([MOMENT], scores)[7])
    assert (highest["caption"], lowest["caption"]) == ("statics 0", "dynamics 0")


def test_moments_without_a_usable_candidate_are_counted_by_reason():
    moments = [{**MOMENT, "desc_id": number} for number in (7, 8, 9, 10, 11)]
    scores = [candidate("statics", 0, float("nan") if n == 8 else 0.1, desc_id=n) for n in (8, 9, 10, 11)]
    highest, lowest, reasons = annotate(moments, candidates_by_moment(moments, scores))
    assert [row["desc_id"] for row in highest] == [row["desc_id"] for row in lowest] == [9, 10, 11]
    assert reasons == {"no-scored-candidate": 1, "no-finite-score": 1}


@given(
    st.lists(
        st.tuples(st.sampled_from(["statics", "dynamics"]), st.integers(0, 9), st.floats(-5, 5)),
        unique_by=lambda c: c[:2],
        min_size=1,
    ),
    st.randoms(),
)
def test_the_choice_does_not_depend_on_the_order_of_the_scores(candidates, random):
    rows = [candidate(*values) for values in candidates]
    shuffled = random.sample(rows, len(rows))
    extremes = choose(candidates_by_moment([MOMENT], rows)[7])
    assert extremes == choose(candidates_by_moment([MOMENT], shuffled)[7])
    assert extremes[0]["score"] == max(row["score"] for row in rows)
    assert extremes[1]["score"] == min(row["score"] for row in rows)
    assert len(rows) == 1 or extremes[0] is not extremes[1]


def test_random_numbers_differ_by_type_number_moment_and_seed():
    rows = [candidate(kind, index, 1.0, n) for n in (7, 8) for kind in ("statics", "dynamics") for index in (0, 1)]
    groups = candidates_by_moment([MOMENT, {**MOMENT, "desc_id": 8}], rows)
    drawn = [row["choice"] for seed in (3, 4) for of in choose_by(groups, "random", seed).values() for row in of]
    assert len(set(drawn)) == 16
    alone = choose_by({8: groups[8]}, "random", 4)[8]
    assert [row["choice"] for row in alone] == drawn[12:], "whatever else is drawn"


MOMENTS = [moment_row(n, caption=f"c {n}") for n in range(1, 9)]
GROUPS = candidates_by_moment(
    MOMENTS,
    [
        score_row(n, kind, k, n + k + 0.5 * (kind == "dynamics"), caption=f"{kind} {k} of {n}")
        for n in range(1, 9)
        for kind in ("statics", "dynamics")
        for k in range(3)
    ],
)


def test_the_coarse_caption_takes_the_place_of_one_that_is_not_good_enough(tmp_path):
    rows, _, _ = annotate(MOMENTS, GROUPS)
    given, left_out, counts = select(rows, GROUPS, 9.0, otherwise="coarse")
    assert len(given) == 8 and not left_out and counts == {"below-min-score": 6, "fell-back": 6, "kept": 2}
    assert (given[0]["fig_desc"], given[0]["fig_desc_type"]) == ("c 1", "coarse")
    write_fig(tmp_path / "test.jsonl", given)
    assert "equals_coarse" not in lint(tmp_path / "test.jsonl", Lint())["findings"]


def test_the_smallest_score_is_a_quantile_or_lies_among_the_scores():
    scores = [float(score) for score in range(-20, 0)]
    least = smallest_score(scores, min_quantile=0.1)
    assert sum(score < least for score in scores) == 2
    assert smallest_score(scores, -3.0, 0.1) == -3.0 and smallest_score(scores, -19.0, 0.1) == -18.0
    assert smallest_score([1.0, 1.0], min_quantile=0.9) == 1.0  # equal scores are kept together
    assert smallest_score([], 0.5) == 0.5 and smallest_score(scores) is None
    with refused("0.5", "-20", "-1", "annotations.min_quantile", remedy=True):
        smallest_score(scores, 0.5)


def test_several_captions_a_moment_are_the_next_best_that_say_something_else():
    rows, _, _ = annotate(MOMENTS[:2], GROUPS)
    first = select(rows, GROUPS, None, best=3)[0][0]
    assert [entry["fig_desc"] for entry in first["further"]] == ["statics 2 of 1", "dynamics 1 of 1"]
    least = select(rows, GROUPS, 3.0, best=6)[0][0]
    assert [entry["fig_desc_score"] for entry in least["further"]] == [3.0]
    turned = {ident: [{**entry, "choice": -entry["choice"]} for entry in of] for ident, of in GROUPS.items()}
    [row] = select(annotate(MOMENTS[:1], turned)[0], turned, 1.0, best=3)[0]
    assert [entry["fig_desc"] for entry in row["further"]] == ["dynamics 0 of 1", "statics 1 of 1"]
    edited = select(rows, GROUPS, None, 2, decide=lambda row, *_: ({**row, "fig_desc": "by hand"}, "edited"))[0][0]
    assert [entry["fig_desc"] for entry in edited["further"]] == ["statics 2 of 1"]
