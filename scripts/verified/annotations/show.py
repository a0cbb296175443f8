"""Show all data on one moment: its place, keyframes, calls, candidates with scores, perturbations, the decision."""

import json
from pathlib import Path

from verified.config import Config
from verified.config.folders import dataset_folder
from verified.config.trust import confidence_warning
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import lineage_of
from verified.runtime.secrets import redact

STEPS = {
    "statics": "captions/statics",
    "dynamics": "captions/dynamics",
    "perturbations": "perturbations",
    "scores": "evaluator/scores",
}
"""Folders with the rows of a moment, below the data set's folder."""


def facts(settings: Config, desc_id: int, dataset: str | None = None) -> dict:
    """Data on a moment in the files of a run and in the ledger; steps that have not run yet are None.

    Raises InputError when no data set, or more than one, has a moment of this number.
    """
    names = [dataset] if dataset else list(settings.datasets)
    if unknown := set(names) - set(settings.datasets):
        raise InputError(f"no data set {unknown.pop()!r}", remedy=f"there are {', '.join(settings.datasets)}")
    moments_by_dataset = {}
    for name in names:
        moments = Path(dataset_folder(settings, name), "corpus", "moments.jsonl")
        if moments.is_file():
            moments_by_dataset.update((name, row) for row in iterate_jsonl(moments) if row["desc_id"] == desc_id)
    if not moments_by_dataset:
        raise InputError(
            f"no moment {desc_id} in {', '.join(names)}",
            remedy="numbers are the desc_id of corpus/moments.jsonl, which appears with the first run; "
            "corpus/exclusions.jsonl says what was left out",
        )
    if len(moments_by_dataset) > 1:
        raise InputError(
            f"{' and '.join(moments_by_dataset)} have a moment {desc_id}", remedy="name one with --dataset"
        )
    ((name, moment),) = moments_by_dataset.items()
    folder = Path(dataset_folder(settings, name))
    steps = {step: _rows(folder / pattern, desc_id) for step, pattern in STEPS.items()}
    decision = {
        kind: next(iter(_rows(folder / "annotations" / kind, desc_id, "*.jsonl") or ()), None)
        for kind in ("fig", "fig-lowest")
    }
    return {
        "dataset": name,
        "moment": moment,
        **steps,
        "decision": decision,
        "undecided": _undecided(folder, moment, steps["scores"]),
        "chosen_by": settings.annotations.choose_by,
        "warning": confidence_warning(settings, name),
        "calls": _calls(Path(settings.generation.ledger), steps),
    }


def _undecided(folder: Path, moment: dict, scores: list[dict] | None) -> str:
    """The reason why a moment has no caption, or None."""
    if not Path(folder, "annotations", "fig", f"{moment['split']}.jsonl").is_file():
        return "not made yet"
    scored = any(isinstance(row["score"], int | float) for row in scores or [])
    return "left out: a review or a limit of annotations" if scored else "left out: no candidate has a score"


def _rows(folder: Path, desc_id: int, names: str = "shard-*.jsonl") -> list[dict] | None:
    # Without the files next to them, such as .corrupted.jsonl.
    files = [path for path in sorted(folder.glob(names)) if path.suffixes == [".jsonl"]]
    rows = [row for path in files for row in iterate_jsonl(path) if row["desc_id"] == desc_id]
    return rows if files else None


def _calls(ledger: Path, steps: dict) -> list[dict]:
    """The calls behind the rows, each once, in the order of the steps."""
    keys = dict.fromkeys(lineage_of([steps[name] for name in ("statics", "dynamics", "perturbations")]))
    with Ledger(ledger) as opened:
        rows = {key: opened.get(key) for key in keys}
    return [dict(row) for row in rows.values() if row is not None]


def text(record: dict) -> str:
    """The facts for a person to read."""
    moment = record["moment"]
    lines = [
        f"moment {moment['desc_id']} of {record['dataset']}, split {moment['split']}",
        f"  {moment['video']}, {moment['start']:g} to {moment['end']:g} of {moment['duration']:g} s",
        f"  coarse: {moment['caption']}",
    ]
    for kind in ("statics", "dynamics"):
        lines += ["", f"{kind}:", *_captions(record[kind], record["scores"] or [], kind)]
    lines += ["", "perturbations:", *_perturbations(record["perturbations"])]
    lines += ["", f"decision (by {record['chosen_by']}):", *([f"  {record['warning']}"] if record["warning"] else [])]
    for name, row in record["decision"].items():
        best = f"{row['fig_desc_score']:.4f}  {row['fig_desc_type']}: {row['fig_desc']}" if row else record["undecided"]
        lines.append(f"  {name}: {best}")
    lines += ["", "calls:"]
    for call in record["calls"]:
        state = f"{call['status']}{': ' + call['reason'] if call['reason'] else ''}"
        lines.append(
            f"  {call['key'][:12]}  {call['task']}, {call['model']} ({call['engine']}): {state}, "
            f"{call['attempts']} asked, {call['tokens_in']} + {call['tokens_out']} tokens"
        )
        lines += [f"      {line}" for line in (call["text"] or call["detail"]).splitlines()]
    return redact("\n".join(lines if record["calls"] else [*lines, "  the ledger has none"]))


def _captions(rows: list[dict] | None, scores: list[dict], kind: str) -> list[str]:
    if not rows:
        return ["  not made yet"]
    (row,) = rows
    lines = []
    for keyframe in row.get("keyframes", ()):
        lines.append(f"  keyframe at {keyframe['time']:g} s: {keyframe['description'] or 'no description'}")
    if "frames" in row:
        lines.append(f"  {row['frames']} frames{', thinned' if row['thinned'] else ''}")
    for question, answer in zip(row.get("questions", ()), row.get("answers", ())):
        lines.append(f"  Q {question}  A {answer or '-'}")
    graded = {score["candidate"]: score["score"] for score in scores if score["type"] == kind}
    for number, candidate in enumerate(row["candidates"]):
        score = graded.get(number)
        grade = f"{score:.4f}" if isinstance(score, int | float) else "no score"
        lines.append(f"  {grade}  {candidate['caption']}  [{candidate['lineage'][:12]}]")
    lines += [f"  refused ({refused['reason']}): {refused['caption']}" for refused in row["refused"]]
    return [*lines, f"  {row['shortfall']} missing: {row['reason']}"] if row["shortfall"] else lines


def _perturbations(rows: list[dict] | None) -> list[str]:
    if not rows:
        return ["  not made yet"]
    (row,) = rows
    lines = []
    for kind, selected in (("positives", "positive"), ("statics", "statics"), ("dynamics", "dynamics")):
        for caption, similarity in zip(row[kind], row["similarities"][kind]):
            mark = "*" if caption == row["selected"][selected] else " "
            lines.append(f"  {mark} {kind} {similarity:.3f}  {caption}")
        if kind in row["reasons"]:
            lines.append(f"    {kind}: {row['reasons'][kind]}")
    return lines


def document(record: dict) -> str:
    """The facts as one JSON document."""
    return redact(json.dumps(record, ensure_ascii=False, indent=1))
