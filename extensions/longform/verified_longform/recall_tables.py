"""Recall of every method as tables of the MAD paper: 2 and 3 by length, 5 by training data, 6 of clips, Figure 4."""

from collections.abc import Mapping, Sequence
from statistics import median

from verified.benchmark.published import Place, Published, plain
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, Table
from verified_longform.recall import IOUS, KS

METHODS = {
    "oracle": "Oracle",
    "chance": "Random Chance",
    "zero-shot": "Zero-shot",
    "vlg-net": "VLG-Net",
}
MOVIES = "In brackets: 95 % interval over movies, drawn with all of their queries."


def recall_table(
    key: str,
    title: str,
    seconds: float | None,
    ks: Sequence[int],
    results: Mapping,
    layout: Mapping,
    published: Published,
) -> Table:
    """Tables 2 and 3: each method's recall at one length of videos (None: whole movies).

    results: data set → {"baselines" or a method of `METHODS`: its job's output}, those that exist.
    """
    columns = [(column, k) for column in range(len(IOUS)) for k in ks]
    header = [f"IoU={IOUS[column]:g} R@{k}" for column, k in columns]
    rows, notes = [], []
    for name, movies in layout["sets"].items():
        for method, measures in _methods(results[name], seconds).items():
            cells = [_cell(measures, column, KS.index(k), method) for column, k in columns]
            rows.append((movies["title"], METHODS[method], "this run", *cells))
            places = [Place(key, movies["title"], METHODS[method], metric=heading) for heading in header]
            figures = [_number(published.get(place)) for place in places]
            if movies["comparable"] and any(figure is not None for figure in figures):
                rows.append((movies["title"], METHODS[method], "published", *figures))
        notes += _notes(movies["title"], results[name], seconds, layout)
    notes += [*_encoders(layout), *_intervals(results)]
    return Table(key, title, ("Data set", "Method", "Figures", *header), rows, notes)


def _methods(results: Mapping, seconds: float | None) -> dict[str, Mapping]:
    measures = {}
    for name in ("baselines", "zero-shot", "vlg-net"):
        if name in results:
            at_length = next(entry for entry in results[name]["lengths"] if entry["seconds"] == seconds)
            measures |= (
                {"oracle": at_length["oracle"], "chance": at_length["chance"]}
                if name == "baselines"
                else {name: at_length}
            )
    return measures


def _cell(at_length: Mapping, column: int, k: int, method: str) -> Estimate | float | None:
    if method == "oracle" and k:
        return None
    value, low, high = (at_length[name][k][column] for name in ("recall", "low", "high"))
    return value if low is None else Estimate(value, low, high, 1 if method == "vlg-net" else None)


def _number(text: str | None) -> float | None:
    return None if text is None else plain(text)


def _notes(title: str, results: Mapping, seconds: float | None, layout: Mapping) -> list[str]:
    baselines = results["baselines"]
    at_length = next(row for row in baselines["lengths"] if row["seconds"] == seconds)
    drawn, expected, tail = at_length["chance_drawn"], at_length["chance"]["recall"], at_length["tail"]
    apart = max(abs(a - b) for row, expectation in zip(drawn["recall"], expected) for a, b in zip(row, expectation))
    compared = {"gt": "exceeds", "ge": "reaches"}
    ways = {compared[results[name]["iou_cmp"]]: [] for name in results}
    for name in results:
        ways[compared[results[name]["iou_cmp"]]].append(
            "Oracle and Random Chance" if name == "baselines" else METHODS[name]
        )
    videos = "movies" if seconds is None else f"segments of {seconds:g} s"
    correlations = {
        METHODS[method]: sorted(number for row in measures["intra_class"] for number in row if number is not None)
        for method, measures in _methods(results, seconds).items()
    }
    texts = [f"{method} {median(values):.2f}" for method, values in correlations.items() if values]
    return [
        f"{title}: intra-class correlation of queries of one movie (median of the cells): {', '.join(texts) or '?'}.",
        f"{title}: {baselines['queries']} queries in {tail['videos']} {videos} of {baselines['movies']} movies;"
        + ";".join(f" a hit {way} the IoU ({', '.join(names)})" for way, names in ways.items())
        + ".",
        f"{title}: Random Chance is the expectation of uniform draws; {drawn['runs']} drawn runs average at most"
        f" {apart:.2f} points off it.",
        f"{title}: proposals leave {tail['seconds']:.0f} s at the ends of {videos} open (tail: {layout['tail']});"
        f" {tail['without_windows']} of them have no proposal, {tail['queries_without_overlap']} queries none that"
        " overlaps their moment.",
    ]


