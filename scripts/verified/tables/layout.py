"""The arrangement of every table of the paper: which rows, which columns, which runs they need."""

from dataclasses import dataclass, replace

from verified.benchmark.vcmr.metrics import SPAN_RECALLS, VIDEO_RECALLS, shown_metrics
from verified.benchmark.vcmr.registry import declared_title
from verified.config.retrieval import model_files
from verified.errors import InputError
from verified.extension import extensions

TITLES = {"hero": "HERO", "xml": "XML", "reloclnet": "ReLoCLNet", "conquer": "CONQUER", "squidnet": "SQuiDNet"}
UNTRAINED = "untrained"
"""Training corpus of a run without training."""
FOLDERS = {"COG": "cog", "FIG": "fig", "FIG-lowest": "fig-lowest", "FIG-highest": "fig", UNTRAINED: UNTRAINED}
"""Folder of each published training or test corpus; main-7 calls FIG by its other name."""


@dataclass(frozen=True)
class Column:
    """One column: the group heading above it, its heading, and the cell's key in the tidy frame.

    SVMR has one column beyond the paper, mIoU; main-4 and main-5 one for each additional metric of the project.
    """

    group: str
    heading: str
    task: str
    metric: str
    train: str = ""
    digits: int = 2


@dataclass(frozen=True)
class Row:
    """One row of each data set's block; empty fields do not select."""

    label: tuple[str, ...]
    method: str = ""
    train: str = ""
    test: str = ""


@dataclass(frozen=True)
class PaperTable:
    """One table: blocks of rows per data set, columns, and the cells' key in the published tables."""

    key: str
    title: str
    stubs: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]

    def with_models(self, rows: list[Row]) -> "PaperTable":
        """The table with additional `rows`, one for each model beyond the paper, if rows are models."""
        return replace(self, rows=self.rows + tuple(rows)) if self.lists_methods else self

    @property
    def lists_methods(self) -> bool:
        """Whether its rows are models."""
        return self.stubs == ("Method",)

    @property
    def runs(self) -> set[tuple[str, str, str]]:
        """(method, trained on, tested on) of the retrieval runs that the table shows."""
        return {(row.method, row.train, row.test) for row in self.rows if row.method}


def _recalls(task: str, metrics: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(task, metric, task, metric) for metric in metrics)


def _metric_columns(metrics: dict[str, tuple[str, int]], task: str) -> tuple[Column, ...]:
    return tuple(
        Column(heading, train, task, metric, train, digits)
        for metric, (heading, digits) in metrics.items()
        for train in ("COG", "FIG")
    )


def _many_to_many() -> tuple[Column, ...]:
    return tuple(
        Column(train, heading, "many-to-many", metric, train, 0)
        for train in ("COG", "FIG")
        for metric, heading in (("classes", "# cls"), ("instances", "# inst"))
    )


_STUDY = (
    Column("Statics", "R_s (%)", "user-study", "R_s_percent"),
    Column("Statics", "S", "user-study", "S_statics"),
    Column("Dynamics", "R_d (%)", "user-study", "R_d_percent"),
    Column("Dynamics", "S", "user-study", "S_dynamics"),
    Column("Total", "S", "user-study", "S_total"),
)
_METHODS = tuple(Row((title,), title, "FIG", "FIG") for title in TITLES.values())
_GRANULARITIES = tuple(
    Row((title, train, test), title, train, test)
    for title in ("HERO", "XML", "ReLoCLNet")
    for train, test in (("COG", "FIG"), ("FIG", "FIG"), ("COG", "COG"), ("FIG", "COG"))
)
_WHOLE = (Row(()),)

