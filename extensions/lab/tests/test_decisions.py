"""Reviewers' decisions: their result, refused files, and the captions published after them."""

import pytest
from candidate_rows import moment_row, score_row
from refusals import refused
from small_review import decision_row

from verified.annotations.export import count
from verified.annotations.selection import annotate, candidates_by_moment
from verified.config import load
from verified.config.annotations import Annotations, Lint
from verified.export.collection import collect
from verified.io.fig import read_fig, write_fig
from verified.planning.stages import supplied
from verified_lab.review.adjudicate import adjudicate
from verified_lab.review.apply import check_edits, drawn_rows, precision_threshold, select_reviewed, with_times

MOMENTS = [moment_row(n, start=0.5, end=2.5, duration=9.0, caption=f"c {n}") for n in range(1, 9)]
SCORES = [
    score_row(n, kind, k, n + k + 0.5 * (kind == "dynamics"), caption=f"{kind} {k} of {n}", lineage=f"{kind}{k}{n}")
    for n in range(1, 9)
    for kind in ("statics", "dynamics")
    for k in range(3)
]
GROUPS = candidates_by_moment(MOMENTS, SCORES)


def decision(n: int, what: str, reviewer: str = "ann", when: int = 0, moments: list[dict] = MOMENTS, **more) -> dict:
    moment = next(moment for moment in moments if moment["desc_id"] == n)
    judged = {"type": "dynamics", "candidate": 2, "caption": f"dynamics 2 of {n}"}
    written = {"reviewer": reviewer, "when": f"2026-01-01T00:00:{when:02d}Z", "file": "a.jsonl", "row": 1}
    return decision_row(moment, judged, what, **written | more)


def other(n: int, kind: str = "statics", k: int = 0) -> dict:
    return {"type": kind, "candidate": k, "caption": f"{kind} {k} of {n}"}


def found_of(*rows) -> dict:
    return adjudicate(rows, MOMENTS, GROUPS)


def states(found: dict) -> list[str]:
    return [row["state"] for row in found["decisions"]]


def test_the_latest_decision_of_a_reviewer_counts_and_earlier_ones_stay_on_record():
    found = found_of(decision(1, "reject", when=1, reason="wrong"), decision(1, "accept", when=2))
    assert states(found) == ["superseded", "applied"] and found["outcomes"][1]["decision"] == "accept"
    found = found_of(decision(1, "accept", when=1), decision(1, "withdraw", when=2))
    assert states(found) == ["withdrawn", "withdrawn"] and not found["outcomes"]


def test_reviewers_who_differ_are_a_conflict_and_a_majority_wins():
    two = decision(1, "accept"), decision(1, "reject", "bob", reason="wrong")
    found = found_of(*two)
    assert found["conflicts"] == [1] and not found["outcomes"] and states(found) == ["open conflict"] * 2
    found = found_of(*two, decision(1, "accept", "eve", when=5))
    assert found["outcomes"][1]["when"] == "2026-01-01T00:00:05Z"
    assert found["conflicts"] == [1] and found["outcomes"][1]["reviewers"] == ["ann", "eve"]
    assert states(found) == ["applied", "outvoted", "applied"]


@pytest.mark.parametrize(
    "change, why",
    [
        ({"caption": "what it said before"}, "candidate is not there any more: what it said before"),
        ({"video": "v9"}, "another video or other times"),
        ({"end": 2.6}, "another video or other times"),
    ],
)
def test_a_decision_on_what_has_changed_is_stale_and_named(change, why):
    found = found_of(decision(1, "accept", **change))
    assert states(found) == ["stale"] and why in found["decisions"][0]["why"] and not found["outcomes"]


