"""Read published annotation files as rows in the FIG form, with coarse captions alone or with fine ones too.

- fig: FIG JSON Lines, unchanged.
- charades-sta: ``VIDEO START END##caption`` a line. Reversed intervals (four in train) are swapped; durations are the
  `length` column of the Charades csv. The FIG files measured the durations anew and are mostly 0.03 to 0.1 s longer.
- activitynet-captions: ``{video: {duration, timestamps, sentences}}``. Outer blanks of sentences (two in three have
  them) are cut; reversed intervals (two in train) are swapped.
- didemo: a list of objects with `times` (per annotator, in segments of 5 s), `description`, `annotation_id`. The span
  is the most frequent interval, the first listed on ties, from 5·first to 5·(last + 1) seconds, not cut to the video;
  `annotator_times` has all of them, by the same rule. The file has no durations: the five-second segments of the video
  are used. Videos lose their suffix. The FIG files agree with this reading in every row; they lack five moments of val
  (28302, 28662, 46074, 46306, 47536) and eight of test (9398, 11040, 22899, 35552, 35911, 44154, 44458, 45273).
- tvr: JSON Lines of `vid_name`, `ts`, `desc_id`, `duration`, `desc`.
- qvhighlights: JSON Lines of `vid`, `relevant_windows`, `qid`, `duration`, `query`. `windows` has all spans of a query
  that has several, `time` is the first.
- cog: FIG JSON Lines with coarse captions alone.

Charades-STA and ActivityNet Captions have no ids: they count from `first_id` in file order.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError
from verified.io.fig import COG_KEYS, checked_rows, read_fig
from verified.io.files import checked
from verified.io.jsonl import finite, is_span, iterate_jsonl, read_json

SEGMENT_SECONDS = 5
PEEKED = 2**16
"""Bytes read to recognise a form."""
CHARADES_LINE = re.compile(r"(\S+) (\S+) (\S+)##(.*\S.*)")
ROWS = {
    "tvr": ("vid_name", "ts", "desc_id", "duration", "desc"),
    "qvhighlights": ("vid", "relevant_windows", "qid", "duration", "query"),
}
"""Keys of the forms of JSON Lines, in the order of `COG_KEYS`."""


def read_split(files: dict[str, Path], first_id: int = 0) -> list[dict]:
    """Rows of one split; `files` maps each format to its file. Raises InputError with file, row, key and remedy."""
    if "fig" in files:
        return read_fig(files["fig"])
    if "charades-sta" in files:
        return _rows(_charades_sta(files["charades-sta"], charades_lengths(files["charades-csv"])), first_id)
    if "activitynet-captions" in files:
        return _rows(_activitynet_captions(files["activitynet-captions"]), first_id)
    if "didemo" in files:
        return list(_didemo(files["didemo"]))
    if "cog" in files:
        return read_fig(files["cog"], COG_KEYS)
    for form in ROWS.keys() & files:
        return _json_lines(files[form], form)
    raise InputError(f"no reader for the formats {', '.join(files)}")


def published_form(path: Path) -> str | None:
    """The format of a file by its first bytes: charades-sta, activitynet-captions or didemo; None: another."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        text = file.read(PEEKED).decode("utf-8-sig", errors="replace").lstrip()
    if CHARADES_LINE.fullmatch(text.split("\n", 1)[0].rstrip("\r")):
        return "charades-sta"
    if text.startswith("[") and all(f'"{key}"' in text for key in ("times", "annotation_id", "num_segments")):
        return "didemo"
    if text.startswith("{") and all(f'"{key}"' in text for key in ("timestamps", "sentences")):
        return "activitynet-captions"
    return None


def own_form(path: Path) -> str:
    """The format of a user's file of annotations: a `published_form`, or by the keys of its first row."""
    if form := published_form(path):
        return form
    row = next(iterate_jsonl(path), {})
    return next((form for form, keys in ROWS.items() if keys[0] in row), "fig" if "fig_desc" in row else "cog")


def published_moments(path: Path) -> list[dict] | None:
    """Rows of a file in a `published_form`, None for any other.

    Rows of Charades-STA have None for a duration, as its csv is not needed. Raises InputError as of `read_split`.
    """
    form = published_form(path)
    if form == "charades-sta":
        return _rows(_charades_sta(path, None), 0)
    return None if form is None else read_split({form: path})


def _rows(moments: Iterator[tuple[str, list, float | None, str]], first_id: int) -> list[dict]:
    return [
        dict(zip(COG_KEYS, (video, time, desc_id, duration, caption), strict=True))
        for desc_id, (video, time, duration, caption) in enumerate(moments, start=first_id)
    ]


