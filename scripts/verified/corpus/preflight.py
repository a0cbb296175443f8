"""Check before a run that videos open, from headers and first frames, and that moments have usable times and names,
in splits that are large enough."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from verified.config import Config
from verified.config.datasets import DataSet
from verified.config.folders import dataset_folder, datasets_with, shown_datasets
from verified.config.retrieval import SELECTION_VIDEOS, Training
from verified.corpus.inventory import batch_remedy, unprobed_rows
from verified.corpus.source_files import division_of
from verified.corpus.splits import HELD_OUT, divide, draw_selection_videos
from verified.corpus.video_folder import other_files, other_files_remedy
from verified.errors import InputError
from verified.extension import added_stages
from verified.io.files import file_digest, is_in_future
from verified.io.video import VideoError
from verified.io.video.decode import open_video
from verified.lmm.refusal import MAY_BE_SAID, refusal
from verified.stage import Finding, refused

MOST_OPENED = 200
"""Videos of a data set that are opened: a sample at even distances in the list of names."""
MOST_TEXTS = 8
"""Captions without information that a message names."""
PLACEHOLDER = re.compile(
    r"nan|null|none|nil|n[/.]?a\.?|todo|tbd|tba|fixme|xxx+|undefined|unknown|missing|empty|caption|untitled|test"
    r"|placeholder|lorem ipsum.*|#[A-Z]+[A-Z0-9/]*[!?]?|<[^<>]*>|\[[^\[\]]*\]",
    re.I,
)
"""Captions that programs and people write where there is none."""
MOST_NAMED = 3
"""Unreadable videos that a message names."""
THREADS = 4
ROUNDED_UP = 1.0
"""Seconds by which an end may exceed its video's length without a note: annotators round up."""


def split_problems(settings: Config) -> Iterator[Finding]:
    """Splits that the configuration names, and that no moment has."""
    everywhere: set[str] | None = set()
    named: list[tuple[str, str, set[str]]] = []
    for name, dataset in settings.datasets.items():
        source, spans = dataset.source, dataset.spans
        used = {role: getattr(spans, role) for role in ("train_split", "selection_split", "test_split")}
        try:
            splits = source.split_names()
        except InputError as error:
            everywhere = None
            if source.given_moments is None or Path(source.given_moments).is_file():
                yield refused(f"datasets.{name}.source", error)
            continue
        if source.proposes_moments or source.names_no_split:
            splits = {*used.values()}
        splits = splits | {HELD_OUT} if spans.held_out_share else splits
        everywhere = None if everywhere is None else everywhere | splits
        if source.has_videos and spans.train_split in splits:  # a tenth of it is held out
            del used["selection_split"]
        if source.has_videos or source.given_features:
            named += [(f"datasets.{name}.spans.{role}", split, splits) for role, split in used.items()]
    if everywhere is not None:
        named += [("evaluator.splits", split, everywhere) for split in settings.evaluator.splits or ()]
    for key, split, splits in named:
        if split not in splits:
            remedy = f"name one of {', '.join(sorted(splits))}, or give moments that split"
            yield Finding("problem", key, f"no split {split!r}", remedy)


def caption_findings(moments: list[dict], key: str) -> Iterator[Finding]:
    """Captions without information: answers of a model that could not answer, and a caption that most moments share."""
    captions = [row["caption"] for row in moments]
    empty = [caption for caption in captions if _says_nothing(caption)]
    if empty:
        texts = ", ".join(f"{text!r} ({count})" for text, count in Counter(empty).most_common(MOST_TEXTS))
        message = f"{len(empty)} of {len(captions)} captions say that there is no answer, or nothing: {texts}"
        yield Finding("note", key, message, "correct these rows, or take them out")
    if (most := caption_of_most(captions)) and most not in empty:
        message = f"{captions.count(most)} of {len(captions)} moments have the caption {most!r}"
        yield Finding("note", key, message, "correct these rows: a caption of most moments finds none of them")


def _says_nothing(caption: str) -> bool:
    return PLACEHOLDER.fullmatch(caption) is not None or refusal(caption, "") in (*MAY_BE_SAID, "empty")


def repetition_findings(moments: list[dict], key: str) -> Iterator[Finding]:
    """Moments that are given more than once, and videos with moments in several splits."""
    counts = Counter((row["video"], row["start"], row["end"], row["caption"]) for row in moments)
    if again := [moment for moment, count in counts.items() if count > 1]:
        (video, start, end, caption), rows = again[0], sum(counts[moment] - 1 for moment in again)
        message = f"{rows} rows repeat an earlier one, first {video} {start:g} to {end:g} s, {caption!r}"
        yield Finding("note", key, message, "take them out: each is paid for and counts again")
    splits = defaultdict[str, set[str]](set)
    for row in moments:
        splits[row["video"]].add(row["split"])
    if shared := [video for video, names in splits.items() if len(names) > 1]:
        named = f"{shared[0]} in {' and '.join(sorted(splits[shared[0]]))}"
        message = f"{len(shared)} of {len(splits)} videos have moments in several splits, first {named}"
        yield Finding(
            "note", key, message, "divide videos, not rows: models are tested on videos that they learned from"
        )