def test_decisions_are_in_the_annotations_with_reviewer_and_time(tmp_path):
    rows, _, _ = annotate(MOMENTS, GROUPS)
    found = found_of(
        decision(1, "accept"),
        decision(2, "choose", instead=other(2)),
        decision(3, "edit", text="a better one"),
        decision(4, "reject", reason="wrong"),
    )
    given, left_out, counts = select_reviewed(rows, GROUPS, found["outcomes"], 8.0, Annotations())
    by_id = {row["desc_id"]: row for row in given}
    review = {"decision": "accept", "reviewers": ["ann"], "when": "2026-01-01T00:00:00Z"}
    assert by_id[1]["review"] == review and by_id[1]["fig_desc"] == "dynamics 2 of 1"  # below 8, and still there
    assert by_id[2]["fig_desc"] == "statics 0 of 2"
    assert (by_id[2]["fig_desc_score"], by_id[2]["lineage"]) == (2.0, "statics02")
    assert by_id[3]["fig_desc"] == "a better one" and by_id[3]["review"]["edited_from"] == "dynamics 2 of 3"
    assert left_out == {4: "rejected", 5: "below-min-score"} and "review" not in by_id[6]
    once = dict.fromkeys(("accepted", "chosen", "edited", "rejected", "below-min-score"), 1)
    assert counts == once | {"left-out": 2, "kept": 3}
    as_coarse = found_of(decision(7, "edit", text="C 7."))["outcomes"]
    assert select_reviewed(rows[6:7], GROUPS, as_coarse, None, Annotations())[0][0]["fig_desc_type"] == "coarse"
    types = {row["desc_id"]: row["fig_desc_type"] for row in given}
    counted = count(MOMENTS, GROUPS, ["test"], types, left_out)
    assert counted["annotated"] == 6 and counted["without"] == {"below-min-score": 1, "rejected": 1}
    write_fig(tmp_path / "test.jsonl", given)
    assert read_fig(tmp_path / "test.jsonl") == given
    exported = collect([{**row, "split": "test"} for row in given], ["test"], {}).splits["test"]
    assert [row["decision"] for row in exported[:3]] == ["accept", "choose", "edit"]


def test_the_smallest_score_is_measured_on_reviewed_captions():
    judged = [(float(score), score >= 5) for score in range(20)]
    assert precision_threshold(judged, 1.0) == 5.0
    assert precision_threshold(judged, 0.8) == 2.0  # 15 of 18
    assert precision_threshold([(1.0, True)] * 8 + [(0.0, True)] * 8, 0.9) == 0.0  # of one score: all or none
    with refused("90%", "9 of them", remedy=True):
        precision_threshold([(1.0, True)] * 9, 0.9)


def test_times_change_by_the_median_where_most_who_share_the_outcome_corrected_them():
    rows, _, _ = annotate(MOMENTS, GROUPS)
    one, two = decision(1, "accept", time=[0.5, 3.0]), decision(1, "accept", "bob", time=[1.0, 3.5])
    two_more = [decision(2, "accept", name) for name in ("bob", "eve")]
    found = found_of(one, two, decision(1, "accept", "eve"), decision(2, "accept", time=[0, 1]), *two_more)
    assert found["outcomes"][1]["time"] == [0.75, 3.25] and "time" not in found["outcomes"][2]
    assert found["conflicts"] == [2]
    given, _, counts = select_reviewed(rows, GROUPS, found["outcomes"], None, Annotations())
    assert given[0]["time"] == [0.75, 3.25] and given[0]["review"]["time_before"] == [0.5, 2.5]
    assert counts["retimed"] == 1 and counts["accepted"] == 2 and given[1]["time"] == [0.5, 2.5]
    assert [row["time"] for row in with_times(rows, found["outcomes"])][:2] == [[0.75, 3.25], [0.5, 2.5]]
    assert states(found_of(decision(1, "accept", time=[0, 9.5]))) == ["stale"]  # the video ends at 9 s


def test_drawn_moments_are_added_once_and_can_be_taken_back():
    text = {"text": "a dog comes in"}
    one = decision(1, "draw", time=[4.0, 6.0], **text)
    same = decision(1, "draw", "bob", time=[4.0, 5.9], when=1, **text)
    other = decision(1, "draw", "eve", time=[4.0, 5.0], when=2, text="an animal")
    elsewhere = decision(1, "draw", time=[7.0, 8.0], text="it leaves", when=3)
    found = found_of(one, same, other, elsewhere, decision(1, "accept", "bob"))
    assert states(found) == ["applied", "applied", "outvoted", "applied", "applied"]
    (first, second) = drawn_rows(found["drawn"])
    assert first["review"]["reviewers"] == ["ann", "bob"]
    assert (first["time"], second["time"]) == ([4.0, 6.0], [7.0, 8.0])
    assert first["cog_desc"] == first["fig_desc"] == text["text"] and first["fig_desc_type"] == "coarse"
    back = decision(1, "withdraw", when=5)
    assert [moment["reviewers"] for moment in found_of(one, same, back)["drawn"]] == [["bob"]]
    timed = {**one, "text": "after 3 seconds it leaves"}
    with refused("speaks_of_time", remedy=True):
        check_edits(found_of(timed)["decisions"], MOMENTS, Lint())


