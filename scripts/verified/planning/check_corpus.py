"""Check that a data set's videos open and its moments are usable, from file headers and first frames."""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from verified.config import Config
from verified.config.datasets import Quality
from verified.config.folders import dataset_folder, shown_datasets
from verified.config.retrieval import SELECTION_VIDEOS, Training
from verified.corpus.inventory import unprobed_rows
from verified.corpus.proposals import caption_of_most
from verified.corpus.source_files import division_of
from verified.corpus.splits import choose_unasked, divide
from verified.corpus.video_folder import VideoFolder, other_files
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl
from verified.io.video import VideoError
from verified.io.video.decode import open_video
from verified.lmm.refusal import MAY_BE_SAID
from verified.lmm.refusal import refusal as caption_refusal
from verified.planning.findings import Finding
from verified.quality.select import refusal
from verified.quality.transcripts import unreadable_subtitles
from verified.runtime.seals import digest_of

MOST_OPENED = 200
"""Videos of a data set that are opened: a sample at even distances in the list of names."""
MOST_NAMED = 3
"""Unreadable videos that a message names."""
THREADS = 4
ROUNDED_UP = 1.0
"""Seconds by which an end may exceed its video's length without a note: annotators round up."""


def corpus_findings(settings: Config, name: str) -> Generator[Finding, None, list[dict]]:
    """Yield the findings of a data set with videos; returns its usable moments, `duration` None.

    Those in videos that were opened have their `fps` and `seconds` as well.
    """
    dataset, key = settings.datasets[name], f"datasets.{name}.source"
    if dataset.source.proposes_moments and not Path(f"{dataset_folder(settings, name)}/corpus/proposed.csv").is_file():
        yield from _proposal_findings(dataset.source.files("")["videos"], key)
        return []
    if dataset.source.given_videos is None:
        return []
    try:
        rows, folder, usable, refused = unprobed_rows(dataset.source, f"{dataset_folder(settings, name)}/corpus")
    except InputError as error:
        yield Finding("problem", key, str(error), error.remedy or "correct the file")
        return []
    moments, division = [row for _, row in usable], division_of(settings, name)
    if refused:
        reasons = ", ".join(
            f"{reason} ({count})" for reason, count in Counter(r["reason"] for r in refused).most_common()
        )
        first = refused[0]
        yield Finding(
            "note" if moments else "problem",
            f"{key}.moments",
            f"{len(refused)} of {len(rows)} rows cannot be used: {reasons}",
            f"first: row {first['row']}, {first['detail']}; correct the rows or have them left out",
        )
    else:
        splits = "" if division else f", {_splits(moments)}"
        yield Finding("ok", f"{key}.moments", f"{len(moments)} moments{splits}")
    if others := other_files(folder.folder):
        remedy = "videos among them are found once their names have an ending that is usual for their format"
        yield Finding("note", f"{key}.videos", f"files that are no videos by their ending: {others}", remedy)
    yield from _caption_findings(moments, f"{key}.moments")
    usable = yield from _video_findings(folder.paths, moments, f"{key}.videos")
    if dataset.quality is not None:
        if dataset.quality.transcripts:
            yield from _subtitle_findings([folder.paths[video] for video in {row["video"] for row in moments}], name)
        usable = yield from _quality_findings(dataset.quality, dataset_folder(settings, name), usable, name)
    if division:  # like a run: split the usable videos
        moments = usable = divide(usable, dataset.spans.model_dump(), division)
        message = (
            f"no row names a split: whole videos, copies with them, are divided by the seed into {_splits(moments)}"
        )
        yield Finding("note", f"{key}.moments", message, "or give the rows a column `split`")
    # Other checks report a moments file without splits, for all sources.
    needed = dataset.source.proposes_moments and bool(settings.retrieval.models) and name in shown_datasets(settings)
    yield from _lost_split_findings(dataset.spans, moments, usable, f"datasets.{name}.spans", needed)
    yield from _split_findings(dataset.spans, usable, f"datasets.{name}.spans")
    yield from _selection_findings(settings, dataset.spans, usable, f"datasets.{name}.spans")
    return usable


def _subtitle_findings(videos: list[Path], name: str) -> Generator[Finding]:
    if errors := unreadable_subtitles(sorted(videos)):
        message = f"subtitles that cannot be read, and are left out: {len(errors)}, first {errors[0]}"
        yield Finding("note", f"datasets.{name}.quality.transcripts", message, "correct these files")


def _caption_findings(moments: list[dict], key: str) -> Iterator[Finding]:
    """Captions without information: answers of a model that could not answer, and a caption that most moments share."""
    captions = [row["caption"] for row in moments]
    empty = [caption for caption in captions if caption_refusal(caption, "") in MAY_BE_SAID]
    if empty:
        message = f"{len(empty)} of {len(captions)} captions say that there is no answer, such as {empty[0]!r}"
        yield Finding("note", key, message, "correct these rows, or take them out")
    if (most := caption_of_most(captions)) and most not in empty:
        message = f"{captions.count(most)} of {len(captions)} moments have the caption {most!r}"
        yield Finding("note", key, message, "correct these rows: what is said of most moments finds none of them")


