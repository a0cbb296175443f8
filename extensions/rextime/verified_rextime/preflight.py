"""Preflight checks: missing files, questions without valid text or video, weights and features that do not fit each
other.
"""

from collections.abc import Collection, Iterator
from pathlib import Path

from verified.benchmark.submissions import list_some
from verified.config import Config
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.features.preflight import file_findings
from verified.stage import Finding, Supplied, refused
from verified.weights.records import BUILT_IN
from verified_rextime import jobs
from verified_rextime.answer import without_options
from verified_rextime.config import CLIP_SECONDS, PublishedGrounder, Rextime
from verified_rextime.rows import choose, read_questions
from verified_rextime.sources import question_rows


def question_findings(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    """Questions that a video LMM would answer, for each file of given questions; `stuck` holds keys with another
    problem."""
    for name in jobs.answered(settings):
        key, entry = f"rextime.released.{name}", settings.section(Rextime).released[name]
        if any(other.startswith(key) for other in stuck):
            continue
        try:
            rows = question_rows(choose(read_questions(entry.questions, entry.scored), entry, settings.seed))
        except InputError as error:
            yield refused(key, error, "correct the file, or its settings")
            continue
        there = VideoFolder(Path(str(entry.videos))).paths
        videos = {row["vid"] for row in rows}
        scope = "spans alone, as no question has options" if without_options(rows) else "letters too"
        counted = f"{len(rows)} questions in {len(videos)} videos, asked for {scope}"
        if missing := sorted(videos - set(there)):
            lost = sum(row["vid"] not in there for row in rows)
            message = f"{counted}; {lost} would be answered by nothing, as no video is there: {list_some(missing)}"
            level = "problem" if lost == len(rows) else "note"
            yield Finding(level, key, message, f"put the videos into {entry.videos}, named by video id")
        else:
            yield Finding("ok", key, f"{counted}; each has its video")


def feature_findings(settings: Config) -> Iterator[Finding]:
    """Problems of the clips of grounding models with published weights, for the videos of given questions only."""
    section = settings.section(Rextime)
    try:
        questions = [
            question for each in section.released.values() for question in read_questions(each.questions, each.scored)
        ]
    except InputError:  # another check reports it
        return
    videos = {question.video: question.duration for question in questions}
    for name, published in section.published.items():
        if published.video and videos:
            yield from file_findings(f"rextime.published.{name}.video", published.video, "videos", videos, CLIP_SECONDS)


def supplied(settings: Config) -> Iterator[Supplied]:
    """Inputs that no rule makes."""
    section, made = settings.section(Rextime), f"{jobs.folder(settings)}/items.jsonl"
    named: dict[str, str | None] = {}
    for name, source in section.sources.items():
        named |= {f"sources.{name}.{key}": getattr(source, key) for key in ("annotations", "videos")}
    for name, entry in section.released.items():
        named |= {f"released.{name}": entry.questions, f"released.{name}.only": entry.only}
        named |= {f"released.{name}.videos": entry.videos}
    for name, published in section.published.items():
        named |= {f"published.{name}.{key}": getattr(published, key) for key in ("checkpoint", "video")}
    named |= {f"submissions.{name}.file": submission.file for name, submission in section.submissions.items()}
    return (Supplied(f"rextime.{key}", path, key.endswith(".videos"), made) for key, path in named.items() if path)


def problems(settings: Config) -> Iterator[Finding]:
    """Published weights for other features than the given ones."""
    for name, grounder in settings.section(Rextime).published.items():
        yield from _published(settings, name, grounder)


def _published(settings: Config, name: str, grounder: PublishedGrounder) -> Iterator[Finding]:
    """Files that are not published weights, and weights for other features than the given ones."""
    from verified.benchmark.vcmr.checkpoint import FORM  # they load torch
    from verified.nn.checkpoint import load_facts
    from verified_rextime.published import other_features, other_weights

    key = f"rextime.published.{name}"
    if not Path(grounder.checkpoint).is_file():
        return
    try:
        header = load_facts(grounder.checkpoint, FORM)
        if problem := other_weights(header, name):
            remedy = f"import the authors' file: verified import {name} FILE"
            yield Finding("problem", f"{key}.checkpoint", f"{grounder.checkpoint} {problem}", remedy)
            return
        if grounder.video is not None:
            if Path(grounder.video).is_file() and (problem := other_features(header, grounder.video)):
                yield Finding(
                    "problem",
                    f"{key}.video",
                    f"{grounder.video} {problem}",
                    "name the features that they were trained with",
                )
            return
    except InputError as error:
        yield refused(key, error)
        return
    width = header["config"]["video_dim"]
    if header["config"]["first_encoder_dim"]:
        message = f"the weights read {width} numbers a clip, of SlowFast and CLIP, which nothing here computes"
        remedy = "name a feature file with them, by video id, clips of two seconds"
        yield Finding("problem", f"{key}.video", message, remedy)
    elif (backbone := settings.features.video_backbone) in BUILT_IN:
        message = f"{backbone} is no CLIP, and the published weights of {name} read CLIP's {width} numbers a clip"
        remedy = f"name that CLIP, or a feature file in {key}.video"
        yield Finding("problem", "features.video_backbone", message, remedy)
    for dataset in jobs.datasets_used(settings):
        seconds = settings.datasets[dataset].spans.clip_seconds
        if seconds != CLIP_SECONDS:
            message = f"clips have {seconds:g} seconds, the published weights of {name} read those of {CLIP_SECONDS:g}"
            key_of_clips, remedy = f"datasets.{dataset}.spans.clip_seconds", f"set it to 2, or name {key}.video"
            yield Finding("problem", key_of_clips, message, remedy)
