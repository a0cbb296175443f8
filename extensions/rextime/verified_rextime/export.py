"""Questions across time as a folder for Hugging Face's hub: Parquet, Croissant, a data card with licence and models."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.export.collection import Collection
from verified.export.hugging_face import write_tables
from verified.io.files import empty_folder
from verified_rextime.rows import LETTERS

COLUMNS = {
    "qid": str,
    "query": str,
    "vid": str,
    "duration": float,
    "start": float,
    "end": float,
    "ans": str,
    **{f"option_{letter}": str for letter in LETTERS},
    "answer": str,
    "kind": str,
    "direction": str,
    "question_start": float,
    "question_end": float,
    "source": str,
    "verification": int,
    "lineage": str,
}
"""Columns of a row; letters, options and the span of the question may be None."""
HOLDS = "Questions about videos that name one event and are answered at another time."
EVALUATIVE_ROLE = (
    "A score on a split supports one claim: how often a system chooses the right option and finds the span of the"
    " answer, in these videos. It assumes that a question has one right option and one span, and that neither can be"
    " found without the video."
)
CARD_TEXT = """Parquet, read by `datasets.load_dataset` from this folder; `croissant.json` describes the same files.
Questions of the split train are not checked by people and have no options.

| column | meaning |
|---|---|
| `qid`, `query` | id and text of the question |
| `vid`, `duration` | the video and its length in seconds |
| `start`, `end` | when the answer is shown, in seconds |
| `ans`, `option_A` … `option_D` | letter of the right option, and the options |
| `answer` | the answer as it was written |
| `kind`, `direction` | sequential, cause_effect or means_to_an_end; forward if the answer comes after the named event |
| `question_start`, `question_end` | when the event of the question is shown, if known |
| `source` | where the events come from |
| `verification` | the model's score of the pair, 0 to 3 |
| `lineage` | keys of the requests that wrote it, by step |"""
TASK = {"task_categories": ["video-text-to-text"], "tags": ["video", "temporal-reasoning", "moment-retrieval"]}


class Questions(Collection):
    """Questions by split (dicts of COLUMNS), and facts of the whole."""

    def counts(self) -> dict[str, dict[str, int]]:
        """Questions and videos of each split."""
        return {
            split: {"questions": len(rows), "videos": len({row["vid"] for row in rows})}
            for split, rows in self.splits.items()
        }


def exported_row(row: Mapping) -> dict:
    """A row of COLUMNS from a generated question."""
    (start, end), *_ = row["relevant_windows"]
    span = row["question_windows"][0] if row["question_windows"] else (None, None)
    options = row["options"] or [None] * len(LETTERS)
    plain = {name: row[name] for name in ("qid", "query", "vid", "duration", "ans", "answer", "kind", "direction")}
    return {
        **plain,
        "start": start,
        "end": end,
        **{f"option_{letter}": text for letter, text in zip(LETTERS, options)},
        "question_start": span[0],
        "question_end": span[1],
        "source": row["source"],
        "verification": row["verification"],
        "lineage": " ".join(f"{step}={key}" for step, key in sorted(row["lineage"].items())),
    }


def write_questions_export(folder: Path, about: Mapping, splits: Mapping[str, Iterable[Mapping]]) -> Questions:
    """data/SPLIT.parquet of each split, croissant.json, README.md and manifest.json; returns the questions."""
    rows = {split: [exported_row(row) for row in of_split] for split, of_split in splits.items()}
    questions = Questions({**about, "holds": HOLDS, "role": EVALUATIVE_ROLE}, rows)
    write_tables(empty_folder(folder), questions, COLUMNS, CARD_TEXT, TASK)
    return questions
