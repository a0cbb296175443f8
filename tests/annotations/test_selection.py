"""Choosing the caption of highest and lowest confidence; candidates as parquet, counts, and the dataset card."""

import pyarrow.parquet
from candidate_rows import moment_row, score_row
from given import coarse_only
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from verified.annotations.export import count, generation_facts, origins, write_candidates
from verified.annotations.lint import lint
from verified.annotations.selection import annotate, candidates_by_moment, choose, choose_by, select, smallest_score
from verified.annotations.splits import annotation_files, annotation_splits, missing_splits
from verified.config import load
from verified.config.annotations import Annotations, Lint
from verified.io.fig import write_fig

MOMENT = moment_row(7)


def candidate(kind: str, index: int, score: float, desc_id: int = 7) -> dict:
    return score_row(desc_id, kind, index, score, lineage=f"{kind}-{index}")


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
    given, left_out, counts = select(rows, GROUPS, 9.0, Annotations(otherwise="coarse"))
    assert len(given) == 8 and not left_out and counts == {"below-min-score": 6, "fell-back": 6, "kept": 2}
    assert (given[0]["fig_desc"], given[0]["fig_desc_type"]) == ("c 1", "coarse")
    write_fig(tmp_path / "test.jsonl", given)
    assert "equals_coarse" not in lint(tmp_path / "test.jsonl", Lint())["findings"]


def test_the_smallest_score_is_a_quantile_or_lies_among_the_scores():
    def least_of(scores, **limits):
        return smallest_score(scores, Annotations(**limits))

    scores = [float(score) for score in range(-20, 0)]
    least = least_of(scores, min_quantile=0.1)
    assert sum(score < least for score in scores) == 2
    assert [least_of(scores, min_score=limit, min_quantile=0.1) for limit in (-3.0, -19.0)] == [-3.0, -18.0]
    assert least_of([1.0, 1.0], min_quantile=0.9) == 1.0  # equal scores are kept together
    assert least_of([], min_score=0.5) == 0.5 and least_of(scores) is None
    with refused("0.5", "-20", "-1", "annotations.min_quantile", remedy=True):
        least_of(scores, min_score=0.5)


def test_several_captions_a_moment_are_the_next_best_that_say_something_else():
    rows, _, _ = annotate(MOMENTS[:2], GROUPS)
    first = select(rows, GROUPS, None, Annotations(best=3))[0][0]
    assert [entry["fig_desc"] for entry in first["further"]] == ["statics 2 of 1", "dynamics 1 of 1"]
    least = select(rows, GROUPS, 3.0, Annotations(best=6))[0][0]
    assert [entry["fig_desc_score"] for entry in least["further"]] == [3.0]
    turned = {ident: [{**entry, "choice": -entry["choice"]} for entry in of] for ident, of in GROUPS.items()}
    [row] = select(annotate(MOMENTS[:1], turned)[0], turned, 1.0, Annotations(best=3))[0]
    assert [entry["fig_desc"] for entry in row["further"]] == ["dynamics 0 of 1", "statics 1 of 1"]
    two = Annotations(best=2)
    edited = select(rows, GROUPS, None, two, lambda row, *_: ({**row, "fig_desc": "by hand"}, "edited"))[0][0]
    assert [entry["fig_desc"] for entry in edited["further"]] == ["statics 2 of 1"]


SPLIT_MOMENTS = [moment_row(i, split=split) for i, split in enumerate(["train", "train", "test", "other"])]
SCORES = [score_row(i, kind, k, float(k)) for i in (0, 2) for kind in ("statics", "dynamics") for k in range(3)]
SAID = {"chosen_by": "confidence", "warning": "Not to be trusted."}
FACTS = {"model": "writer@abc", "image_model": "looker", "video_model": "watcher"}
FACTS |= {"prompts": "mine", "prompts_sha256": "0f"}
SEEN = [
    {"time": 0.5, "foreground": "a ball", "description": "a ball"},
    {"time": 1.5, "foreground": "", "description": ""},
    {"time": 2.25, "foreground": "a box", "description": ""},
]
STATICS = [{"desc_id": i, "reason": None, "keyframes": SEEN} for i in (0, 2)]
DYNAMICS = [{"desc_id": i, "reason": "short", "frames": 20, "thinned": True} for i in (0, 2)]
ORIGIN = origins(STATICS, DYNAMICS, FACTS)


def test_the_table_holds_every_candidate_with_its_lineage(tmp_path):
    path = tmp_path / "candidates.parquet"
    write_candidates(path, SPLIT_MOMENTS, candidates_by_moment(SPLIT_MOMENTS, SCORES), ORIGIN, SAID)
    read = pyarrow.parquet.read_table(path)
    assert read.schema.metadata[b"verified.chosen_by"] == b"confidence"
    assert read.schema.metadata[b"verified.warning"] == b"Not to be trusted."
    table = read.to_pylist()
    assert all(row["choice"] == row["score"] for row in table)
    assert len(table) == len(SCORES)
    assert {row["lineage"] for row in table} == {"abc"}
    assert [(row["type"], row["candidate"]) for row in table if row["highest"]] == [("statics", 2)] * 2
    assert [(row["type"], row["candidate"]) for row in table if row["lowest"]] == [("dynamics", 0)] * 2
    assert all(row["model"] == "writer@abc" and row["prompts_sha256"] == "0f" for row in table)
    seen = {
        row["type"]: [row[name] for name in ("seen_by", "frames", "frame_times", "thinned", "outcome")] for row in table
    }
    assert seen["statics"] == ["looker", 2, [0.5, 2.25], False, "ok"]
    assert seen["dynamics"] == ["watcher", 20, None, True, "short"]


def test_counts_take_the_type_of_the_caption_that_was_selected():
    groups = candidates_by_moment(SPLIT_MOMENTS, SCORES)
    counts = count(SPLIT_MOMENTS, groups, ("train", "test"), {0: "coarse", 2: "dynamics"}, {0: "rejected"})
    assert counts["splits"]["test"] == {"moments": 1, "annotated": 1, "statics": 0, "dynamics": 1}
    assert counts["splits"]["train"] == {"moments": 2, "annotated": 0, "statics": 0, "dynamics": 0}
    assert counts["without"] == {"no-scored-candidate": 1, "rejected": 1, "split-not-annotated": 1}


def test_the_origin_names_the_model_of_each_role():
    roles = {
        role: {"engine": "openai", "model": name, "revision": "r" * (name == "b")}
        for role, name in zip(("llm", "image_lmm", "video_lmm"), "abc")
    }
    source = {"title": "Mine", "source": {"kind": "demo"}}
    facts = generation_facts(load({"name": "mine", "datasets": {"mine": source}, "generation": roles}))
    assert [facts[name] for name in ("model", "image_model", "video_model")] == ["a", "b@r", "c"]


def test_each_split_has_its_file_and_a_coarse_release_its_folder(tmp_path):
    values = coarse_only(tmp_path)
    values["datasets"]["mine"]["source"]["splits"] = ["train", "val", "test"]
    coarse = load(values)
    assert missing_splits(coarse, "mine") == ["test"]
    files = [file.rpartition("annotations/")[2] for file in annotation_files(coarse, "mine")]
    assert files == ["cog/train.jsonl", "cog/val.jsonl"]
    spans = {"train_split": "learn", "selection_split": "choose", "test_split": "exam"}
    own = {"name": "own", "datasets": {"own": {"title": "Own", "source": {"kind": "demo"}, "spans": spans}}}
    assert annotation_splits(load(own), "own") == ["learn", "choose", "exam"]