def _proposal_findings(videos: str, key: str):
    """The findings of a folder of videos without a moments file: a run proposes the moments."""
    try:
        paths = VideoFolder(videos).paths
    except InputError as error:
        yield Finding("problem", f"{key}.videos", str(error), "put the videos there")
        return
    if not paths:
        yield Finding("problem", f"{key}.videos", f"no video in {videos}", "put the videos there")
    yield Finding("note", f"{key}.moments", "none: a run proposes them from scenes", "correct them before you go on")
    yield from _video_findings(
        paths, [{"desc_id": 0, "video": video, "start": -1.0, "end": 0.0} for video in paths], f"{key}.videos"
    )


def _splits(moments: list[dict]) -> str:
    return ", ".join(f"{split} {count}" for split, count in sorted(Counter(row["split"] for row in moments).items()))


def _lost_split_findings(spans, moments: list[dict], usable: list[dict], key: str, needed: bool):
    """Splits that a run needs and whose moments all lie in unusable videos.

    With `needed`, also splits without any moment.
    """
    for role in ("train_split", "test_split"):
        split = getattr(spans, role)
        videos = sorted({row["video"] for row in moments if row["split"] == split})
        if usable and videos and not any(row["split"] == split for row in usable):
            message = f"no moment of {split!r} can be used: all are in {', '.join(videos[:3])}"
            message += f" and {len(videos) - 3} more videos" if len(videos) > 3 else ""
            yield Finding("problem", f"{key}.{role}", message, "replace these files, or give others that split")
        elif usable and needed and not videos:
            remedy = f"give moments of some videos the split {split!r}, or set retrieval.models to []"
            yield Finding("problem", f"{key}.{role}", f"no moment is in {split!r}, which retrieval models need", remedy)


def _split_findings(spans, moments: list[dict], key: str):
    videos = {row["video"] for row in moments if row["split"] == spans.train_split}
    if not moments or any(row["split"] == spans.selection_split for row in moments):
        return
    if len(videos) > 1:
        message = (
            f"no moment is in {spans.selection_split!r}: a tenth of the videos of {spans.train_split!r} is held out"
        )
        yield Finding("note", f"{key}.selection_split", message, "or give moments of some videos that split")
    elif videos:
        message = f"no moment is in {spans.selection_split!r}, and {spans.train_split!r} has a single video"
        yield Finding(
            "problem",
            f"{key}.selection_split",
            message,
            f"give moments of another video the split {spans.selection_split}",
        )


def _selection_findings(settings: Config, spans, moments: list[dict], key: str):
    """Models with too few videos to select an epoch on."""
    videos = {row["video"] for row in moments if row["split"] == spans.selection_split}
    videos = videos or choose_unasked({row["video"] for row in moments if row["split"] == spans.train_split})
    least = {
        model: settings.retrieval.training.get(model, Training()).selection_videos or SELECTION_VIDEOS
        for model in settings.retrieval.models
    }
    if few := [model for model, count in least.items() if 0 < len(videos) < count]:
        count = f"{len(videos)} {'video' if len(videos) == 1 else 'videos'}"
        message = f"{count} would select an epoch by chance: {', '.join(few)} {'is' if len(few) == 1 else 'are'}"
        yield Finding(
            "note",
            f"{key}.selection_split",
            f"{message} trained for all epochs, and the last one is taken",
            f"give that split moments of {max(least.values())} videos; retrieval.training.MODEL.selection_videos",
        )


