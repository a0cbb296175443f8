"""Available share of published annotations, and recall with missing moments counted as misses.

Source videos disappear from the web. Recall over the remaining queries is not comparable with a paper that had all of
them. A lower bound counts each missing ground truth as a miss of the model.
"""

from verified.config import Config
from verified.config.folders import dataset_folder, shown_datasets
from verified.tables.collect import Collection, Run
from verified.tables.layout import title_of
from verified.tables.shown import Shown
from verified.tables.table import Table

METRICS = (*(("VCMR", metric) for metric in ("0.5/r1", "0.5/r10", "0.7/r1", "0.7/r10")), ("VR", "r1"), ("VR", "r10"))


def inputs(settings: Config) -> list[str]:
    """Counts of each data set whose coarse annotations are published."""
    return [f"{dataset_folder(settings, name)}/corpus/counts.json" for name in shown_datasets(settings, "published")]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """Table `availability` of all published data sets, and `availability-recall` where retrieval models were tested;
    `collection` has read the `files`.
    """
    published = {
        name: counts_of_splits
        for name in settings.datasets
        if (counts_of_splits := _published_counts(collection, name))
    }
    rows = [
        (
            settings.datasets[name].title,
            split,
            *(counts[key] for key in ("videos", "videos_at_hand", "moments", "moments_at_hand")),
        )
        for name, splits in published.items()
        for split, counts in splits.items()
    ]
    header = ("Data set", "Split", "Videos", "Videos at hand", "Moments", "Moments at hand")
    note = "What is not at hand is listed with its reason in corpus/exclusions.jsonl of the data set."
    made = [Table("availability", "published annotations and what is at hand", header, rows, (note,))]
    recalls = [
        _recall(settings, run, key, published[key[0]])
        for key, run in sorted(collection.runs.items())
        if key[0] in published
    ]
    if recalls:
        pairs = [f"{task} {metric}{suffix}" for task, metric in METRICS for suffix in (" at hand", " of all")]
        note = "Means over seeds. Of all: each published query that could not be asked counts as missed."
        header = ("Data set", "Method", "Train", "Test", "Queries", "Queries published", *pairs)
        made.append(Table("availability-recall", "recall and missing videos", header, recalls, (note,)))
    return made


def availability_lines(settings: Shown, collection: Collection) -> list[str]:
    """A line per published data set for the foot of every table: n of N videos by split."""
    lines = []
    for name, data_set in settings.datasets.items():
        if counts_of_splits := _published_counts(collection, name):
            splits = "; ".join(
                f"{split}: {counts['videos_at_hand']} of {counts['videos']} videos, {counts['moments_at_hand']} of "
                f"{counts['moments']} moments"
                for split, counts in counts_of_splits.items()
            )
            lines.append(f"{data_set.title}, at hand of what is published: {splits}.")
    return lines


def _published_counts(collection: Collection, name: str) -> dict[str, dict[str, int]]:
    return collection.statistics.get((name, "counts"), {}).get("published", {})


def _recall(settings: Shown, run: Run, key: tuple[str, str, str, str], published: dict) -> tuple:
    name, model, trained, tested = key
    queries, split = run.metrics[0]["queries"], run.metrics[0]["split"]
    # A held-out split is not published, so only its available queries can be compared.
    total = published[split]["moments"] if split in published else queries
    values = []
    for task, metric in METRICS:
        mean = run.mean(task, metric)
        values += [None, None] if run.lacks(task) else [mean, mean * queries / total]
    method = title_of(model)
    return (settings.datasets[name].title, method, trained, tested, queries, total, *values)
