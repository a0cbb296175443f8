"""The MAD paper's tables for the data sets of a configuration, and the stage's additional ones, as plain tables.

Printed figures are shown next to ours if they refer to the same data: published data sets in Table 1, and data sets
read in MAD's form and titled as in the paper; never with the demo.
"""

from collections.abc import Mapping, Sequence

from verified.benchmark.published import Place, Published, plain, verdict_of
from verified.tables.table import Table
from verified_longform.recall import KS
from verified_longform.recall_tables import lengths_table, mixtures_table, recall_table, retrieval_table

FIGURES = {
    "hours": ("Hours", 1, ""),
    "minutes": ("Min / video", 2, ""),
    "seconds": ("s / moment", 1, ""),
    "queries": ("Queries", 1, "K"),
    "words": ("Words / query", 1, ""),
    "tokens": ("Tokens", 1, "M"),
    "adjectives": ("Adjectives", 1, "K"),
    "nouns": ("Nouns", 1, "K"),
    "verbs": ("Verbs", 1, "K"),
    "vocabulary": ("Vocabulary", 1, "K"),
}
"""Column → heading, decimals and unit as published."""
LSMDC16 = "LSMDC16"
"""The data set of clips behind LSMDC-G; it is counted, not grounded."""
UNITS = {"K": 1e3, "M": 1e6, "": 1.0}


def published_form(column: str, value: float | None) -> str | None:
    """One of our figures in the paper's form, ``16.1K``."""
    if value is None:
        return None
    _, decimals, unit = FIGURES[column]
    return f"{value / UNITS[unit]:.{decimals}f}{unit}"


def _format_figure(column: str, value: float | None, comparable: bool) -> str | None:
    """The paper's form if the figure is compared with a published one, or the count itself if it is small."""
    if value is None or comparable or not FIGURES[column][2] or value >= UNITS[FIGURES[column][2]]:
        return published_form(column, value)
    return str(value)


def statistics_table(statistics: Sequence[Mapping], published: Published) -> Table:
    """Table 1: a row of ours per data set, and the published row below it if there is one."""
    rows = []
    for measures in statistics:
        our_figures = [_format_figure(name, measures["all"].get(name), _comparable(measures)) for name in FIGURES]
        rows.append((measures["title"], "this run", *our_figures, _percent(measures["all"].get("coverage"))))
        if _comparable(measures) and Place("mad-1", measures["title"], metric="hours") in published:
            figures = [published[Place("mad-1", measures["title"], metric=name)] for name in FIGURES]
            rows.append((measures["title"], "published", *figures, None))
    notes = ["Coverage is the mean of a moment's length by its video's length; the paper prints it in a figure only."]
    for measures in statistics:
        excluded = measures["counts"]["rows"] - measures["counts"]["usable"]
        if excluded or measures["counts"]["clipped"]:
            notes.append(
                f"{measures['title']}: {excluded} of {measures['counts']['rows']} annotations cannot be used,"
                f" {measures['counts']['clipped']} are cut to their video."
            )
        for split, why in measures["missing"].items():
            notes.append(f"{measures['title']} is partial: split {split}: {why}.")
    headings = [heading for heading, _, _ in FIGURES.values()]
    return Table(
        "mad-1",
        "MAD Table 1: statistics of grounding data sets",
        ("Data set", "Figures", *headings, "Coverage %"),
        rows,
        notes,
    )


def verdicts_table(statistics: Sequence[Mapping], published: Published) -> Table | None:
    """A verdict for each published figure of Table 1 whose data set is available; None without any."""
    rows = []
    for measures in statistics:
        if not _comparable(measures) or Place("mad-1", measures["title"], metric="hours") not in published:
            continue
        for name, (heading, _, _) in FIGURES.items():
            value = measures["all"].get(name)
            figure = published[Place("mad-1", measures["title"], metric=name)]
            ours = published_form(name, value)  # rounded already
            verdict = verdict_of(plain(figure), None if ours is None else plain(ours), 0)
            verdict = "partial" if measures["missing"] else verdict
            rows.append((measures["title"], heading, figure, ours, verdict, _why(measures["title"], name, verdict)))
    if not rows:
        return None
    return Table(
        "mad-1-verdicts",
        "MAD Table 1: each published figure beside ours",
        ("Data set", "Figure", "Printed", "This run", "Verdict", "Note"),
        rows,
        ("A figure is reproduced when ours rounds to the published one.",),
    )