def mixtures_table(results: Mapping[str, Mapping], layout: Mapping, published: Published) -> Table | None:
    """Table 5: VLG-Net by training data, whole movies, IoU 0.5; None without mixtures."""
    if not results:
        return None
    movies = layout["sets"][layout["mixture_test"]]
    rows = []
    for name, result in results.items():
        at_length = next(entry for entry in result["lengths"] if entry["seconds"] is None)
        shares = [layout["mixtures"][name].get(dataset, 0.0) for dataset in layout["sets"]]
        cells = [_cell(at_length, 2, KS.index(k), "vlg-net") for k in (1, 5, 10)]
        rows.append((movies["title"], "this run", *(f"{100 * share:.0f} %" for share in shares), *cells))
        places = [Place("mad-5", movies["title"], "VLG-Net", name, metric=f"R@{k}") for k in (1, 5, 10)]
        if movies["comparable"] and places[0] in published:
            figures = [plain(published[place]) for place in places]
            rows.append((movies["title"], "published", *(f"{100 * share:.0f} %" for share in shares), *figures))
    titles = [f"% of {dataset['title']}" for dataset in layout["sets"].values()]
    return Table(
        "mad-5",
        "MAD Table 5: VLG-Net by training data, IoU=0.5",
        ("Test set", "Figures", *titles, "R@1", "R@5", "R@10"),
        rows,
        ("Shares are drawn movie by movie.", *_encoders(layout), MOVIES, f"{ONE_TRAINING_NOTE} So for VLG-Net."),
    )


def retrieval_table(results: Mapping, layout: Mapping, published: Published) -> Table:
    """Table 6's task, text-to-clip retrieval: untrained, or by a CLIP4Clip that is given; and the published rows."""
    rows: list[tuple] = []
    is_imported = False
    for name, movies in layout["sets"].items():
        measures = results[name].get("zero-shot", {})
        methods = {"mean pooling, zero-shot": measures.get("clip_retrieval")}
        if trained := measures.get("clip4clip"):
            # Its encoders are fine-tuned, so their mean is not a zero-shot figure.
            methods, is_imported = {trained["method"]: trained["recall"]}, True
        rows += [
            (movies["title"], method, "this run", *(recalls[str(k)] for k in (1, 5, 10)))
            for method, recalls in methods.items()
            if recalls
        ]
    if any(movies["comparable"] for movies in layout["sets"].values()):
        for place in published:
            if (place.table, place.metric) == ("mad-6", "R@1"):
                figures = [plain(published[place._replace(metric=f"R@{k}")]) for k in (1, 5, 10)]
                rows.append((f"{place.dataset}, trained on {place.train}", place.method, "published", *figures))
    note = "CLIP4Clip is not trained here: "
    note += (
        "the row is of a checkpoint that was imported."
        if is_imported
        else "its starting point, pooled features, is shown."
    )
    header = ("Data set", "Method", "Figures", "R@1", "R@5", "R@10")
    ties = "Clips that score alike count by the share of their orders that find the right one."
    return Table("mad-6", "MAD Table 6: text-to-clip retrieval", header, rows, (note, ties, *_encoders(layout)))


def lengths_table(results: Mapping, layout: Mapping) -> Table:
    """Figure 4 in numbers: R@1 and R@5 at IoU 0.5 by length of the video."""
    rows, lost = [], 0
    for name, movies in layout["sets"].items():
        for at_length in results[name]["baselines"]["lengths"]:
            seconds = at_length["seconds"]
            lost = max(lost, at_length["tail"]["queries_without_overlap"])
            for method, measure in _methods(results[name], seconds).items():
                length = "whole movies" if seconds is None else f"{seconds:g} s"
                rows.append((movies["title"], METHODS[method], length, *(_cell(measure, 2, k, method) for k in (0, 1))))
    ceiling = "The Oracle's R@1 is what proposals leave possible at a length."
    if lost and layout["tail"] == "drop":
        ceiling += (
            f" Up to {lost} queries have no proposal that overlaps their moment, the more the shorter the segments, so"
            " that a part of a rise with the length is of the windows (grid.tail: cover adds those that are missing)."
        )
    return Table(
        "mad-figure-4",
        "MAD Figure 4: recall by length of the video, IoU=0.5",
        ("Data set", "Method", "Length", "R@1", "R@5"),
        rows,
        (ceiling, *_encoders(layout), *_intervals(results)),
    )


def _encoders(layout: Mapping) -> list[str]:
    """Note on the encoder of each data set."""
    return [f"{movies['title']}: {movies['encoder']}." for movies in layout["sets"].values()]


def _intervals(results: Mapping) -> list[str]:
    """Note on the intervals."""
    single = any("vlg-net" in methods for methods in results.values())
    return [MOVIES, *([f"{ONE_TRAINING_NOTE} So for VLG-Net."] if single else [])]
