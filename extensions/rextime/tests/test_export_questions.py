"""Questions across time as others read them: Parquet and Croissant read back, a card with licence and counts."""

import hashlib

import pyarrow.parquet
import yaml
from question_pages import QUESTIONS

from verified.config import load
from verified.io.jsonl import read_json
from verified_rextime.export import COLUMNS, write_questions_export
from verified_rextime.jobs import card_facts


def question(number: int, split: str) -> dict:
    row = {**QUESTIONS[0], "qid": f"q/{number}", "query": f'What, "then" {number}?', "vid": f"v{number // 2}"}
    row |= {"question_windows": [[0.0, 1.0]] if number % 2 else [], "answer": "It grows.", "split": split}
    row |= {"direction": "forward", "source": "captions", "verification": 3}
    row |= {"lineage": {"questions": "k1", "event_pair": "k0"}}
    tested = {"ans": "C", "options": ["a", "b", "It grows.", "d"]}
    return row | (tested if split != "train" else {"ans": None, "options": []})


def test_questions_are_read_back_and_their_card_says_what_they_are(tmp_path):
    source = {"form": "captions", "annotations": "captions.json"}
    settings = load({"name": "across", "rextime": {"sources": {"c": source}, "licence": "CC-BY-NC-SA-4.0"}})
    splits = {split: [question(n, split) for n in range(size)] for split, size in (("train", 5), ("val", 3))}
    written = write_questions_export(tmp_path, card_facts(settings), splits)
    assert written.counts() == {"train": {"questions": 5, "videos": 3}, "val": {"questions": 3, "videos": 2}}
    rows = pyarrow.parquet.read_table(tmp_path / "data/val.parquet").to_pylist()
    assert [list(row) for row in rows] == [list(COLUMNS)] * 3
    assert (rows[1]["start"], rows[1]["end"], rows[1]["question_end"], rows[0]["question_end"]) == (1.0, 2.5, 1.0, None)
    assert (rows[0]["option_C"], rows[0]["ans"], rows[0]["lineage"]) == ("It grows.", "C", "event_pair=k0 questions=k1")
    (train, *_) = pyarrow.parquet.read_table(tmp_path / "data/train.parquet").to_pylist()
    assert train["ans"] is None and train["option_A"] is None and train["answer"] == "It grows."
    described = read_json(tmp_path / "croissant.json")
    for file in described["distribution"]:
        content = (tmp_path / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
    assert {record["name"]: len(record["field"]) for record in described["recordSet"]} == dict.fromkeys(
        ("train", "val"), len(COLUMNS)
    )
    assert described["license"] == "CC-BY-NC-SA-4.0" and "Questions".lower() in described["description"]
    head, body = (tmp_path / "README.md").read_text().removeprefix("---\n").split("---\n", 1)
    assert yaml.safe_load(head)["license"] == "cc-by-nc-sa-4.0"
    assert "| split | questions | videos |" in body and "| train | 5 | 3 |" in body and "captions of" not in body