TABLES = (
    PaperTable(
        "main-1", "Language statistics of coarse (COG) and fine (FIG) captions", (), _WHOLE,
        _metric_columns(
            {"vocab": ("# Vocab", 0), "words": ("# Word", 2), "nouns": ("# Noun", 2), "verbs": ("# Verb", 2),
             "adjectives": ("# Adj", 2)}, "statistics"),
    ),
    PaperTable("main-2", "Many-to-many captions: classes and instances", (), _WHOLE, _many_to_many()),
    PaperTable("main-3", "User study: richer captions and their accuracy", (), _WHOLE, _STUDY),
    PaperTable(
        "main-4", "Fine-grained VCMR and VR", ("Method",), _METHODS,
        _recalls("VCMR", (*SPAN_RECALLS, *shown_metrics("VCMR")))
        + _recalls("VR", (*VIDEO_RECALLS, *shown_metrics("VR"))),
    ),
    PaperTable("main-5", "Fine-grained SVMR", ("Method",), _METHODS,
          _recalls("SVMR", (*SPAN_RECALLS, *shown_metrics("SVMR")))),
    PaperTable(
        "main-6", "XML by granularity of the training data, tested on FIG", ("Training data",),
        (Row(("COG",), "XML", "COG", "FIG"), Row(("FIG",), "XML", "FIG", "FIG")),
        _recalls("VCMR", ("0.5/r5", "0.5/r100", "0.7/r5", "0.7/r100"))
        + _recalls("VR", VIDEO_RECALLS)
        + _recalls("SVMR", ("0.5/r1", "0.5/r5", "0.7/r1", "0.7/r5")),
    ),
    PaperTable(
        "main-7", "XML trained on captions of lowest or highest confidence, VCMR", ("Training captions",),
        (Row(("Lowest score",), "XML", "FIG-lowest", "FIG"), Row(("Highest score",), "XML", "FIG-highest", "FIG")),
        _recalls("VCMR", SPAN_RECALLS),
    ),
    PaperTable(
        "supp-1", "Types and confidence scores of the fine captions", (), _WHOLE,
        (
            Column("", "Span/s", "annotation", "span_seconds"),
            Column("Statics", "Num", "annotation", "statics_count", digits=0),
            Column("Statics", "c", "annotation", "statics_confidence"),
            Column("Dynamics", "Num", "annotation", "dynamics_count", digits=0),
            Column("Dynamics", "c", "annotation", "dynamics_confidence"),
            Column("Total", "c", "annotation", "total_confidence"),
        ),
    ),
    PaperTable("supp-2", "Clusters of coarse and fine captions", (), _WHOLE, _many_to_many()),
    PaperTable("supp-3", "User study: richer captions and their accuracy", (), _WHOLE, _STUDY),
    PaperTable("supp-4", "VCMR by granularity of training and test", ("Method", "train", "test"), _GRANULARITIES,
          _recalls("VCMR", SPAN_RECALLS)),
    PaperTable("supp-5", "SVMR by granularity of training and test", ("Method", "train", "test"), _GRANULARITIES,
          _recalls("SVMR", (*SPAN_RECALLS, "mIoU"))),
    PaperTable("supp-6", "VR by granularity of training and test", ("Method", "train", "test"), _GRANULARITIES,
          _recalls("VR", VIDEO_RECALLS)),
)  # fmt: skip


def title_of(model: str) -> str:
    """Title of a model in tables; other models have the name of their file."""
    return _renamed(model, _titles())


def model_of(title: str) -> str:
    """The model that tables call so."""
    return _renamed(title, [(called, model) for model, called in _titles()])


def _titles() -> list[tuple[str, str]]:
    """Models and their titles; `{}` in both stands for another model. Raises InputError if two have the same."""
    known = [(row.model, row.title) for extension in extensions() for row in extension.rows()] + list(TITLES.items())
    for name, file in model_files().items():
        if title := declared_title(name):
            if title in (other for _, other in known):
                raise InputError(f"another model has the title {title!r}", file=file, remedy="give it another title")
            known.append((name, title))
    return known


def _renamed(name: str, names: list[tuple[str, str]]) -> str:
    for old, new in names:
        before, other, after = old.partition("{}")
        if other and name.startswith(before) and name.endswith(after):
            return new.format(_renamed(name[len(before) : len(name) - len(after)], names))
    return dict(names).get(name, name)


def runs(models: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """(model, trained on, tested on), in path spelling, of all runs the tables need from these models.

    Models outside the paper get a row in main-4 and main-5: trained and tested on FIG.
    """
    known = {title: name for name, title in TITLES.items()}
    needed = {
        (known[method], FOLDERS[train], FOLDERS[test])
        for table in TABLES
        for method, train, test in table.runs
        if known[method] in models
    }
    needed |= {(model, "fig", "fig") for model in models if model not in TITLES}
    return sorted(needed)
