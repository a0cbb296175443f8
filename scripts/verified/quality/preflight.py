"""Check the moments of data sets with videos before a run: those that can be used, their splits, and their number."""

from collections import Counter
from collections.abc import Collection, Generator, Iterator
from pathlib import Path

from verified.config import Config
from verified.config.datasets import DataSet, Quality
from verified.config.folders import dataset_folder, datasets_with, shown_datasets
from verified.config.retrieval import SELECTION_VIDEOS, Training
from verified.corpus.inventory import unprobed_rows
from verified.corpus.preflight import caption_findings, has_clip, proposal_findings, video_findings
from verified.corpus.source_files import division_of
from verified.corpus.splits import choose_unasked, divide
from verified.corpus.video_folder import other_files
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl
from verified.quality.select import refusal
from verified.quality.text import missing_packages
from verified.quality.transcripts import unreadable_subtitles
from verified.stage import Finding, refused


def quality_problems(settings: Config) -> Iterator[Finding]:
    """Packages and roles that the limits of a data set lack."""
    for name, dataset in settings.datasets.items():
        if (quality := dataset.quality) is None:
            continue
        if quality.max_text is not None and (missing := missing_packages()):
            message = f"written text is found by packages that are not installed: {', '.join(missing)}"
            yield Finding(
                "problem", f"datasets.{name}.quality.max_text", message, "pip install -r requirements-text.in"
            )
        if quality.transcripts == "speech" and settings.generation.speech is None:
            message, remedy = "nobody is configured for the role speech", "set generation.speech, or write: subtitles"
            yield Finding("problem", f"datasets.{name}.quality.transcripts", message, remedy)


