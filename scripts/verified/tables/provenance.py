"""The lines below each table: what it was built from, by which models, with which code."""

from pathlib import Path

from verified.benchmark.first_stages import UNTRAINED
from verified.config.engines import ENGINES
from verified.config.trust import NOT_TRUSTED, is_untrusted
from verified.runtime.project import commit
from verified.tables.added.availability import availability_lines
from verified.tables.collect import Collection
from verified.tables.inputs import Shown, ShownDataSet, ShownModel, ShownRole
from verified.tables.layout import title_of
from verified.weights.lock import read_lock
from verified.weights.wanted import Wanted


def provenance(settings: Shown, collection: Collection, project: Path) -> list[str]:
    """Lines naming data, models, seeds, code, counts and the hash of the ground truth."""
    lines = [
        f"Configuration {settings.name}, seed {settings.seed}, {commit(project)}.",
        *(_data(name, data_set) for name, data_set in settings.datasets.items()),
    ]
    locked = read_lock(settings.lock)["models"]
    if any(data_set.source.annotated_here for data_set in settings.datasets.values()):
        evaluator, prompts = settings.evaluator, settings.prompts
        lines.append(
            "Captions and perturbations: "
            + ", ".join(f"{name} {_role(role, locked)}" for name, role in settings.roles.items())
            + f"; prompts of {prompts['name']}, sha256 {prompts['sha256']}. "
            + f"Evaluator: {evaluator.name}, size {evaluator.size}."
        )
        doubtful = [
            data_set.title
            for data_set in settings.datasets.values()
            if is_untrusted(data_set.source, evaluator.imported)
        ]
        if doubtful:
            lines.append(f"{', '.join(doubtful)}: {NOT_TRUSTED}")
        if (by := settings.choose_by) != "confidence":
            lines.append(f"Highest and lowest captions are not by confidence here, but by annotations.choose_by: {by}.")
    if collection.runs:
        lines.append(
            f"Retrieval on {_model_name(settings.video_backbone, locked)} video and "
            f"{_model_name(settings.text_encoder, locked)} text features, "
            f"training seeds: {_seeds(collection)}."
        )
    return [*lines, *availability_lines(settings, collection), *_tests(settings, collection)]


def studies(settings: Shown, collection: Collection) -> list[str]:
    """Lines on the user studies behind the tables of grades: who answered, and how far the raters agree."""
    lines = []
    for name, data_set in settings.datasets.items():
        study = collection.statistics.get((name, "study"))
        if study:
            alphas = ", ".join(
                f"{grade} {'–' if agreement['alpha'] is None else format(agreement['alpha'], '.2f')}"
                for grade, agreement in study["agreement"].items()
            )
            counted = "one verdict per caption" if study["verdict"] == "caption" else "every answer counts"
            lines.append(
                f"{data_set.title}: study {study['study']}, {study['answers']} answers of "
                f"{_who(study)}, {counted}; Krippendorff's alpha: {alphas}."
            )
    return lines


def _who(study: dict) -> str:
    """The participants who answered, and the captions omitted for it."""
    missing, few = study["missing"], study["left_out"]
    who = f"{study['participants']} participants"
    if missing:
        who = f"{study['participants'] - len(missing)} of {who}"
    if unfinished := study["unfinished"]:
        who += f", {len(unfinished)} of whom did not answer everything"
    return f"{who} (left out, with grades of fewer than {study['raters']}: {len(few)} captions)" if few else who


def _role(role: ShownRole, locked: dict) -> str:
    """The model of a role and its engine; answers that a cassette gave are named as such."""
    cassette = f", answers of cassette {Path(role.cassette).name} first" if role.cassette else ""
    named = _model_name(role, locked) if ENGINES[role.engine].loads_model else role.model
    return f"{named} ({role.engine}{cassette})"


def _model_name(shown: ShownModel, locked: dict) -> str:
    """A model with the commit that the lock file names."""
    entry = locked.get(Wanted(shown.model, shown.revision).key)
    return f"{shown.model} at commit {entry['commit'][:12]}" if entry else shown.model


def _data(name: str, data_set: ShownDataSet) -> str:
    return f"{data_set.title}: {data_set.source.origin.format(name=name)}."


def _seeds(collection: Collection) -> str:
    """``XML 2018, 2019; HERO 2018`` or, where all models have the same, ``2018, 2019``."""
    by_model = {
        model: ", ".join(map(str, run.seeds))
        for (_, model, trained_on, _), run in collection.runs.items()
        if trained_on != UNTRAINED
    }
    if len(set(by_model.values())) < 2:
        return next(iter(by_model.values()), "none")
    return "; ".join(f"{title_of(model)} {seeds}" for model, seeds in by_model.items())


def _tests(settings: Shown, collection: Collection) -> list[str]:
    seen = {}
    for (dataset, _, _, tested_on), run in collection.runs.items():
        first = run.metrics[0]
        data_set = settings.datasets[dataset]
        line = (
            f"{data_set.title}, tested on {tested_on}: {first['queries']} queries, {first['videos']} videos of split "
            f"{first['split']}, ground truth sha256 {first['ground_truth_sha256'][:16]}; models selected on split "
            f"{data_set.selection_split}."
        )
        seen.setdefault(line, None)
    return list(seen)
