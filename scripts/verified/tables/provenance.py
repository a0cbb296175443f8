"""The lines below each table: what it was built from, by which models, with which code."""

import subprocess
from pathlib import Path

from verified import __version__
from verified.config.engines import ENGINES
from verified.config.evaluator import imported_checkpoint
from verified.config.sources import KINDS
from verified.config.trust import NOT_TRUSTED, untrusted
from verified.lmm.tasks.paper import prompt_set
from verified.tables.availability import availability_lines
from verified.tables.collect import Collection
from verified.tables.layout import TITLES
from verified.weights.lock import read_lock
from verified.weights.wanted import Wanted


def commit(project: Path) -> str:
    """Commit of the project's checkout, marked when files differ from it; or its version, and that there is none.

    An installed copy may lie inside a repository of somebody else's, which has none of its files.
    """
    try:
        _git(project, "ls-files", "--error-unmatch", ".")
        head = _git(project, "rev-parse", "--short=12", "HEAD")
        changed = _git(project, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}, no git checkout"
    return f"commit {head}{' with local changes' if changed else ''}"


def _git(project: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=project, check=True, capture_output=True, text=True).stdout.strip()


def provenance(settings: dict, collection: Collection, project: Path) -> list[str]:
    """Lines naming data, models, seeds, code, counts and the hash of the ground truth.

    `settings` is the whole configuration as plain values.
    """
    lines = [
        f"Configuration {settings['name']}, seed {settings['seed']}, {commit(project)}.",
        *(_data(name, values) for name, values in settings["datasets"].items()),
    ]
    locked = read_lock(settings["weights"]["lock"])["models"]
    pipeline = [name for name, values in settings["datasets"].items() if KINDS[values["source"]["kind"]].annotated_here]
    if pipeline:
        generation, evaluator = settings["generation"], settings["evaluator"]
        prompts = prompt_set(generation["prompts"])
        lines.append(
            "Captions and perturbations: "
            + ", ".join(f"{role} {_role(generation[role], locked)}" for role in ("llm", "image_lmm", "video_lmm"))
            + f"; prompts of {prompts['name']}, sha256 {prompts['sha256']}. "
            + f"Evaluator: {evaluator['name']}, size {evaluator['size']}."
        )
        start = imported_checkpoint(evaluator["checkpoint"], evaluator["umt_file"])
        doubtful = [
            values["title"]
            for values in settings["datasets"].values()
            if untrusted(KINDS[values["source"]["kind"]], start)
        ]
        if doubtful:
            lines.append(f"{', '.join(doubtful)}: {NOT_TRUSTED}")
        if (by := settings["annotations"]["choose_by"]) != "confidence":
            lines.append(f"Highest and lowest captions are not by confidence here, but by annotations.choose_by: {by}.")
    if collection.runs:
        features = settings["features"]
        lines.append(
            f"Retrieval on {_named(features['video_backbone'], features['video_revision'], locked)} video and "
            f"{_named(features['text_encoder'], features['text_revision'], locked)} text features, "
            f"training seeds: {_seeds(collection)}."
        )
    return [*lines, *availability_lines(settings, collection), *_tests(settings, collection)]


def studies(settings: dict, collection: Collection) -> list[str]:
    """Lines on the user studies behind the tables of grades: who answered, and how far the raters agree."""
    lines = []
    for name, values in settings["datasets"].items():
        study = collection.statistics.get((name, "study"))
        if study:
            alphas = ", ".join(
                f"{grade} {'–' if agreement['alpha'] is None else format(agreement['alpha'], '.2f')}"
                for grade, agreement in study["agreement"].items()
            )
            counted = "one verdict per caption" if study["verdict"] == "caption" else "every answer counts"
            lines.append(
                f"{values['title']}: study {study['study']}, {study['answers']} answers of "
                f"{_who(study)}, {counted}; Krippendorff's alpha: {alphas}."
            )
    return lines


def _who(study: dict) -> str:
    """The participants who answered, and the captions left out for it. Older summaries needed all of them."""
    missing, few = study.get("missing", []), study.get("left_out", [])
    who = f"{study['participants']} participants"
    if missing:
        who = f"{study['participants'] - len(missing)} of {who}"
    if unfinished := study.get("unfinished"):
        who += f", {len(unfinished)} of whom did not answer everything"
    return f"{who} (left out, with grades of fewer than {study['raters']}: {len(few)} captions)" if few else who


def _role(role: dict, locked: dict) -> str:
    """The model of a role and its engine; answers that a cassette gave are named as such."""
    cassette = f", answers of cassette {Path(role['cassette']).name} first" if role["cassette"] else ""
    if not ENGINES[role["engine"]].loads_model:
        return f"{role['model']} ({role['engine']}{cassette})"
    return f"{_named(role['model'], role['revision'], locked)} ({role['engine']}{cassette})"


def _named(model: str, revision: str, locked: dict) -> str:
    """A model with the commit that the lock file names."""
    entry = locked.get(Wanted(model, revision).key)
    return f"{model} at commit {entry['commit'][:12]}" if entry else model


def _data(name: str, values: dict) -> str:
    return f"{values['title']}: {KINDS[values['source']['kind']].origin.format(name=name)}."


def _seeds(collection: Collection) -> str:
    """``XML 2018, 2019; HERO 2018`` or, where all models have the same, ``2018, 2019``."""
    by_model = {model: ", ".join(map(str, run.seeds)) for (_, model, _, _), run in collection.runs.items()}
    if len(set(by_model.values())) == 1:
        return next(iter(by_model.values()))
    return "; ".join(f"{TITLES.get(model, model)} {seeds}" for model, seeds in by_model.items())


def _tests(settings: dict, collection: Collection) -> list[str]:
    seen = {}
    for (dataset, _, _, tested_on), run in collection.runs.items():
        first = run.metrics[0]
        title = settings["datasets"][dataset]["title"]
        spans = settings["datasets"][dataset]["spans"]
        line = (
            f"{title}, tested on {tested_on}: {first['queries']} queries, {first['videos']} videos of split "
            f"{first['split']}, ground truth sha256 {first['ground_truth_sha256'][:16]}; models selected on split "
            f"{spans['selection_split']}."
        )
        seen.setdefault(line, None)
    return list(seen)