def _charades_sta(path: Path, lengths: dict[str, float] | None) -> Iterator[tuple[str, list, float | None, str]]:
    for number, line in enumerate(_text(path).rstrip("\n").split("\n"), start=1):
        match = CHARADES_LINE.fullmatch(line)
        if not match:
            raise InputError(
                "not a Charades-STA line", file=path, row=number, remedy="expected: VIDEO START END##caption"
            )
        video, start, end, caption = match.groups()
        time = sorted((_number(start, path, number), _number(end, path, number)))
        if lengths is not None and video not in lengths:
            raise InputError(f"video {video!r} is not in the Charades csv", file=path, row=number)
        yield video, time, lengths[video] if lengths is not None else None, caption


def charades_lengths(path: Path) -> dict[str, float]:
    """Video → length in seconds, from a Charades_v1 csv."""
    rows = csv.DictReader(_text(path).splitlines())
    if not {"id", "length"} <= set(rows.fieldnames or ()):
        raise InputError("the columns 'id' and 'length' are missing", file=path, row=1)
    return {row["id"]: _number(row["length"], path, number) for number, row in enumerate(rows, start=2)}


def _activitynet_captions(path: Path) -> Iterator[tuple[str, list, float, str]]:
    videos = read_json(path)
    if not isinstance(videos, dict):
        raise InputError("expected an object of videos", file=path)
    for video, value in videos.items():
        place = f"video {video!r}"
        duration, times, sentences = (_key(value, key, path, place) for key in ("duration", "timestamps", "sentences"))
        if not finite(duration) or not isinstance(times, list) or not isinstance(sentences, list):
            raise InputError(f"{place}: duration, timestamps or sentences have the wrong type", file=path)
        if len(times) != len(sentences):
            raise InputError(f"{place}: {len(times)} timestamps for {len(sentences)} sentences", file=path)
        for time, sentence in zip(times, sentences, strict=True):
            if not is_span(time):
                raise InputError(f"{place}: timestamp {time!r} is not [start, end]", file=path)
            if not isinstance(sentence, str) or not sentence.strip():
                raise InputError(f"{place}: a sentence is empty or not a text", file=path)
            yield video, sorted(time), duration, sentence.strip()


def _didemo(path: Path) -> Iterator[dict]:
    rows = read_json(path)
    if not isinstance(rows, list):
        raise InputError("expected a list of annotations", file=path)
    ids: set[int] = set()
    for number, row in enumerate(rows, start=1):
        place = f"annotation {number}"
        video, text, times, desc_id, segments = (
            _key(row, key, path, place) for key in ("video", "description", "times", "annotation_id", "num_segments")
        )
        for key, kind, value in (
            ("video", str, video),
            ("annotation_id", int, desc_id),
            ("num_segments", int, segments),
        ):
            if not isinstance(value, kind):
                raise InputError(f"{place}: {key!r} must be of type {kind.__name__}, found {value!r:.80}", file=path)
        if desc_id in ids:
            raise InputError(f"{place}: annotation_id {desc_id} occurs twice", file=path)
        ids.add(desc_id)
        try:
            (first, last), _ = Counter(tuple(time) for time in times).most_common(1)[0]
            span = [SEGMENT_SECONDS * first, SEGMENT_SECONDS * (last + 1)]
        except (IndexError, TypeError, ValueError):
            raise InputError(f"{place}: 'times' must be a list of [first, last] segments", file=path) from None
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{place}: 'description' is empty or not a text", file=path)
        values = (video.rsplit(".", 1)[0], span, desc_id, float(SEGMENT_SECONDS * segments), text)
        spans = [[SEGMENT_SECONDS * start, SEGMENT_SECONDS * (end + 1)] for start, end in times]
        yield {**dict(zip(COG_KEYS, values, strict=True)), "annotator_times": spans}


def _json_lines(path: Path, form: str) -> list[dict]:
    rows = []
    for number, row in enumerate(iterate_jsonl(path, ROWS[form]), start=1):
        values = dict(zip(COG_KEYS, (row[key] for key in ROWS[form]), strict=True))
        windows = values["time"] if form == "qvhighlights" else [values["time"]]
        if not isinstance(windows, list) or not windows or not all(map(is_span, windows)):
            raise InputError(
                f"{ROWS[form][1]!r} holds no [start, end] in seconds", file=path, row=number, remedy="correct the row"
            )
        windows = [sorted(window) for window in windows]
        rows.append(values | {"time": windows[0]} | ({"windows": windows} if len(windows) > 1 else {}))
    return checked_rows(rows, path, COG_KEYS)


def _key(value: object, key: str, path: Path, place: str):
    if not isinstance(value, dict) or key not in value:
        raise InputError(f"{place}: missing key {key!r}", file=path)
    return value[key]


def _number(text: str, path: Path, row: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not finite(number):
        raise InputError(f"{text!r} is not a number of seconds", file=path, row=row)
    return number


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError("no such file", file=path)
    try:
        text = checked(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 ({error.reason} at byte {error.start})", file=path, remedy="save it as UTF-8"
        ) from None
    if text.lstrip().startswith("<"):
        raise InputError("a web page, not annotations", file=path, remedy="download the file itself, not its page")
    return text
