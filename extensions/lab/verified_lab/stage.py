"""Stages of the lab: filters of moments between probe and captions, with calls of the role speech; review; audit."""

from collections.abc import Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config import Config
from verified.config.folders import dataset_folder, datasets_with
from verified.errors import InputError
from verified.layout import Layout
from verified.stage import Finding, Selection, Shard, Stage, Supplied, refused
from verified_lab.config import Quality, Review, limits

if TYPE_CHECKING:
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task


def asks_speech(settings: Config, name: str) -> bool:
    """Whether a run transcribes the videos of a data set by a model."""
    quality = limits(settings).get(name)
    return quality is not None and quality.transcripts == "speech" and settings.generation.speech is not None


def _tasks(settings: Config) -> "tuple[Task, ...]":
    from verified.lmm.tasks.transcription import TRANSCRIPTION

    return (TRANSCRIPTION,) if any(asks_speech(settings, name) for name in limits(settings)) else ()


def _ask_speech(name: str, settings: Config, shards: Sequence[Shard], session: "Session") -> None:
    if asks_speech(settings, name):
        from verified.lmm.speech import calls_of
        from verified.lmm.tasks.transcription import TRANSCRIPTION
        from verified_lab.quality.transcripts import needs_asking, sounds_of

        videos = [row for _, probed in shards for row in probed.values()]
        calls = [call for sound in sounds_of(filter(needs_asking, videos)) for call in calls_of(sound, session)]
        session.ask(TRANSCRIPTION, calls, len(calls))


def _problems(settings: Config) -> Iterator[Finding]:
    """Packages and roles that the limits of a data set lack."""
    for name, quality in limits(settings).items():
        if quality.max_text is not None:
            from verified_lab.quality.measure import missing_packages

            if missing := missing_packages():
                message = f"written text is found by packages that are not installed: {', '.join(missing)}"
                yield Finding(
                    "problem", f"filters.datasets.{name}.max_text", message, "pip install -r requirements-text.in"
                )
        if quality.transcripts == "speech" and settings.generation.speech is None:
            message, remedy = "nobody is configured for the role speech", "set generation.speech, or write: subtitles"
            yield Finding("problem", f"filters.datasets.{name}.transcripts", message, remedy)


def _findings(
    settings: Config, name: str, moments: list[dict], paths: Sequence[Path]
) -> Generator[Finding, None, list[dict]]:
    from verified_lab.quality.transcripts import unreadable_subtitles

    quality, key = limits(settings)[name], f"filters.datasets.{name}"
    if quality.transcripts and (errors := unreadable_subtitles(paths)):
        message = f"subtitles that cannot be read, and are left out: {len(errors)}, first {errors[0]}"
        yield Finding("note", f"{key}.transcripts", message, "correct these files")
    return (yield from _left_out(quality, dataset_folder(settings, name), moments, key))


def _left_out(quality: Quality, folder: str, moments: list[dict], key: str) -> Generator[Finding, None, list[dict]]:
    """Moments that the limits of quality exclude, by the measures so far; returns the other moments."""
    from verified.io.jsonl import iterate_jsonl
    from verified_lab.quality.select import refusal

    tables = sorted(Path(folder, "corpus", "shards").glob("shard-*.quality.jsonl"))
    measured = {(row["video"], row["start"]): row for path in tables for row in iterate_jsonl(path)}
    measures = [measured.get((row["video"], row["start"])) for row in moments]
    usable = [row is None or refusal(row, quality)["reason"] is None for row in measures]
    if left := sum(row is None for row in measures):
        message = f"{left} of {len(moments)} moments are not measured yet, and are counted as usable"
        remedy = "`snakemake --cores all results/tables --until judge_moments --configfile …` measures them"
        yield Finding("note", key, message, remedy)
    if not all(usable):
        message = f"its limits leave out {usable.count(False)} of {len(moments)} moments"
        yield Finding("note", key, message, f"{folder}/corpus/shards/*.quality.jsonl says why")
    return [row for row, use in zip(moments, usable) if use]


SELECTION = Selection(lambda settings: limits(settings).keys(), asks_speech, _findings)
QUALITY = Stage("quality", _tasks, _ask_speech, problems=_problems, selection=SELECTION)


def _proposals(settings: Config) -> list[str]:
    """Moments files of videos without moments."""
    folders = {name: dataset_folder(settings, name) for name in datasets_with(settings, "proposes_moments")}
    return [settings.datasets[name].source.files(f"{folder}/corpus")["moments"] for name, folder in folders.items()]


def _proposing_tasks(settings: Config) -> "tuple[Task, ...]":
    from verified_lab.scene_captions import COARSE_CAPTION

    return (COARSE_CAPTION,) if datasets_with(settings, "proposes_moments") else ()


def _proposal_findings(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    """The findings of folders of videos whose moments a run proposes, and has not yet."""
    from verified.corpus.preflight import video_findings
    from verified.corpus.video_folder import VideoFolder

    for name, file in zip(datasets_with(settings, "proposes_moments"), _proposals(settings)):
        key = f"datasets.{name}.source"
        if Path(file).is_file() or any(other.startswith(key) for other in stuck):
            continue
        videos = settings.datasets[name].source.files("")["videos"]
        try:
            paths = VideoFolder(videos).paths
        except InputError as error:
            yield refused(f"{key}.videos", error, "put the videos there")
            continue
        if not paths:
            yield Finding("problem", f"{key}.videos", f"no video in {videos}", "put the videos there")
        message = "none: a run proposes them from scenes"
        yield Finding("note", f"{key}.moments", message, "correct them before you go on")
        moments = [{"desc_id": 0, "video": video, "start": -1.0, "end": 0.0} for video in paths]
        yield from video_findings(paths, moments, f"{key}.videos")


PROPOSALS = Stage("proposals", _proposing_tasks, preflight=_proposal_findings, makes=_proposals)


def _decisions(settings: Config) -> list[Supplied]:
    return [Supplied("review.decisions", path) for path in settings.section(Review).decisions]


REVIEW = Stage("review", supplied=_decisions)


def _audited(settings: Config, dataset: str) -> list[str]:
    return [Layout(settings).path("results/{dataset}/audit/findings.jsonl", dataset)]


AUDIT = Stage("audit", doubtful=_audited)