REASONS = {
    ("Charades-STA", "hours"): "durations of the Charades csv; measured anew, as in the Charades-FIG files, they give"
    " 57.1 h",
    ("Charades-STA", "minutes"): "57.1 h over 6,672 videos is 0.51 as well: a slip in print",
    ("ANet-Captions", "words"): "1.0M tokens over 72.0K queries, both published, is less than 14.5 as well",
    **{
        ("ANet-Captions", name): "the tagger is not stated; with each word under its commonest tag alone, 1.3K"
        " adjectives, 6.4K nouns and 3.7K verbs"
        for name in ("adjectives", "nouns", "verbs")
    },
}


def _why(title: str, name: str, verdict: str) -> str:
    if verdict == "partial":
        return "not all splits are at hand"
    return REASONS.get((title, name), "") if verdict == "differs" else ""


def _comparable(measures: Mapping) -> bool:
    return measures["kind"] == "published" or measures["comparable"]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def splits_table(statistics: Sequence[Mapping], published: Published) -> Table:
    """Table 4: movies and annotations of each split; with any data set of the paper, LSMDC16's published row too."""
    splits = ("train", "val", "test")
    headings = [f"{split.capitalize()} {unit}" for unit in ("videos", "queries") for split in splits]
    rows = []
    for measures in statistics:
        counts = [measures["splits"][split][unit] for unit in ("videos", "queries") for split in splits]
        rows.append((measures["title"], "this run", *map(str, counts)))
        if _comparable(measures):
            rows += _published_splits(measures["title"], headings, published)
    if any(map(_comparable, statistics)):
        rows += _published_splits(LSMDC16, headings, published)
    return Table("mad-4", "MAD Table 4: splits", ("Data set", "Figures", *headings), rows)


def _published_splits(title: str, headings: Sequence[str], published: Published) -> list[tuple]:
    places = [Place("mad-4", title, metric=name.lower()) for name in headings]
    return [(title, "published", *(published[place] for place in places))] if places[0] in published else []


def comparison_table(statistics: Sequence[Mapping], published: Published) -> Table:
    """Table 7: training against validation and test."""
    rows, notes = [], []
    for measures in statistics:
        for split in ("train", "val/test"):
            if split in measures:
                our_figures = [
                    _format_figure(name, measures[split].get(name), _comparable(measures)) for name in FIGURES
                ]
                rows.append((measures["title"], split, "this run", *our_figures))
                places = [Place("mad-7", measures["title"], test=split, metric=name) for name in FIGURES]
                if _comparable(measures) and places[0] in published:
                    rows.append((measures["title"], split, "published", *(published[place] for place in places)))
        if meet := measures.get("overlap"):
            unseen, unused = 100 * meet["unseen_tokens_share"], 100 * meet["train_only_tokens_share"]
            notes.append(
                f"{measures['title']}: {meet['shared']} words, {100 * meet['shared_share']:.1f} % of val/test's, are in"
                f" train's vocabulary too; {meet['unseen']} unseen words are {unseen:.2f} % of val/test's tokens,"
                f" {meet['train_only']} words of train alone are {unused:.1f} % of its tokens."
            )
        whole = measures["all"]
        notes.append(
            f"{measures['title']}: sentences have {whole['words']:.1f} tokens, standard deviation"
            f" {whole['word_deviation']:.1f}; {whole['frequent']['1000']} words occur more than 1000 times,"
            f" {whole['frequent']['50']} more than 50 times."
        )
    headings = [heading for heading, _, _ in FIGURES.values()]
    return Table(
        "mad-7",
        "MAD Table 7: training against validation and test",
        ("Data set", "Split", "Figures", *headings),
        rows,
        notes,
    )