def test_a_row_inserted_in_a_file_without_ids_makes_no_decision_stale():
    twins = [MOMENTS[0], {**MOMENTS[0], "desc_id": 2, "caption": "of the same seconds"}]
    given = [
        decision(n, what, moments=twins, **more) for n, what, more in ((1, "accept", {}), (2, "edit", {"text": "a b"}))
    ]
    given[1] |= {"caption": "dynamics 2 of 1"}  # even where both have the same candidates
    scores = [{**row, "desc_id": n} for n in (2, 3) for row in SCORES[:6]]
    inserted = [{**MOMENTS[0], "desc_id": 1, "start": 0.1}, *({**row, "desc_id": row["desc_id"] + 1} for row in twins)]
    found = adjudicate(given, inserted, candidates_by_moment(inserted, scores))
    assert {n: outcome["decision"] for n, outcome in found["outcomes"].items()} == {2: "accept", 3: "edit"}
    assert found["decisions"][0]["shown_as"] == 1
    twins[1]["caption"] = twins[0]["caption"]
    second = decision(2, "accept", moments=twins, caption="dynamics 2 of 1")
    groups = candidates_by_moment(twins, [{**row, "desc_id": n} for n in (1, 2) for row in SCORES[:6]])
    assert [*adjudicate([second], twins, groups)["outcomes"]] == [2], "of identical moments the one that was shown"


MOVED, EDITED = ("accept", {"time": [0.5, 3.0]}), ("edit", {"text": "it falls fast"})
ACCEPTED, REJECTED = ("accept", {}), ("reject", {"reason": "x"})
OTHERWISE = ("edit", {"text": "it rises"})
FAR, FAR_OFF = ("accept", {"time": [4.0, 6.0]}), ("edit", {"text": "it falls fast", "time": [4.0, 6.0]})
SHOWN = "dynamics 2 of 1"
MERGED = [
    ((MOVED, EDITED), [([0.5, 3.0], "it falls fast")], False),
    ((MOVED, ACCEPTED), [([0.5, 3.0], SHOWN)], False),
    ((FAR_OFF, ACCEPTED), [([4.0, 6.0], SHOWN)], True),
    ((EDITED, OTHERWISE), [([0.5, 2.5], SHOWN)], True),
    ((EDITED, ACCEPTED), [([0.5, 2.5], SHOWN)], True),
    ((MOVED, FAR), [([0.5, 2.5], SHOWN)], True),
    ((MOVED, FAR_OFF), [([0.5, 2.5], SHOWN)], True),
    ((MOVED, REJECTED), [([0.5, 2.5], SHOWN)], True),
    ([("accept", {"time": [1.0, end]}) for end in (2.0, 2.5, 8.9, 9.0)], [([0.5, 2.5], SHOWN)], True),
    ((EDITED, EDITED, MOVED), [([0.5, 3.0], "it falls fast")], False),
]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("decided, rows, conflict", MERGED)
def test_votes_on_span_and_caption_are_merged_separately(decided, rows, conflict, backwards):
    people = [decision(1, what, name, **more) for name, (what, more) in zip(("ann", "bob", "eve", "jim"), decided)]
    people = people[::-1] if backwards else people
    found = found_of(*people)
    written = select_reviewed(annotate(MOMENTS, GROUPS)[0][:1], GROUPS, found["outcomes"], None, Annotations())[0]
    assert [(row["time"], row["fig_desc"]) for row in written] == rows
    assert found["conflicts"] == ([1] if conflict else [])
    if not conflict:
        assert set(states(found)) == {"applied"}


def test_further_captions_do_not_repeat_the_one_that_a_reviewer_replaced():
    rows, _, _ = annotate(MOMENTS[:2], GROUPS)
    found = found_of(decision(2, "choose", instead=other(2)))
    first, second = select_reviewed(rows, GROUPS, found["outcomes"], None, Annotations(best=3))[0]
    assert [entry["fig_desc"] for entry in first["further"]] == ["statics 2 of 1", "dynamics 1 of 1"]
    assert [entry["fig_desc"] for entry in second["further"]] == ["statics 2 of 2", "dynamics 1 of 2"]


DATASET = {"lab": {"title": "Lab", "source": {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"}}}


def test_files_of_decisions_are_inputs_and_a_precision_needs_them():
    settings = load({"name": "lab", "datasets": DATASET, "review": {"decisions": ["gone.jsonl"]}})
    assert [(given.key, bool(given.missing)) for given in supplied(settings)][-1] == ("review.decisions", True)
    with refused("min_precision", "decisions"):
        load({"name": "lab", "datasets": DATASET, "review": {"min_precision": 0.9}})