def caption_of_most(captions: Iterable[str]) -> str | None:
    """The caption shared by more than half of the captions, and by at least five; None without one."""
    counts = Counter(caption for caption in captions if caption)
    caption, count = next(iter(counts.most_common(1)), ("", 0))
    return caption if count >= 5 and 2 * count > counts.total() else None


def video_findings(paths: dict[str, Path], moments: list[dict], key: str) -> Generator[Finding, None, list[dict]]:
    """Open up to `MOST_OPENED` of the videos with moments; returns the moments that are still usable.

    Those in videos that were opened have their `fps` and `seconds` as well.
    """
    used = sorted({row["video"] for row in moments})
    if not used:
        return moments
    sampled = used[:: max(1, len(used) // MOST_OPENED)][:MOST_OPENED]
    with ThreadPoolExecutor(THREADS) as pool:
        opened = dict(zip(sampled, pool.map(lambda video: probe_header(paths[video]), sampled)))
    broken = {video: look for video, look in opened.items() if isinstance(look, VideoError)}
    looks = {video: look for video, look in opened.items() if isinstance(look, HeaderClaims)}
    opening = f"{len(sampled)} of {len(used)} videos were opened"
    if late := [video for video in used if is_in_future(paths[video])]:
        message = f"videos with a time in the future: {len(late)}, first {late[0]}"
        yield Finding("note", key, message, f"run: touch {shlex.quote(str(paths[late[0]]))}")
    if broken:
        first = ", ".join(f"{video} ({error.reason})" for video, error in [*broken.items()][:MOST_NAMED])
        more = f" and {len(broken) - MOST_NAMED} more" if len(broken) > MOST_NAMED else ""
        message = f"{opening}, {len(broken)} cannot be read: {first}{more}"
        remedy = "replace these files; the moments of an unreadable video are left out"
        yield Finding("note" if looks else "problem", key, message, remedy)
    else:
        yield Finding("ok", key, f"{opening}, all can be read")
    if copies := _copies({video: paths[video] for video in used}):
        message = f"videos that are copies of another one: {sum(map(len, copies)) - len(copies)}, first "
        remedy = "their moments are paid for twice, and may be in two splits: take them out"
        yield Finding("note", key, f"{message}{copies[0][1]} of {copies[0][0]}", remedy)
    if several := [video for video, look in looks.items() if look.streams > 1]:
        message = f"videos with several video streams: {len(several)}, first {several[0]}"
        yield Finding("note", key, message, "the one that players show first is read; extract another to use it")
    if short := {video: look for video, look in looks.items() if look.seconds < look.claimed - ROUNDED_UP}:
        video, look = next(iter(short.items()))
        first = f"first {video}, of which {look.seconds:.1f} of {look.claimed:.1f} s are there"
        message = f"files that are cut off, as by a broken download: {len(short)}, {first}"
        yield Finding("note", key, message, "replace these files; a run uses the intact part")
    late, beyond, brief, usable = [], [], [], []
    for row in moments:
        look = looks.get(row["video"])
        if look and 0 < look.seconds <= row["start"]:
            late.append(row)
        elif row["video"] not in broken:
            usable.append(row)
            if look:
                row["fps"], row["seconds"] = look.fps, look.seconds
                beyond += [row] if 0 < look.seconds < row["end"] - ROUNDED_UP else []
                brief += [] if has_clip(row) else [row]
    from_start = "times are seconds from the video's start"
    cut = f"{from_start}; such ends are cut to the video's"
    for rows, problem, remedy in (
        (late, "that start after the end of their video", from_start),
        (beyond, f"that end more than {ROUNDED_UP:g} s after their video", cut),
        (brief, "shorter than two frames, whose answers get no score", "give them longer times, or take them out"),
    ):
        if rows:
            row, till = rows[0], f", {rows[0]['end']:g} s in" if rows is beyond else " in"
            length = f" of {row['seconds']:g} s" if rows is beyond else ""
            message = f"moments {problem}: {len(rows)}, first desc_id {row['desc_id']}{till} {row['video']}{length}"
            yield Finding("note", key.replace(".videos", ".moments"), message, remedy)
    return usable


def _copies(paths: dict[str, Path]) -> list[list[str]]:
    """Groups of videos with the same bytes. Only files of equal size are read."""
    by_size, by_digest = defaultdict(list), defaultdict(list)
    for video, path in paths.items():
        by_size[path.stat().st_size].append(video)
    for size, videos in by_size.items():
        for video in videos if size and len(videos) > 1 else ():
            by_digest[file_digest(paths[video])].append(video)
    return [videos for videos in by_digest.values() if len(videos) > 1]


def has_clip(row: dict) -> bool:
    """Whether a moment has the two frames that the evaluator needs; true if its video was not opened."""
    end = min(row["end"], row.get("seconds") or row["end"])
    return "fps" not in row or (end - row["start"]) * row["fps"] >= 2 - 1e-6


class HeaderClaims(NamedTuple):
    """Frames per second and length in seconds by a video's header, 0 if it states none.

    `seconds` is less than `claimed` if the file is truncated.
    """

    seconds: float
    fps: float
    claimed: float
    streams: int = 1


def probe_header(path: Path) -> HeaderClaims | VideoError:
    """The claims of a video's header if its first frame decodes; otherwise the error."""
    try:
        with open_video(path) as video:
            next(iter(video))
            fps, claimed = video.nominal_rate, video.claimed_end
            return HeaderClaims(video.last_end(), fps, claimed, video.streams)
    except VideoError as error:
        return error


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
        return []
    if dataset.source.given_videos is None:
        return []
    try:
        folder, moments, unusable = unprobed_rows(dataset.source, f"{home}/corpus")
    except InputError as error:
        yield refused(key, error)
        return []
    division = division_of(settings, name)
    if unusable:
        counts = Counter(row["reason"] for row in unusable).most_common()
        reasons = ", ".join(f"{reason} ({count})" for reason, count in counts)
        listed = Path(dataset.source.files(f"{home}/corpus")["moments"])
        place = f"{listed}: " if listed.is_file() else ""
        message = f"{place}{len(unusable)} of {len(moments) + len(unusable)} rows cannot be used: {reasons}"
        remedy = f"first: row {unusable[0]['row']}, {unusable[0]['detail']}; correct the rows or have them left out"
        yield Finding("note" if moments else "problem", f"{key}.moments", message, remedy)
    else:
        splits = "" if division else f" by split: {_splits(moments)}"
        yield Finding("ok", f"{key}.moments", f"{len(moments)} moments{splits}")
    if others := other_files(folder.folder):
        message = f"files that are no videos by their ending: {others}"
        yield Finding("note", f"{key}.videos", message, other_files_remedy(others))
    if folder.refused:
        unused, _, detail = folder.refused[0]
        message = f"{len(folder.refused)} names in the folder are not used, first {unused}: {detail}"
        yield Finding("note", f"{key}.videos", message, "copy the videos into the folder, or name theirs")
    yield from repetition_findings(moments, f"{key}.moments")
    yield from caption_findings(moments, f"{key}.moments")
    usable = yield from video_findings(folder.paths, moments, f"{key}.videos")
    for selection in [stage.selection for stage in added_stages()]:
        if selection and name in selection.datasets(settings):
            paths = sorted(folder.paths[video] for video in {row["video"] for row in moments})
            usable = yield from selection.findings(settings, name, usable, paths)
    if division and usable:  # like a run: split the usable videos
        split_of = divide({row["video"] for row in usable}, dataset.spans.model_dump(), division)
        moments = usable = [{**row, "split": split_of[row["video"]]} for row in usable]
        divided = f"whole videos, copies with them, are divided by the seed into {_splits(moments)}"
        yield Finding("note", f"{key}.moments", f"no row names a split: {divided}", "or give the rows a column `split`")
    if usable:
        # Other checks report a moments file without splits, for all sources.
        trains = bool(settings.retrieval.names) and name in shown_datasets(settings)
        needed = dataset.source.proposes_moments and trains
        yield from _split_findings(settings, dataset, moments, usable, f"datasets.{name}.spans", needed)
    return usable


def _splits(moments: list[dict]) -> str:
    return ", ".join(f"{split} {count}" for split, count in sorted(Counter(row["split"] for row in moments).items()))


def _split_findings(
    settings: Config, dataset: DataSet, moments: list[dict], usable: list[dict], key: str, needed: bool
) -> Iterator[Finding]:
    """Splits whose moments are all in unusable videos, and too few videos to select an epoch on.

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
    count = len(selecting or draw_selection_videos(train))
    least = {
        model: settings.retrieval.training.get(model, Training()).selection_videos or SELECTION_VIDEOS
        for model in settings.retrieval.names
    }
    if few := [model for model, minimum in least.items() if 0 < count < minimum]:
        message = f"{count} {'video' if count == 1 else 'videos'} would select an epoch by chance: {', '.join(few)}"
        yield Finding(
            "note",
            key,
            f"{message} {'is' if len(few) == 1 else 'are'} trained for all epochs, and the last one is taken",
            f"give that split moments of {max(least.values())} videos; retrieval.training.MODEL.selection_videos",
        )


def _batch_finding(settings: Config, moments: list[dict]) -> Finding:
    """Whether the usable moments of all data sets fill the evaluator's batches."""
    key, batch, splits = "evaluator.batch", settings.evaluator.batch, settings.evaluator.splits
    count = sum(has_clip(row) and (splits is None or row["split"] in splits) for row in moments)
    if count >= batch:
        return Finding("ok", key, f"{count} usable moments for batches of {batch}")
    others = len(moments) - count
    aside = f"; {others} are of other splits or shorter than two frames" if others else ""
    message = f"{count} usable moments are too few for batches of {batch}{aside}"
    return Finding("problem", key, message, batch_remedy(count))
