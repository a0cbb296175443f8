"""Files that people of a lab write: decisions, judgements of captions, annotations to audit; and their readers."""

import json

from given import fig
from small_review import GROUPS, MOMENTS, decision_row

from verified.config.annotations import Lint
from verified.io.fig import TYPES, write_fig
from verified.io.jsonl import write_json, write_jsonl
from verified_lab.review.adjudicate import adjudicate
from verified_lab.review.apply import check_edits
from verified_lab.review.decisions import read_decisions
from verified_lab.review.tables import agreement, review_tables


def decisions() -> list[dict]:
    more = {
        1: ("accept", {"time": [0.2, 1.1]}),
        2: ("edit", {"text": "A ball rolls to the left."}),
        3: ("reject", {"reason": "nothing of it is seen"}),
        4: ("choose", {"instead": {"type": TYPES[0], "candidate": 0, "caption": "<b>statics</b> of 4"}}),
        5: ("accept", {}),
        6: ("draw", {"time": [0.5, 1.0], "text": "A new one."}),
    }  # fmt: skip
    rows = []
    for moment in MOMENTS:
        kind, keys = more[moment["desc_id"]]
        rows.append(decision_row(moment, GROUPS[moment["desc_id"]][-1], kind, **keys))
    return [*rows, {**rows[3], "decision": "flag", "reason": "look", "reviewer": "Bob"}]


def review_files(folder):
    write_jsonl(folder / "decisions.jsonl", decisions())
    return [adjudicate_decisions]


def adjudicate_decisions():
    """As the rule does to which the configuration names files of decisions."""
    found = adjudicate(read_decisions(["decisions.jsonl"]), MOMENTS, GROUPS)
    check_edits(found["decisions"], MOMENTS, Lint())
    for table in review_tables("Kitchen", "kitchen", found, agreement(found["decisions"])):
        json.dumps(table.rows, allow_nan=False).encode()
    write_json("settled.json", {key: value for key, value in found.items() if key != "outcomes"})


def judgement_files(folder):
    captions = [(f"v{n}", f"a man walks {n} times") for n in range(6)]
    graded = [{"video": video, "caption": text, "grade": n % 3} for n, (video, text) in enumerate(captions)]
    write_jsonl(folder / "graded.jsonl", graded)
    scored = [(video, text) for video, true in captions for text in (true, "a dog sleeps")]
    write_jsonl(
        folder / "scores.jsonl",
        [{"video": video, "caption": text, "score": n * n % 7} for n, (video, text) in enumerate(scored)],
    )
    for number, name in enumerate(("one", "two")):
        (folder / name).mkdir()
        rows = [
            fig(n, video, 1.0, 3.0, cog_desc="a man walks", fig_desc=text if number else "a man in red walks")
            for n, (video, text) in enumerate(captions)
        ]
        write_fig(folder / name / "test.jsonl", rows)
    given = ["--scores", "other=scores.jsonl", "--resamples", "100"]
    return [
        ["meta-evaluate", "graded.jsonl", *given, "--output", "out.json"],
        ["compare-captions", "one", "two", "--output", "out"],
    ]


def audit_files(folder):
    for number, split in enumerate(("train", "test")):
        rows = [
            fig(4 * number + n, f"v{n % 2}", 2.0 * n, 2.0 * n + 5, fig_desc=f"A dog runs {'out' if n else 'in'}.")
            for n in range(4)
        ]
        write_jsonl(folder / f"{split}.jsonl", rows)
    (folder / "read.csv").write_text("finding,split,desc_id,right\nform/hedges,test,5,no\n", encoding="utf-8")
    splits = ["train.jsonl", "test.jsonl"]
    return [
        ["audit", *splits, "--output", "out", "--json"],
        ["audit", "--captions", *splits, "--checked", "read.csv", "--draw", "2", "--output", "read"],
    ]


KINDS = (audit_files, review_files, judgement_files)
