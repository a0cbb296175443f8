"""A retrieval task of texts as MTEB reads it: fine captions are queries, coarse captions documents.

A coarse caption is one document, of however many moments it was written: each of them is found with it.
"""

import json
import re
from pathlib import Path

from verified.export.card import write_cards
from verified.export.collection import Collection
from verified.export.forms import ExportForm
from verified.export.hugging_face import card_head, split_name, write_parquet
from verified.io.files import write_text

PARTS = {
    "corpus": {"_id": str, "text": str, "title": str},
    "queries": {"_id": str, "text": str},
    "qrels": {"query-id": str, "corpus-id": str, "score": int},
}
"""Columns of a retrieval data set of MTEB's, by the name of its configuration."""
CARD_TEXT = (
    "A retrieval task for text encoders: each fine caption is to find its coarse caption among all of the split."
    " `corpus`, `queries` and `qrels` are in the form that MTEB reads; `task.py` describes the task:"
    " `mteb.evaluate(model, task.Task())` in this folder. Captions without a fine one are left out."
)
NOTHING = "There is no task: a retrieval task needs fine captions to be queries, and there are coarse ones alone."
TASK = {"task_categories": ["text-retrieval"], "tags": ["mteb", "text", "moment-retrieval"]}
TASK_FILE = '''"""The retrieval task of this folder for MTEB."""

from pathlib import Path

from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata


class Task(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name={name},
        description={description},
        reference={reference},
        dataset={{"path": str(Path(__file__).resolve().parent), "revision": {version}}},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits={splits},
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        date=None,
        domains=["Web"],
        task_subtypes=["Caption Pairing"],
        license=None,
        annotations_creators="LM-generated and reviewed",
        dialect=[],
        sample_creation="LM-generated and verified",
        bibtex_citation="",
    )
'''


def write_mteb(folder: Path, collection: Collection) -> None:
    """PART/SPLIT.parquet of each of `PARTS` and of each split that has fine captions, and task.py; without any such
    split, a card stating it.
    """
    written: dict[str, dict[str, Path]] = {part: {} for part in PARTS}
    for split, rows in collection.splits.items():
        fine = [row for row in rows if row["fig_desc"]]
        if not fine:
            continue
        coarse = dict.fromkeys(row["cog_desc"] for row in fine)
        documents = {caption: f"c{number}" for number, caption in enumerate(coarse)}
        tables = {
            "corpus": [{"_id": name, "text": caption, "title": ""} for caption, name in documents.items()],
            "queries": [{"_id": f"q{row['caption_id']}", "text": row["fig_desc"]} for row in fine],
            "qrels": [
                {"query-id": f"q{row['caption_id']}", "corpus-id": documents[row["cog_desc"]], "score": 1}
                for row in fine
            ],
        }
        for part, columns in PARTS.items():
            path = folder / part / f"{split_name(split)}.parquet"
            write_parquet(path, tables[part], columns)
            written[part][split_name(split)] = path
    about = collection.about
    if not written["queries"]:
        write_cards(folder, "mteb", NOTHING, collection)
        return
    values = {
        "name": re.sub(r"\W+", "", about["title"], flags=re.ASCII) + "Retrieval",
        "description": f"Find the coarse caption of a moment by its fine-grained one ({about['title']}).",
        "reference": about["url"],
        "version": about["version"],
    }
    literals = {name: repr(value) for name, value in values.items()}
    write_text(folder / "task.py", TASK_FILE.format(**literals, splits=json.dumps([*written["queries"]])))
    write_cards(folder, "mteb", CARD_TEXT, collection, card_head(about, folder, written, TASK))


MTEB = ExportForm(write_mteb)
