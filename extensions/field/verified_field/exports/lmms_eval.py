"""A grounding task in the form of lmms-eval: from a sentence and a video to start and end."""

from pathlib import Path

import yaml

from verified.export.card import write_cards
from verified.export.collection import Collection, caption_of
from verified.export.forms import ExportForm
from verified.export.hugging_face import split_name
from verified.io.files import write_text
from verified.io.jsonl import write_jsonl
from verified_field.exports.lmms_eval_task import THRESHOLDS

FUNCTIONS = Path(__file__).resolve().parent / "lmms_eval_task.py"
"""The functions of the task, which are copied, so that its users do not need this package."""
MEASURES = (*(f"R1@{threshold}" for threshold in THRESHOLDS), "mIoU")
PROMPT = (
    "The video lasts {duration} seconds. When does this happen in it: “{caption}”? Answer with the start and the end"
    " in seconds and nothing else, like this: 12.5 - 20.0"
)
CARD_TEXT = (
    "SPLIT.jsonl (id, video, caption, start, end, duration) and a task for each split that has captions. In this"
    " folder, with the videos' folder named by VERIFIED_VIDEOS:\n\n"
    "    VERIFIED_VIDEOS=/data/videos python -m lmms_eval --include_path . --tasks {tasks} --model …\n\n"
    "An answer without two times counts as missed."
)


def write_lmms_eval(folder: Path, collection: Collection) -> None:
    """SPLIT.jsonl and NAME_SPLIT.yaml of each split that has captions, and verified_grounding.py with the functions."""
    tasks = []
    for split, rows in collection.splits.items():
        if not rows:
            continue
        write_jsonl(
            folder / f"{split_name(split)}.jsonl",
            (
                {
                    "id": row["caption_id"],
                    "video": row["video"],
                    "caption": caption_of(row),
                    **{key: row[key] for key in ("start", "end", "duration")},
                }
                for row in rows
            ),
        )
        name = f"{split_name(collection.about['name'])}_{split_name(split)}"
        write_text(folder / f"{name}.yaml", _task(name, split_name(split), collection.about["version"]))
        tasks.append(name)
    write_text(folder / "verified_grounding.py", FUNCTIONS.read_text(encoding="utf-8"))
    write_cards(folder, "lmms-eval", CARD_TEXT.format(tasks=",".join(tasks)), collection)


class _Function(str):
    """A function as lmms-eval names one in YAML: ``!function FILE.NAME``."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    _Function, lambda dumper, name: dumper.represent_scalar("!function", f"verified_grounding.{name}", style="")
)


def _task(name: str, split: str, version: str) -> str:
    described = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {split: f"{split}.jsonl"}},
        "test_split": split,
        "output_type": "generate_until",
        "generation_kwargs": {"max_new_tokens": 50, "temperature": 0, "do_sample": False},
        "doc_to_visual": _Function("visual"),
        "doc_to_text": _Function("question"),
        "doc_to_target": _Function("target"),
        "process_results": _Function("score"),
        "metric_list": [
            {"metric": measure, "aggregation": _Function("percent"), "higher_is_better": True} for measure in MEASURES
        ],
        "lmms_eval_specific_kwargs": {"default": {"prompt": PROMPT}},
        "metadata": [{"version": version}],
    }
    return yaml.dump(described, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


LMMS_EVAL = ExportForm(write_lmms_eval)