def moment_findings(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    """Yield the findings of all data sets with videos of a user's; `stuck` holds keys with another problem."""
    moments = []
    for name in datasets_with(settings, "has_videos"):
        key = f"datasets.{name}.source"
        if not settings.datasets[name].source.rendered and not any(other.startswith(key) for other in stuck):
            moments += yield from dataset_findings(settings, name)
    if moments:
        yield _batch_finding(settings, moments)


def dataset_findings(settings: Config, name: str) -> Generator[Finding, None, list[dict]]:
    """Yield the findings of a data set; returns its usable moments, `duration` None."""
    dataset, key, home = settings.datasets[name], f"datasets.{name}.source", dataset_folder(settings, name)
    if dataset.source.proposes_moments and not Path(f"{home}/corpus/proposed.csv").is_file():
        yield from proposal_findings(dataset.source.files("")["videos"], key)
        return []
    if dataset.source.given_videos is None:
        return []
    try:
        rows, folder, usable, unusable = unprobed_rows(dataset.source, f"{home}/corpus")
    except InputError as error:
        yield refused(key, error)
        return []
    moments, division = [row for _, row in usable], division_of(settings, name)
    if unusable:
        counts = Counter(row["reason"] for row in unusable).most_common()
        reasons = ", ".join(f"{reason} ({count})" for reason, count in counts)
        message = f"{len(unusable)} of {len(rows)} rows cannot be used: {reasons}"
        remedy = f"first: row {unusable[0]['row']}, {unusable[0]['detail']}; correct the rows or have them left out"
        yield Finding("note" if moments else "problem", f"{key}.moments", message, remedy)
    else:
        splits = "" if division else f", {_splits(moments)}"
        yield Finding("ok", f"{key}.moments", f"{len(moments)} moments{splits}")
    if others := other_files(folder.folder):
        remedy = "videos among them are found once their names have an ending that is usual for their format"
        yield Finding("note", f"{key}.videos", f"files that are no videos by their ending: {others}", remedy)
    yield from caption_findings(moments, f"{key}.moments")
    usable = yield from video_findings(folder.paths, moments, f"{key}.videos")
    if dataset.quality is not None:
        videos = sorted(folder.paths[video] for video in {row["video"] for row in moments})
        if dataset.quality.transcripts and (errors := unreadable_subtitles(videos)):
            message = f"subtitles that cannot be read, and are left out: {len(errors)}, first {errors[0]}"
            yield Finding("note", f"datasets.{name}.quality.transcripts", message, "correct these files")
        usable = yield from _quality_findings(dataset.quality, home, usable, f"datasets.{name}.quality")
    if division:  # like a run: split the usable videos
        moments = usable = divide(usable, dataset.spans.model_dump(), division)
        divided = f"whole videos, copies with them, are divided by the seed into {_splits(moments)}"
        yield Finding("note", f"{key}.moments", f"no row names a split: {divided}", "or give the rows a column `split`")
    if usable:
        # Other checks report a moments file without splits, for all sources.
        trains = bool(settings.retrieval.models) and name in shown_datasets(settings)
        needed = dataset.source.proposes_moments and trains
        yield from _split_findings(settings, dataset, moments, usable, f"datasets.{name}.spans", needed)
    return usable


def _splits(moments: list[dict]) -> str:
    return ", ".join(f"{split} {count}" for split, count in sorted(Counter(row["split"] for row in moments).items()))


def _split_findings(
    settings: Config, dataset: DataSet, moments: list[dict], usable: list[dict], key: str, needed: bool
) -> Iterator[Finding]:
    """Splits whose moments all lie in unusable videos, and too few videos to select an epoch on.

    With `needed`, also splits without any moment.
    """
    spans = dataset.spans
    for role in ("train_split", "test_split"):
        split = getattr(spans, role)
        videos = sorted({row["video"] for row in moments if row["split"] == split})
        if videos and not any(row["split"] == split for row in usable):
            more = f" and {len(videos) - 3} more videos" if len(videos) > 3 else ""
            message = f"no moment of {split!r} can be used: all are in {', '.join(videos[:3])}{more}"
            yield Finding("problem", f"{key}.{role}", message, "replace these files, or give others that split")
        elif needed and not videos:
            remedy = f"give moments of some videos the split {split!r}, or set retrieval.models to []"
            yield Finding("problem", f"{key}.{role}", f"no moment is in {split!r}, which retrieval models need", remedy)
    key, split = f"{key}.selection_split", spans.selection_split
    train = {row["video"] for row in usable if row["split"] == spans.train_split}
    selecting = {row["video"] for row in usable if row["split"] == split}
    if not selecting and len(train) > 1:
        message = f"no moment is in {split!r}: a tenth of the videos of {spans.train_split!r} is held out"
        yield Finding("note", key, message, "or give moments of some videos that split")
    elif not selecting and train:
        message = f"no moment is in {split!r}, and {spans.train_split!r} has a single video"
        yield Finding("problem", key, message, f"give moments of another video the split {split}")
    count = len(selecting or choose_unasked(train))
    least = {
        model: settings.retrieval.training.get(model, Training()).selection_videos or SELECTION_VIDEOS
        for model in settings.retrieval.models
    }
    if few := [model for model, wanted in least.items() if 0 < count < wanted]:
        message = f"{count} {'video' if count == 1 else 'videos'} would select an epoch by chance: {', '.join(few)}"
        yield Finding(
            "note",
            key,
            f"{message} {'is' if len(few) == 1 else 'are'} trained for all epochs, and the last one is taken",
            f"give that split moments of {max(least.values())} videos; retrieval.training.MODEL.selection_videos",
        )


def _quality_findings(
    quality: Quality, folder: str, moments: list[dict], key: str
) -> Generator[Finding, None, list[dict]]:
    """Moments that the limits of quality exclude, as far as a run or a quote has measured; returns the other
    moments."""
    tables = sorted(Path(folder, "corpus", "shards").glob("shard-*.quality.jsonl"))
    measured = {(row["video"], row["start"]): row for path in tables for row in iterate_jsonl(path)}
    found = [measured.get((row["video"], row["start"])) for row in moments]
    kept = [row is None or refusal(row, quality)["reason"] is None for row in found]
    if left := sum(row is None for row in found):
        message = f"{left} of {len(moments)} moments are not measured yet, and are counted as if all were kept"
        yield Finding("note", key, message, "`verified quote --look` measures them, without a call")
    if not all(kept):
        message = f"its limits leave out {kept.count(False)} of {len(moments)} moments"
        yield Finding("note", key, message, f"{folder}/corpus/shards/*.quality.jsonl says why")
    return [row for row, keeps in zip(moments, kept) if keeps]


def _batch_finding(settings: Config, moments: list[dict]) -> Finding:
    """Whether the usable moments of all data sets fill the evaluator's batches."""
    key, batch, splits = "evaluator.batch", settings.evaluator.batch, settings.evaluator.splits
    count = sum(has_clip(row) and (splits is None or row["split"] in splits) for row in moments)
    if count >= batch:
        return Finding("ok", key, f"{count} usable moments for batches of {batch}")
    others = len(moments) - count
    aside = f"; {others} are of other splits or shorter than two frames" if others else ""
    message = f"{count} usable moments are too few for batches of {batch}{aside}"
    return Finding("problem", key, message, f"set it to {max(2, count)} or less, or add moments")
