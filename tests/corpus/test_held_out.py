"""Holding out a share of the train videos."""

from verified.corpus.held_out import HELD_OUT, choose_unasked, hold_out, move


def moments(videos: int) -> list[dict]:
    return [
        {"desc_id": 3 * v + k, "video": f"v{v}", "split": ("train", "test")[v % 2]}
        for v in range(videos)
        for k in range(3)
    ]


def test_whole_videos_of_train_move_and_nothing_else():
    before = moments(2000)
    after = list(hold_out(before, "train", 0.1))
    moved = {row["video"] for row in after if row["split"] == HELD_OUT}
    assert 70 <= len(moved) <= 130
    assert [row["desc_id"] for row in after] == [row["desc_id"] for row in before]
    assert all(row["split"] == HELD_OUT for row in after if row["video"] in moved)
    assert all(a["split"] == b["split"] for a, b in zip(before, after) if b["split"] != HELD_OUT)
    assert not any(row["split"] == "test" and row["video"] in moved for row in before)


def test_a_video_moves_whatever_the_others_are():
    whole = {row["video"] for row in hold_out(moments(400), "train", 0.2) if row["split"] == HELD_OUT}
    half = {row["video"] for row in hold_out(moments(200), "train", 0.2) if row["split"] == HELD_OUT}
    assert half == {video for video in whole if int(video[1:]) < 200}


def test_no_share_changes_nothing():
    before = moments(10)
    assert list(hold_out(before, "train", 0.0)) == before


def test_a_selection_split_that_nobody_thought_of_takes_a_tenth_of_the_videos_and_at_least_one():
    for videos, least, most in ((2000, 70, 130), (4, 1, 1)):
        before = moments(videos)
        chosen = choose_unasked({row["video"] for row in before if row["split"] == "train"})
        after = list(move(before, chosen, "train", "val"))
        moved = {row["video"] for row in after if row["split"] == "val"}
        assert least <= len(moved) <= most and moved == chosen
        assert {row["video"] for row in after if row["split"] == "train"}.isdisjoint(moved)
        assert [row for row in after if row["split"] == "test"] == [row for row in before if row["split"] == "test"]
    assert not choose_unasked({"the only one"})
