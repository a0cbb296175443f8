"""The report's front page, one screen: the run, its soundness, its results, and examples of captions."""

import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from verified.benchmark.tiou import guessed_recall
from verified.io.fig import read_splits
from verified.io.pages import MODELS, clock, colour_of, thumb
from verified.io.text_tables import read_csv
from verified.lmm.cassette import HAND_WRITTEN
from verified.report.captions import Thumbnails
from verified.tables.table import aim_text, format_value

PANELS = (
    ("VR", "r1", "finds the video first"),
    ("SVMR", "0.5/r1", "finds the span in it"),
    ("VCMR", "0.5/r1", "finds both"),
)
"""Task and metric of each panel of the front page, and the task in words."""
SHOWN = 4
"""Moments with pictures."""


class Corpus(NamedTuple):
    """A data set of the run: its annotations, all splits, and the archives of its keyframes, if any."""

    title: str
    kind: str
    """Kind of its source, in words."""
    rows: list[dict]
    tested: str
    """The split that models are tested on."""
    keyframes: Sequence[str]

    @classmethod
    def read(cls, facts: Mapping) -> "Corpus":
        """The data set that `report.contents.front_corpora` describes."""
        rows = read_splits(path for path in facts["annotations"] if Path(path).is_file())
        return cls(facts["title"], facts["kind"], rows, facts["tested"], facts["keyframes"])

    def test_moments(self) -> list[tuple[float, float, float]]:
        """(start, end, duration of the video) in seconds of the test moments."""
        return [(*row["time"], row["duration"]) for row in self.rows if row["split"] == self.tested]

    def test_videos(self) -> int:
        """Number of test videos."""
        return len({row["video"] for row in self.rows if row["split"] == self.tested})


def read_cells(path: str | os.PathLike) -> list[dict]:
    """Rows of the tidy frame `all.csv` that hold a recall of a model tested on the finest captions of its data set."""
    cells = [row for _, row in read_csv(path, ()) if row["method"] and row["value"]]
    fine = {row["dataset"] for row in cells if row["test"] == "FIG"}
    return [row for row in cells if row["test"] == ("FIG" if row["dataset"] in fine else "COG")]


def facts(corpora: Sequence[Corpus], cells: Sequence[Mapping], models: Mapping[str, str]) -> str:
    """Three facts of the run: the annotated data, the models that wrote captions, the models tested."""
    cards = []
    for corpus in corpora[:1]:
        more = f", and {len(corpora) - 1} data sets more" if len(corpora) > 1 else ""
        videos = len({row["video"] for row in corpus.rows})
        cards.append((f"{len(corpus.rows):,} moments", f"in {videos:,} videos of {corpus.title} ({corpus.kind}){more}"))
    fine = sum("fig_desc" in row for corpus in corpora for row in corpus.rows)
    writers = ("a person" if model == HAND_WRITTEN else model for model in models.values())
    wrote = f"written by {', '.join(dict.fromkeys(writers))}" if models else "as they were published"
    cards.append((f"{fine:,} fine captions" if fine or models else "Coarse captions alone", wrote))
    tested = list(dict.fromkeys(row["method"] for row in cells if row["table"] in ("main-4", "main-5")))
    if tested:
        counts = sorted({int(row["trainings"]) for row in cells if row["method"] in tested and row["trainings"]})
        often = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
        training = "training" if counts[-1] == 1 else "trainings"
        queries = sum(len(corpus.test_moments()) for corpus in corpora)
        effort = f"{often} {training} each, asked {queries:,} queries about {corpora[0].test_videos():,} videos"
        cards.append((f"{len(tested)} retrieval {'model' if len(tested) == 1 else 'models'}", effort))
    else:
        cards.append(("No retrieval model", "was trained in this run"))
    items = "".join(f"<li><b>{html.escape(head)}</b>{html.escape(text)}</li>" for head, text in cards)
    return f'<ul class="facts">{items}</ul>\n'


