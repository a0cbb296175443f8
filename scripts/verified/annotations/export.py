"""Exports in addition to the FIG files: all candidates as one table with their origin, the counts, and the dataset
card.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.annotations.selection import choose
from verified.config import Config
from verified.io.fig import TYPES
from verified.io.files import atomic_path, file_digest, write_text
from verified.io.jsonl import finite
from verified.lmm.tasks.paper import prompt_set

EVALUATIVE_ROLE = (
    "A score on a split supports one claim: how often a system finds, in these videos, the annotated moment of a"
    " caption. It assumes that each caption is true of its moment, that it describes no other moment of the corpus as"
    " well, and that spans are exact to the threshold of the score."
)
"""Claim that captions with moments support, and its assumptions."""
WRITTEN_BY_MODELS = (
    "The texts were written by models, so a score also measures agreement with their wording; people have seen only"
    " those with a review. Claims about queries of people need queries of people."
)
CARD = """# {title}

{warning}Fine-grained captions of video moments: for each moment the candidate caption {highest} (`fig/`), and
{lowest} (`fig-lowest/`). JSON Lines; the keys are `video`, `time` (start and end in seconds), `desc_id`,
`duration` (of the video, in seconds), `cog_desc` (the coarse caption), `fig_desc`, `fig_desc_score` (the evaluator's
confidence), `fig_desc_type` (statics or dynamics) and `lineage` (the ledger key of the request that wrote the caption).

- Licence: {licence}
- Configuration: {config}, data set {name}
{model_lines}

**Evaluative role.** {role}

| split | moments | annotated | statics | dynamics |
|---|---|---|---|---|
{split_rows}

{moments} moments came in, {annotated} are annotated{reasons}. {candidates} candidates are in `candidates.parquet`.

Of candidates with equal scores the first is the highest and the last the lowest: statics come before dynamics, then
the candidate number counts.