def collection_table(checks: Mapping[str, Mapping]) -> Table | None:
    """Collected annotations against the demo's ground truth; None without a demo."""
    if not checks:
        return None
    rows = [
        (
            title,
            measures["movies"],
            measures["accepted_rightly"],
            measures["refused_rightly"],
            1000 * (measures["delay_error"] or 0.0),
            measures["rows"],
            100 * measures["right"] / max(1, measures["rows"]),
            100 * (1 - measures["missed"] / max(1, measures["wanted"])),
        )
        for title, measures in checks.items()
    ]
    return Table(
        "longform-collection",
        "Described tracks to grounded sentences, against the planted truth",
        (
            "Data set",
            "Movies",
            "Aligned rightly",
            "Refused rightly",
            "Largest delay error, ms",
            "Rows",
            "Right %",
            "Found %",
        ),
        rows,
        (
            "Right: text and moment (IoU above 0.5) of a planted event. Found: events of aligned movies that no voice"
            " speaks over.",
        ),
    )


def annotations_table(counts: Mapping[str, Mapping[str, int]], collected: Mapping[str, Mapping]) -> Table:
    """Outcome of every annotation of each data set of movies.

    collected: `manifest.summarise_reports` of those whose annotations were collected.
    """
    reasons = sorted({name for row_counts in counts.values() for name in row_counts} - {"rows", "usable", "clipped"})
    rows = [
        (title, *(row_counts.get(name, 0) for name in ("rows", "usable", "clipped", *reasons)))
        for title, row_counts in counts.items()
    ]
    return Table(
        "longform-annotations",
        "Annotations of movies: used, and left out by reason",
        ("Data set", "Rows", "Usable", "Cut to the movie", *reasons),
        rows,
        [note for title, summary in collected.items() for note in _exclusion_notes(title, summary)],
    )


def _exclusion_notes(title: str, summary: Mapping) -> list[str]:
    without = summary["without_subtitles"]
    remark = f", {without} of them without subtitles, so that dialogue stays in" if without else ""
    remark += (
        f", {summary['transcribed']} of them with transcripts by the role speech" if summary["transcribed"] else ""
    )
    return [
        f"{title}: collected from {summary['collected']} of {summary['movies']} movies{remark}.",
        f"{title}: {summary['spoken']} sentences were described; {summary['dialogue']} overlap dialogue or songs"
        f" and {summary['outside']} lie outside their movie: {summary['kept']} are kept.",
        *(f"{title} lacks {movie}: {reason.rstrip('.')}." for movie, reason in summary["left_out"].items()),
    ]


def all_tables(
    statistics: Sequence[Mapping],
    results: Mapping,
    mixtures: Mapping,
    counts: Mapping,
    collected: Mapping,
    checks: Mapping,
    layout: Mapping,
    published: Published,
) -> list[Table]:
    """Every table of the stage, in the paper's order; without movies, the statistics alone."""
    movies = [measures for measures in statistics if measures["kind"] == "movies"]
    short = layout["short_seconds"]
    tables = [statistics_table(statistics, published), verdicts_table(statistics, published)]
    if not movies:
        return [table for table in tables if table is not None]
    tables += [
        recall_table("mad-2", "MAD Table 2: grounding in whole movies", None, KS, results, layout, published),
        recall_table(
            "mad-3", f"MAD Table 3: grounding in segments of {short:g} s", short, (1, 5), results, layout, published
        ),
        splits_table(movies, published),
        mixtures_table(mixtures, layout, published),
        retrieval_table(results, layout, published),
        comparison_table(movies, published),
        lengths_table(results, layout),
        collection_table(checks),
        annotations_table(counts, collected),
    ]
    return [table for table in tables if table is not None]