def soundness(checks: Sequence[Mapping]) -> str:
    """The checks that have an aim, as marks against it, missed aims first; "" without any."""
    aimed = sorted((check for check in checks if check["aim"]), key=lambda check: check["met"] is not False)
    if not aimed:
        return ""
    met, told = (sum(check["met"] is value for check in aimed) for value in (True, None))
    head = f"Is it sound? {met} of {len(aimed)} aims are met" + (f", {told} cannot be told" if told else "")
    return f'<section><h2>{head}</h2><ul class="aims">{"".join(map(_aim, aimed))}</ul></section>\n'


def _aim(check: Mapping) -> str:
    value = check["value"]
    sign, kind = {True: ("✓", "met"), False: ("✗", "unmet"), None: ("·", "open")}[check["met"]]
    percent = check.get("share", False)
    text = "–" if value is None else f"{100 * value:.1f} %" if percent else format_value(float(value), 2)
    words = {"✓": "met", "✗": "not met", "·": "cannot be told"}[sign]
    mark = "" if value is None else aim_mark(value, check["low"], check["high"], check["aim"], check["met"])
    about = f"{html.escape(check['check'])}<small>{text}, aim {html.escape(_signs(aim_text(check)))}: {words}</small>"
    return f'<li class="{kind}"><span class="sign" aria-hidden="true">{sign}</span><div>{about}{mark}</div></li>'


def _signs(aim: str) -> str:
    return aim.replace(">=", "≥").replace("<=", "≤")


def recalls(corpora: Sequence[Corpus], cells: Sequence[Mapping]) -> str:
    """A panel per task and data set: the recall of each model, trained on coarse and on fine captions."""
    out = []
    for corpus in corpora:
        panels = [panel for task in PANELS if (panel := _panel(corpus, cells, *task))]
        if panels:
            out.append(f'<div class="panels">{"".join(panels)}</div>')
    if not out:
        return ""
    text = (
        "Queries are fine captions, or coarse ones where there are no others. Hollow: trained on coarse captions "
        "(COG); filled: on fine ones (FIG); lines: 95 % intervals over test videos and trainings; ¹ one training, "
        "whose noise its line lacks. Chance: one guess."
    )
    return f'<section><h2>What came out</h2>{"".join(out)}<p class="soft">{text}</p></section>\n'


def _panel(corpus: Corpus, cells: Sequence[Mapping], task: str, metric: str, asks: str) -> str:
    dots: dict[str, dict[str, Dot]] = {}
    for row in cells:
        if (row["dataset"], row["task"], row["metric"]) == (corpus.title, task, metric) and row["train"] in (
            "COG",
            "FIG",
        ):
            low, high = (float(row[side]) if row[side] else None for side in ("low", "high"))
            dot = Dot(float(row["value"]), low, high, row["trainings"] == "1")
            dots.setdefault(row["method"], {}).setdefault(row["train"], dot)
    if not dots:
        return ""
    order = [*MODELS, *sorted(set(dots) - set(MODELS))]
    rows = [ModelRow(name, dots[name].get("COG"), dots[name].get("FIG")) for name in order if name in dots]
    chance = guessed_recall(task, metric, corpus.test_moments(), corpus.test_videos())
    return dot_panel(f"{task} {metric}: {asks}", rows, chance)


