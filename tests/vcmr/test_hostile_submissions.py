"""Whatever stands in the files, `verified evaluate` ends with numbers or with one sentence that names the file."""

import gzip
import json

import pytest
from fuzz import damaged
from refusals import refused

from verified.__main__ import main
from verified.benchmark.vcmr.evaluate import evaluate_files
from verified.benchmark.vcmr.submission import read_submission

pytestmark = pytest.mark.slow

TRUTH = [
    {"desc_id": 1, "video": "a", "time": [0, 10]},
    {"desc_id": 2, "vid_name": "b", "ts": [[5, 9], [6, 9]], "type": "v"},
]
RIGHT = [{"desc_id": 1, "predictions": [[0, 0, 10, 0.9]]}, {"desc_id": 2, "predictions": [[1, 5, 9.5, 0.9]]}]
SUBMISSION = {"video2idx": {"a": 0, "b": 1}, "VCMR": RIGHT, "SVMR": RIGHT, "VR": RIGHT}


@pytest.fixture
def files(tmp_path):
    truth, submission = tmp_path / "truth.jsonl", tmp_path / "submission.json"
    truth.write_text("".join(json.dumps(row) + "\n" for row in TRUTH), encoding="utf-8")
    submission.write_text(json.dumps(SUBMISSION), encoding="utf-8")
    return truth, submission


def outcome(files, capsys, *options) -> int:
    """The exit status, after a look at what was printed."""
    status = main(["evaluate", *map(str, files), *options])
    printed = capsys.readouterr()
    if status == 2:
        assert printed.err.startswith("error: ") and ("truth.jsonl" in printed.err or "submission.json" in printed.err)
        assert len(printed.err) < 1000
    else:
        assert status == 0 and printed.out
    return status


def test_any_damage_to_a_submission_is_scored_or_named(files, capsys):
    whole, statuses = files[1].read_bytes(), set()
    for case, content in enumerate(damaged(whole, 400, seed=22)):
        files[1].write_bytes(gzip.compress(content, 1) if case % 5 == 0 else content)
        statuses.add(outcome(files, capsys, *(["--json"] if case % 2 else []), *(["--partial"] if case % 3 else [])))
    assert statuses == {0, 2}


def test_any_damage_to_a_gzip_file_is_named(files, capsys):
    whole = gzip.compress(files[1].read_bytes())
    for cut in range(0, len(whole), 7):
        files[1].write_bytes(whole[:cut] + b"\x00\xff" + whole[cut + 1 :])
        outcome(files, capsys)


def test_any_damage_to_a_ground_truth_is_scored_or_named(files, capsys):
    whole, statuses = files[0].read_bytes(), set()
    for content in damaged(whole, 250, seed=23):
        files[0].write_bytes(content)
        statuses.add(outcome(files, capsys, "--partial"))
    assert statuses == {0, 2}


def test_a_list_of_nothing_never_hits(files):
    empty = [{"desc_id": 1, "predictions": []}, {"desc_id": 2, "predictions": []}]
    content = {"video2idx": {"a": -1, "b": -1}, "VR": empty, "VCMR": empty}
    files[1].write_text(json.dumps(content), encoding="utf-8")
    with refused("video2idx"):
        evaluate_files(*files)
    files[1].write_text(json.dumps({**content, "video2idx": {"a": 0, "b": 1}}), encoding="utf-8")
    assert set(evaluate_files(*files).metrics["VR"].values()) == {0.0}


def test_one_number_for_all_videos_is_no_way_to_hit_them(files):
    same = [{"desc_id": number, "predictions": [[7, 0, 10, 1.0]]} for number in (1, 2)]
    files[1].write_text(json.dumps({"video2idx": {"a": 7, "b": 7}, "VR": same}), encoding="utf-8")
    with refused("video2idx", "'a'", "'b'"):
        evaluate_files(*files)


def test_a_gzip_bomb_is_refused_before_it_unpacks(files):
    files[1].write_bytes(gzip.compress(b" " * 2**28))
    with refused("submission.json", "100 times"):
        read_submission(files[1])


def test_members_come_in_any_order_and_white_space_is_free(files):
    text = json.dumps(dict(reversed(SUBMISSION.items())), indent=3).replace(":", " :\t")
    files[1].write_text("\n" + text + "\r\n", encoding="utf-8-sig")
    assert set(evaluate_files(*files).metrics["VCMR"].values()) == {100.0}


def test_of_a_list_that_stands_twice_the_last_counts(files):
    files[1].write_text('{"VR": [], ' + json.dumps(SUBMISSION)[1:], encoding="utf-8")
    assert read_submission(files[1]).tasks["VR"].keys() == {1, 2}