| file | bytes | SHA-256 |
|---|---|---|
{file_rows}
"""


NUMBERS = ("z1", "margin", "probability", "similarity", "score", "choice")
HIGHEST = {
    "confidence": "of the highest confidence",
    "agreement": "that agrees most with the other candidates, the keyframes and the coarse caption",
    "random": "that a seeded draw put first",
}
LOWEST = {
    "confidence": "that of the lowest",
    "agreement": "the one that agrees least",
    "random": "the one that it put last",
}


def count(
    moments: Iterable[dict],
    groups: dict[int, list[dict]],
    splits: Iterable[str],
    types: Mapping[int, str],
    omitted: Mapping[int, str],
) -> dict:
    """Counts that reconcile: moments = annotated + without (by reason), over all splits and for each.

    A moment of a split that the configuration does not name counts as ``split-not-annotated``. `types` are the types of
    the selected captions and `omitted` the reasons of the others, by desc_id (see `select`). Captions of the type
    coarse are annotated and neither statics nor dynamics.
    """
    splits = tuple(splits)
    per_split = {split: {"moments": 0, "annotated": 0, "statics": 0, "dynamics": 0} for split in splits}
    without, total = Counter(), 0
    for moment in moments:
        total += 1
        if moment["split"] not in per_split:
            without["split-not-annotated"] += 1
            continue
        row = per_split[moment["split"]]
        row["moments"] += 1
        outcome = choose(groups[moment["desc_id"]])
        reason = outcome if isinstance(outcome, str) else omitted.get(moment["desc_id"])
        if reason:
            without[reason] += 1
            continue
        row["annotated"] += 1
        kind = types[moment["desc_id"]]
        if kind in TYPES:
            row[kind] += 1
    candidates = [row for group in groups.values() for row in group]
    return {
        "moments": total,
        "annotated": sum(row["annotated"] for row in per_split.values()),
        "without": dict(sorted(without.items())),
        "splits": per_split,
        "candidates": len(candidates),
        "candidates_without_finite_score": sum(not finite(row["score"]) for row in candidates),
    }


def write_candidates(
    path: str | os.PathLike,
    moments: Iterable[dict],
    groups: dict[int, list[dict]],
    origin: Mapping[tuple[int, str], dict],
    facts: Mapping[str, str],
) -> None:
    """Parquet, one row per candidate: its moment, text, lineage, scores, selection score (`choice`), whether it is the
    highest or lowest, and its models, prompts, frames and outcome (`origins`).

    `facts` (``chosen_by``, ``warning``) are in the file's metadata under ``verified.`` and their name.
    """
    import pyarrow
    import pyarrow.parquet

    rows = []
    for moment in moments:
        group = groups[moment["desc_id"]]
        outcome = choose(group)
        highest, lowest = (None, None) if isinstance(outcome, str) else outcome
        for row in group:
            rows.append(
                {
                    **moment,
                    "cog_desc": moment["caption"],
                    **row,
                    **{name: _number(row.get(name)) for name in NUMBERS},
                    "highest": row is highest,
                    "lowest": row is lowest,
                    **origin[moment["desc_id"], row["type"]],
                }
            )
    text, real, whole, truth = pyarrow.string(), pyarrow.float64(), pyarrow.int64(), pyarrow.bool_()
    kinds = {
        "desc_id": whole,
        "split": text,
        "video": text,
        "start": real,
        "end": real,
        "duration": real,
        "cog_desc": text,
        "type": text,
        "candidate": whole,
        "caption": text,
        "lineage": text,
        "z1": real,
        "margin": real,
        "probability": real,
        "similarity": real,
        "score": real,
        "choice": real,
        "highest": truth,
        "lowest": truth,
        "model": text,
        "seen_by": text,
        "prompts": text,
        "prompts_sha256": text,
        "frames": whole,
        "frame_times": pyarrow.list_(real),
        "thinned": truth,
        "outcome": text,
    }
    metadata = {f"verified.{name}": value for name, value in facts.items() if value}
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(kinds, metadata))
    with atomic_path(path) as temporary:
        pyarrow.parquet.write_table(table, temporary, compression="zstd")


def _number(value: object) -> float | None:
    return float(value) if finite(value) else None


def write_card(path: str | os.PathLike, about: Mapping, counts: Mapping, files: Iterable[str | os.PathLike]) -> None:
    """The dataset card: contents, models, licence, counts, files with sizes and checksums.

    `about` has ``name, title, licence, config, chosen_by, warning`` and ``models`` (role → model id); `files` are in or
    below the card's folder.
    """
    folder = Path(path).parent
    models = "\n".join(f"- {role}: {model}" for role, model in about["models"].items())
    splits = "\n".join(
        f"| {split} | {row['moments']} | {row['annotated']} | {row['statics']} | {row['dynamics']} |"
        for split, row in counts["splits"].items()
    )
    without = "".join(f", {number} are not ({reason})" for reason, number in counts["without"].items())
    sums = "\n".join(
        f"| {Path(file).relative_to(folder).as_posix()} | {Path(file).stat().st_size} | `{file_digest(file)}` |"
        for file in files
    )
    notes = {
        "warning": f"**{about['warning']}**\n\n" if about["warning"] else "",
        "highest": HIGHEST[about["chosen_by"]],
        "lowest": LOWEST[about["chosen_by"]],
        "role": f"{EVALUATIVE_ROLE} {WRITTEN_BY_MODELS}",
    }
    text = CARD.format(
        **{**about, **counts, **notes}, model_lines=models, split_rows=splits, reasons=without, file_rows=sums
    )
    write_text(path, text)


def generation_facts(settings: Config) -> dict[str, str]:
    """A param: the models of a configuration with their revisions, and its set of prompts."""
    generation, prompts = settings.generation, prompt_set(settings.generation.prompts)
    return {
        "model": _model_name(generation.llm),
        "image_model": _model_name(generation.image_lmm),
        "video_model": _model_name(generation.video_lmm),
        "prompts": prompts["name"],
        "prompts_sha256": prompts["sha256"],
    }


def _model_name(role) -> str:
    return f"{role.model}@{role.revision}" if role.revision else role.model


def origins(statics: Iterable[dict], dynamics: Iterable[dict], facts: dict[str, str]) -> dict[tuple[int, str], dict]:
    """The columns of origin of a moment's candidates, by its desc_id and their type (statics, dynamics).

    `statics` and `dynamics` are rows of captions/{statics,dynamics}/SHARD.jsonl. ``model`` wrote the candidate, from
    the description of ``frames`` pictures by ``seen_by``; ``frame_times`` are those of keyframes, in seconds of the
    video. ``outcome`` is ``ok``, or ``short`` if the answer had fewer candidates than requested.
    """
    common = {name: facts[name] for name in ("model", "prompts", "prompts_sha256")}
    facts_of = {}
    for row in statics:
        times = [keyframe["time"] for keyframe in row["keyframes"] if keyframe["description"] or keyframe["foreground"]]
        facts_of[row["desc_id"], "statics"] = {
            **common,
            "seen_by": facts["image_model"],
            "frames": len(times),
            "frame_times": times,
            "thinned": False,
            "outcome": row["reason"] or "ok",
        }
    for row in dynamics:
        facts_of[row["desc_id"], "dynamics"] = {
            **common,
            "seen_by": facts["video_model"],
            "frames": row["frames"],
            "frame_times": None,
            "thinned": row["thinned"],
            "outcome": row["reason"] or "ok",
        }
    return facts_of
