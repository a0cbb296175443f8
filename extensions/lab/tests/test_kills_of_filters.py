"""The scripts of filters, killed before each change of a file, and repeated."""

import pytest
from faults import test_kill_points as shared
from kill_points import finished_by_repeating
from script_run import script_run

from verified.io.jsonl import write_jsonl

start, place = shared.start, shared.place

SELECTED = {
    "judge_moments": ({"measures": "measures.jsonl", "transcripts": [], "measures_of_all": []}, ("quality",)),
    "select_moments": (
        {name: f"{name}.jsonl" for name in ("moments", "videos", "probes", "quality")},
        ("moments", "videos", "probes"),
    ),
}


@pytest.mark.night
@pytest.mark.parametrize("rule", SELECTED)
def test_a_selection_by_quality(rule, start, place, record_property):
    given_files, written = SELECTED[rule]
    moments = [{"desc_id": n, "video": f"v{n}", "start": 0.0, "end": 4.0} for n in range(4)]
    measures = {"black": 0.0, "sharpness": 300.0, "motion": 4.0, "text": 0.0, "loudness": -20.0}
    write_jsonl(start / "measures.jsonl", [{**row, **measures, "black": row["desc_id"] / 4} for row in moments])
    reasons = [{"reason": "black" if row["desc_id"] > 2 else None, "detail": "", "said": ""} for row in moments]
    write_jsonl(start / "quality.jsonl", [{**row, **why} for row, why in zip(moments, reasons, strict=True)])
    write_jsonl(start / "moments.jsonl", moments)
    for name in ("videos", "probes"):
        write_jsonl(start / f"{name}.jsonl", [{"video": row["video"]} for row in moments])
    out = "results/kitchen/corpus/shards/0"
    run = script_run(
        f"../extensions/lab/scripts/{rule}.py",
        rule,
        input=given_files,
        output={name: f"{out}.{name}.jsonl" for name in written},
        params={"quality": {"max_black": 0.5}},
        wildcards={"dataset": "kitchen", "shard": "0"},
    )
    kills = finished_by_repeating(start, place, run)
    record_property("faults", kills)
    assert kills > 2 and all((place / f"{out}.{name}.jsonl").is_file() for name in written)