def moments(corpora: Sequence[Corpus]) -> str:
    """Four moments from the coarse to the chosen caption with a keyframe each, at even ranks of confidence."""
    corpus = next((each for each in corpora if each.keyframes), corpora[0] if corpora else None)
    picked = list(_picked(corpus.rows, corpus.tested)) if corpus else []
    if not corpus or not picked:
        return ""
    thumbnails = Thumbnails(corpus.keyframes)
    cards = []
    for row in picked:
        frames = thumbnails.of(row["desc_id"])
        picture = ""
        if frames:
            time, url = frames[len(frames) // 2]
            picture = thumb(url, f"Keyframe of moment {row['desc_id']} at {clock(time)}", _result_text(row))
        kind = row.get("fig_desc_type", "")
        score = row.get("fig_desc_score")
        about = ", ".join(filter(None, (kind, f"confidence {score:.2f}" if isinstance(score, float) else "")))
        caption = f'<p class="caption fine {html.escape(kind)}" dir="auto">{html.escape(row["fig_desc"])}</p>'
        coarse = f'<p class="caption coarse soft" dir="auto">{html.escape(row["cog_desc"])}</p>'
        place = "" if picture else f'<p class="soft">{html.escape(_result_text(row))}</p>'
        cards.append(
            f'<div class="card">{picture}{place}{coarse}{caption}<p class="soft">{html.escape(about)}</p></div>'
        )
    head = "From coarse to chosen captions: four moments, from the least to the most confident quarter"
    return f'<section><h2>{head}</h2><div class="moments">{"".join(cards)}</div></section>\n'


def _result_text(row: Mapping) -> str:
    return f"{row['video']}, {clock(row['time'][0])}–{clock(row['time'][1])}"


def _picked(rows: Sequence[dict], tested: str) -> Iterator[dict]:
    """Rows at the middle of each quarter of confidence, of the tested split if it has enough; never cherry-picked."""
    fine = [row for row in rows if "fig_desc" in row]
    of_test = [row for row in fine if row["split"] == tested]
    ranked = sorted(
        of_test if len(of_test) >= SHOWN else fine, key=lambda row: (row.get("fig_desc_score") or 0.0, row["desc_id"])
    )
    for number in range(min(SHOWN, len(ranked))):
        yield ranked[(2 * number + 1) * len(ranked) // (2 * min(SHOWN, len(ranked)))]


def missing(lines: Iterable[str]) -> str:
    """Missing results with their reasons: one line each; "" without any."""
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f'<section><h2>What is missing, and why</h2><ul class="missing">{items}</ul></section>\n' if items else ""


ROW, HEAD, FOOT, LANE = 44, 22, 22, 30
"""Pixels: a row, the space above and below the rows, and the dots' position in a row."""
EDGE = 3
"""Percent of empty space at either side, so that no dot is cut."""


class Dot(NamedTuple):
    """A value in percent with its 95 % interval, if any."""

    value: float
    low: float | None
    high: float | None
    single: bool
    """Whether it is from one training, whose noise the interval lacks."""

    def __str__(self) -> str:
        between = "" if self.low is None else f" [{self.low:.1f}, {self.high:.1f}]"
        return f"{self.value:.1f}{between}"


class ModelRow(NamedTuple):
    """A model of a panel: trained on coarse and on fine captions, or on one of them."""

    name: str
    coarse: Dot | None
    fine: Dot | None


def upper_bound(values: Sequence[float]) -> float:
    """A round number that no value exceeds, at most 100."""
    most = max([*values, 1.0])
    for bound in (2, 5, 10, 20, 30, 40, 50, 60, 80):
        if most <= bound:
            return float(bound)
    return 100.0


def dot_panel(title: str, rows: Sequence[ModelRow], chance: float | None) -> str:
    """A figure: a row per model, hollow dots trained on coarse and filled ones on fine captions, lines for intervals, a
    dashed line at chance beside the dots. Its content is also text, for screen readers.
    """
    dots = [dot for row in rows for dot in (row.coarse, row.fine) if dot]
    top = upper_bound([max(dot.value, dot.high or 0.0) for dot in dots] + [chance or 0.0])

    def at(value: float) -> str:
        return f"{EDGE + (100 - 2 * EDGE) * value / top:.2f}%"

    height = HEAD + ROW * len(rows) + FOOT
    foot = height - FOOT
    text = "; ".join(f"{row.name}: {_interval(row)}" for row in rows)
    guess = "" if chance is None else f"; chance {chance:.1f}"
    label = html.escape(f"{title} in percent, from 0 to {top:g}. {text}{guess}")
    out = [f'<svg class="dots" role="img" aria-label="{label}" width="100%" height="{height}">']
    for tick in (0.0, top / 2, top):
        anchor = "start" if tick == 0 else "end" if tick == top else "middle"
        out.append(f'<line class="grid" x1="{at(tick)}" x2="{at(tick)}" y1="{HEAD}" y2="{foot}"/>')
        unit = " %" if tick == top else ""
        out.append(f'<text class="tick" x="{at(tick)}" y="{height - 6}" text-anchor="{anchor}">{tick:g}{unit}</text>')
    if chance is not None:
        left = chance < 0.6 * top
        label_side = f'dx="{5 if left else -5}" text-anchor="{"start" if left else "end"}"'
        for top_of_row in range(HEAD, foot, ROW):  # beside dots alone, not through the names above them
            ends = f'y1="{top_of_row + LANE - 9}" y2="{top_of_row + LANE + 9}"'
            out.append(f'<line class="chance" x1="{at(chance)}" x2="{at(chance)}" {ends}/>')
        out.append(f'<text class="tick" x="{at(chance)}" y="{HEAD - 8}" {label_side}>chance {chance:.1f}</text>')
    for number, row in enumerate(rows):
        y, colour = HEAD + number * ROW, colour_of(row.name)
        out.append(f'<text class="name" x="{EDGE}%" y="{y + 15}">{html.escape(row.name)}</text>')
        out.append(f'<text class="told" x="{100 - EDGE}%" y="{y + 15}" text-anchor="end">{_short(row)}</text>')
        for dot, hollow in ((row.coarse, True), (row.fine, False)):
            if dot is None:
                continue
            lane = y + LANE + (-3 if hollow else 3)
            if dot.low is not None and dot.high is not None:
                ends = f'x1="{at(max(dot.low, 0))}" x2="{at(min(dot.high, top))}" y1="{lane}" y2="{lane}"'
                out.append(f'<line {ends} stroke="{colour}" stroke-width="{1.5 if hollow else 2.5}"/>')
            fill = "var(--paper)" if hollow else colour
            out.append(
                f'<circle cx="{at(dot.value)}" cy="{lane}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
            )
    out.append("</svg>")
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{''.join(out)}</figure>"


def _interval(row: ModelRow) -> str:
    return ", ".join(f"{name} {dot}" for name, dot in (("COG", row.coarse), ("FIG", row.fine)) if dot)


def _short(row: ModelRow) -> str:
    """The values alone: COG to FIG, a raised 1 behind that of one training."""
    texts = [f"{dot.value:.1f}{'¹' if dot.single else ''}" for dot in (row.coarse, row.fine) if dot]
    return " → ".join(texts)


def aim_mark(value: float, low: float | None, high: float | None, aim: str, met: bool | None) -> str:
    """A line with the value, its interval, and the aim (such as ``>= 0.95``) in green. The line runs from 0 to 1, or
    for points of percent from -100 to 100.
    """
    comparison, _, bound = aim.partition(" ")
    limit = float(bound)
    first, last = (
        (0.0, 1.0) if all(0 <= number <= 1 for number in (value, low or 0.0, high or 0.0)) else (-100.0, 100.0)
    )

    def at(number: float) -> float:
        return round(EDGE + (100 - 2 * EDGE) * (min(max(number, first), last) - first) / (last - first), 2)

    start, end = (at(limit), at(last)) if comparison.startswith(">") else (at(first), at(limit))
    rail = f'x="{EDGE}%" width="{100 - 2 * EDGE}%"'
    out = [
        '<svg class="aim" aria-hidden="true" width="100%" height="14">',
        f'<rect class="rail" {rail} y="5" height="4" rx="2"/>',
        f'<rect class="good" x="{start}%" width="{end - start:.2f}%" y="5" height="4" rx="2"/>',
    ]
    if low is not None and high is not None:
        out.append(f'<line class="stem" x1="{at(low)}%" x2="{at(high)}%" y1="7" y2="7"/>')
    kind = {True: "met", False: "unmet", None: "open"}[met]
    out.append(f'<circle class="{kind}" cx="{at(value)}%" cy="7" r="5"/></svg>')
    return "".join(out)