def _video_findings(paths: dict[str, Path], moments: list[dict], key: str):
    """Open up to `MOST_OPENED` of the videos with moments; returns the moments that are still usable."""
    used = sorted({row["video"] for row in moments})
    if not used:
        return moments
    step = max(1, len(used) // MOST_OPENED)
    sampled = used[::step][:MOST_OPENED]
    with ThreadPoolExecutor(THREADS) as pool:
        opened = dict(zip(sampled, pool.map(lambda video: first_look(paths[video]), sampled)))
    broken = {video: look for video, look in opened.items() if isinstance(look, VideoError)}
    looked = f"{len(sampled)} of {len(used)} videos were opened"
    if broken:
        level = "problem" if len(broken) == len(sampled) else "note"
        first = ", ".join(f"{video} ({error.reason})" for video, error in [*broken.items()][:MOST_NAMED])
        more = f" and {len(broken) - MOST_NAMED} more" if len(broken) > MOST_NAMED else ""
        message = f"{looked}, {len(broken)} cannot be read: {first}{more}"
        yield Finding(level, key, message, "replace these files; the moments of an unreadable video are left out")
    else:
        yield Finding("ok", key, f"{looked}, all can be read")
    if copies := _copies({video: paths[video] for video in used}):
        message = (
            f"videos that are copies of another one: {sum(map(len, copies)) - len(copies)}, first {copies[0][1]} of"
        )
        remedy = "their moments are paid for twice, and may be in two splits: take them out, or set quality.max_alike"
        yield Finding("note", key, f"{message} {copies[0][0]}", remedy)
    looks = {video: look for video, look in opened.items() if isinstance(look, Look)}
    if short := {video: look for video, look in looks.items() if look.seconds < look.claimed - ROUNDED_UP}:
        video, look = next(iter(short.items()))
        first = f"first {video}, of which {look.seconds:.1f} of {look.claimed:.1f} s are there"
        message = f"files that are cut off, as by a broken download: {len(short)}, {first}"
        yield Finding("note", key, message, "replace these files; a run uses what is there")
    late = [row for row in moments if row["video"] in looks and 0 < looks[row["video"]].seconds <= row["start"]]
    if late:
        row = late[0]
        first = f"first desc_id {row['desc_id']} in {row['video']}"
        message = f"moments that start after the end of their video: {len(late)}, {first}"
        yield Finding("note", key.replace(".videos", ".moments"), message, "times are seconds from the video's start")
    left_out = {row["desc_id"] for row in late} | {row["desc_id"] for row in moments if row["video"] in broken}
    usable = [row for row in moments if row["desc_id"] not in left_out]
    timed = [(row, looks[row["video"]].seconds) for row in usable if row["video"] in looks]
    beyond = [(row, seconds) for row, seconds in timed if 0 < seconds < row["end"] - ROUNDED_UP]
    if beyond:
        row, seconds = beyond[0]
        message = (
            f"moments that end more than {ROUNDED_UP:g} s after their video: {len(beyond)}, first desc_id"
            f" {row['desc_id']}, {row['end']:g} s in {row['video']} of {seconds:g} s"
        )
        remedy = "times are seconds from the video's start; such ends are cut to the video's"
        yield Finding("note", key.replace(".videos", ".moments"), message, remedy)
    for row in usable:
        if row["video"] in looks:
            row["fps"], row["seconds"] = looks[row["video"]].fps, looks[row["video"]].seconds
    if brief := [row for row in usable if not has_clip(row)]:
        first = f"first desc_id {brief[0]['desc_id']} in {brief[0]['video']}"
        message = f"moments shorter than two frames, whose answers get no score: {len(brief)}, {first}"
        yield Finding("note", key.replace(".videos", ".moments"), message, "give them longer times, or take them out")
    return usable


def _copies(paths: dict[str, Path]) -> list[list[str]]:
    """Groups of videos with the same bytes. Only files of equal size are read."""
    by_size, by_digest = defaultdict(list), defaultdict(list)
    for video, path in paths.items():
        by_size[path.stat().st_size].append(video)
    for size, videos in by_size.items():
        for video in videos if size and len(videos) > 1 else ():
            by_digest[digest_of(paths[video])[0]].append(video)
    return [videos for videos in by_digest.values() if len(videos) > 1]


def has_clip(row: dict) -> bool:
    """Whether a moment has the two frames that the evaluator needs; true if its video was not opened."""
    end = min(row["end"], row.get("seconds") or row["end"])
    return "fps" not in row or (end - row["start"]) * row["fps"] >= 2 - 1e-6


def _quality_findings(
    quality: Quality, folder: str, moments: list[dict], name: str
) -> Generator[Finding, None, list[dict]]:
    """Moments that the limits of quality exclude, as far as a run or a quote has measured; returns the other
    moments."""
    tables = sorted(Path(folder, "corpus", "shards").glob("shard-*.quality.jsonl"))
    measured = {(row["video"], row["start"]): row for path in tables for row in iterate_jsonl(path)}
    found = [measured.get((row["video"], row["start"])) for row in moments]
    refused = [row is not None and refusal(row, quality)["reason"] is not None for row in found]
    if left := sum(row is None for row in found):
        message = f"{left} of {len(moments)} moments are not measured yet, and are counted as if all were kept"
        yield Finding(
            "note", f"datasets.{name}.quality", message, "`verified quote --look` measures them, without a call"
        )
    if any(refused):
        message = f"its limits leave out {sum(refused)} of {len(moments)} moments"
        yield Finding("note", f"datasets.{name}.quality", message, f"{folder}/corpus/shards/*.quality.jsonl says why")
    return [row for row, out in zip(moments, refused) if not out]


class Look(NamedTuple):
    """What a video's header claims: frames per second, and its length in seconds, 0 if it gives none.

    `seconds` is less than `claimed` if the file is truncated.
    """

    seconds: float
    fps: float
    claimed: float


def first_look(path: Path) -> Look | VideoError:
    """The claims of a video's header if its first frame decodes; otherwise the error."""
    try:
        with open_video(path) as video:
            next(iter(video))
            fps, claimed = video.nominal_rate, video.claimed_end
            return Look(video.last_end(), fps, claimed)
    except VideoError as error:
        return error
