"""Choosing the caption of highest and lowest confidence."""

from candidate_rows import moment_row, score_row
from hypothesis import given
from hypothesis import strategies as st

from verified.annotations.selection import annotate, candidates_by_moment, choose, choose_by

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
    scores = [candidate("dynamics", 1, 1.0), candidate("dynamics", 0, 1.0), candidate("statics", 0, 1.0)]
    highest, lowest = choose(candidates_by_moment([MOMENT], scores)[7])
    assert (highest["caption"], lowest["caption"]) == ("statics 0", "dynamics 1")


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
