"""Write all tables of a run into one folder; lines below each name its data, models and code."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from verified.benchmark.published import Published, plain
from verified.captions.counts import served_models
from verified.config.engines import ENGINES
from verified.config.generation import ROLES, EngineSettings
from verified.config.trust import NOT_TRUSTED, is_untrusted
from verified.errors import InputError
from verified.io.files import write_text
from verified.runtime.project import commit
from verified.tables.added.availability import availability_lines
from verified.tables.collect import Cell, Collection, gains, gains_table
from verified.tables.layout import TABLES, TITLES, UNTRAINED, PaperTable, title_of
from verified.tables.render import (
    Block,
    Sheet,
    csv_text,
    explanation,
    html_page,
    latex,
    markdown,
    plain_text,
    remarks,
    sheet,
    values,
)
from verified.tables.reproduction import place_of, published_table, reproduction, verdict_table
from verified.tables.shown import Shown, ShownDataSet, concerns_paper
from verified.tables.table import Estimate, Table, Value
from verified.weights.records import Wanted, read_records

TIDY = (
    *("table", "dataset", "method", "train", "test", "task", "metric"),
    *("value", "low", "high", "spread", "trainings", "published", "difference", "note"),
)
LABELS = {"Data set": "dataset", "Method": "method", "Train": "train", "Test": "test"}
"""Headings of a simple table that fill a column of the tidy frame; other row labels fill `task`."""


def write_tables(
    folder: Path,
    settings: Shown,
    collection: Collection,
    project: Path,
    published: Published = MappingProxyType({}),
    simple: Iterable[Table] = (),
    weights: Iterable[str] = (),
) -> None:
    """Write every table in every form and `all.csv`, the tidy frame behind them.

    A table of the paper without any value, ours or published, gets no page, because the report shows each page.

    `published` are the paper's figures; they are shown next to ours if the data set is the paper's, never with the
    demo. `simple` are the tables outside the paper, `weights` the records of fetched models. Raises
    InputError if two tables have one name.
    """
    records = read_records(weights)
    data = provenance(settings, collection, project, records)
    tested = retrieval(settings, collection, records)
    lines = [*data, *tested]
    tidy, every_gain = [], []
    if settings.datasets:
        tidy, every_gain = _write_paper(folder, settings, collection, published, data, tested)
    simple = [*simple, *([gains_table(every_gain)] if every_gain else [])]
    if published and concerns_paper(settings.datasets.values()):
        rows = reproduction(settings, collection, published)
        judged = any(row["ours"] is not None for row in rows)
        write_simple(folder, published_table(rows), lines, judged)  # its figures are in the tidy frame already
        write_simple(folder, verdict_table(rows), lines, judged)
        tidy += tidy_rows(verdict_table(rows))
    keys = {*(table.key for table in TABLES), "all", "reproduction", "verdicts"}
    for table in simple:
        if table.key in keys:
            raise InputError(f"two tables are called {table.key!r}", remedy="give one of them another key")
        keys.add(table.key)
        write_simple(folder, table, lines)
        tidy += tidy_rows(table)
    write_text(folder / "all.csv", csv_text(pd.DataFrame(tidy, columns=list(TIDY), dtype=object)))


def write_simple(folder: Path, table: Table, provenance: list[str], page: bool = True) -> None:
    """Write one simple table in every form, as a page only if requested; estimates have separate columns in the CSV."""
    shown = Sheet(table.key, table.title, list(table.header), table.texts(), table.labels)
    _write_forms(folder, shown, table.notes, provenance, page)
    write_text(folder / f"{table.key}.csv", csv_text(_frame(table)))


def _frame(table: Table) -> pd.DataFrame:
    """Full values; a column with estimates is followed by one each for their bounds."""
    columns = {}
    for n, heading in enumerate(table.header):
        cells = [row[n] for row in table.rows]
        columns[heading] = [cell.value if isinstance(cell, Estimate) else cell for cell in cells]
        if any(isinstance(cell, Estimate) for cell in cells):
            columns[f"{heading} low"] = [getattr(cell, "low", None) for cell in cells]
            columns[f"{heading} high"] = [getattr(cell, "high", None) for cell in cells]
    return pd.DataFrame(columns, dtype=object)


def tidy_rows(table: Table) -> list[dict]:
    """The numbers of a simple table as rows of the tidy frame; texts behind the labels become the row's note."""
    out = []
    counted = [any(not isinstance(row[n], str | None) for row in table.rows) for n in range(len(table.header))]
    for row in table.rows:
        columns: dict[str, Value] = {"table": table.key}
        labels = []
        for heading, text in zip(table.header[: table.labels], row):
            if heading in LABELS:
                columns[LABELS[heading]] = text
            else:
                labels.append(text)
        columns["task"] = "; ".join(labels)
        cells = list(zip(table.header, row, counted))[table.labels :]
        note = "; ".join(f"{heading}: {value}" for heading, value, _ in cells if isinstance(value, str) and value)
        for heading, value, number in cells:
            if number and not isinstance(value, str):
                bounds = (
                    {name: getattr(value, name) for name in ("value", "low", "high", "trainings")}
                    if isinstance(value, Estimate)
                    else {"value": value}
                )
                out.append({**columns, "metric": heading, **bounds, "note": note})
    return out


def _write_paper(
    folder: Path,
    settings: Shown,
    collection: Collection,
    published: Published,
    lines: list[str],
    tested: list[str],
) -> tuple[list[dict], list[tuple[Value, ...]]]:
    """Write the paper's tables; returns their rows of the tidy frame and their gains.

    lines: provenance of each table. tested: of retrieval runs.
    """
    tidy, every_gain = [], []
    for table in TABLES:
        extra = collection.extra_rows()
        table = _drop_absent(table.with_models(extra), settings, {row.method for row in extra})
        tables = {name: collection.of_dataset(table, name) for name in settings.datasets}
        blocks = [
            Block(name, data_set.title, tables[name].rows, collection.cells(tables[name], name))
            for name, data_set in settings.datasets.items()
        ]
        for block, data_set in zip(blocks, settings.datasets.values()):
            if data_set.source.comparable:
                for (row, column), cell in block.cells.items():
                    figure = published.get(place_of(table, row, column, block.title))
                    cell.published = None if figure is None else plain(figure)
        for block, name in zip(blocks, settings.datasets):
            every_gain += gains(tables[name], collection, name, block.title, block.cells)
        graded = any(column.task == "user-study" for column in table.columns)
        trained = any(row.method for row in table.rows)
        below = [
            *lines,
            *(studies(settings, collection) if graded else ()),
            *(tested if trained else ()),
        ]
        coarse = [block.title for block in blocks if block.rows != table.rows]
        if len(coarse) == len(blocks):
            table = replace(table, title=table.title.removeprefix("Fine-grained "))
        notes = [f"{title}: trained and tested on coarse captions; there are no fine ones." for title in coarse]
        notes += [*remarks(blocks), *explanation(table, blocks, collection)]
        cells = [cell for block in blocks for cell in block.cells.values()]
        page = any(cell.value is not None or cell.published is not None for cell in cells)
        _write_forms(folder, sheet(table, blocks), notes, below, page)
        write_text(folder / f"{table.key}.csv", csv_text(values(table, blocks)))
        tidy += [row for block in blocks for row in _tidy(table, block)]
    return tidy, every_gain


def _write_forms(folder: Path, shown: Sheet, notes: Iterable[str], provenance: Iterable[str], page: bool) -> None:
    below = [*notes, *provenance]
    write_text(folder / f"{shown.key}.md", markdown(shown, below))
    write_text(folder / f"{shown.key}.txt", plain_text(shown))
    write_text(folder / f"{shown.key}.tex", latex(shown, below))
    if page:
        write_text(folder / f"{shown.key}.html", html_page(shown, notes, provenance))


def _drop_absent(table: PaperTable, settings: Shown, used: set[str]) -> PaperTable:
    """Omit rows of models that this configuration does not train and that have no `used` value, unless none would
    remain.
    """
    wanted = {TITLES.get(model, model) for model in settings.retrieval.names} | used
    rows = tuple(row for row in table.rows if not row.method or row.method in wanted)
    return table if not rows else PaperTable(table.key, table.title, table.stubs, rows, table.columns)


def _tidy(table: PaperTable, block: Block) -> list[dict]:
    return [
        {
            **{"table": table.key, "dataset": block.title, "method": row.method, "train": row.train or column.train},
            **{"test": row.test, "task": column.task, "metric": column.metric},
            **{name: getattr(cell, name) for name in ("value", "low", "high", "spread", "trainings", "published")},
            **{"difference": _difference(cell), "note": cell.note},
        }
        for row in block.rows
        for column in table.columns
        for cell in (block.cells[row, column],)
    ]


def _difference(cell: Cell) -> float | None:
    return None if cell.value is None or cell.published is None else round(cell.value - cell.published, 6)


def provenance(settings: Shown, collection: Collection, project: Path, records: dict[Wanted, dict]) -> list[str]:
    """Lines naming data, the models that wrote captions, seed and code."""
    lines = [
        f"Configuration {settings.name}, seed {settings.seed}, {commit(project)}.",
        *(_data(name, data_set) for name, data_set in settings.datasets.items()),
    ]
    if any(data_set.source.annotated_here for data_set in settings.datasets.values()):
        for name in settings.datasets:
            if served := served_models(collection.statistics.get((name, "outcomes"), {})):
                lines.append(f"{settings.datasets[name].title}: endpoints answered as other models: {served}.")
        evaluator, prompts = settings.evaluator, settings.prompts
        lines.append(
            "Captions and perturbations: "
            + ", ".join(f"{name} {_role(getattr(settings.generation, name), records)}" for name in ROLES)
            + f"; prompts of {prompts['name']}, sha256 {prompts['sha256']}. "
            + f"Evaluator: {evaluator.name}, size {evaluator.size}."
        )
        doubtful = [
            data_set.title
            for data_set in settings.datasets.values()
            if is_untrusted(data_set.source, evaluator.imported)
        ]
        if doubtful:
            lines.append(f"{', '.join(doubtful)}: {NOT_TRUSTED}")
        if (by := settings.annotations.choose_by) != "confidence":
            lines.append(f"Highest and lowest captions are not by confidence here, but by annotations.choose_by: {by}.")
    return [*lines, *availability_lines(settings, collection)]


def retrieval(settings: Shown, collection: Collection, records: dict[Wanted, dict]) -> list[str]:
    """Lines naming the features, training seeds and ground truths of retrieval runs, if there are any."""
    if not collection.runs:
        return []
    tested = {dataset for dataset, *_ in collection.runs}
    given = [of.title for name, of in settings.datasets.items() if name in tested and of.given_features]
    features, named = settings.features, []
    if len(given) < len(tested):
        video = _model_name(features.video_backbone, features.video_revision, records)
        text = _model_name(features.text_encoder, features.text_revision, records)
        named.append(f"on {video} video and {text} text features")
    if given:
        named.append(f"of {', '.join(given)} on features that came with it")
    line = f"Retrieval {'; '.join(named)}; training seeds: {_seeds(collection)}."
    return [line, *_tests(settings, collection)]


def studies(settings: Shown, collection: Collection) -> list[str]:
    """Lines on the user studies behind the tables of grades: the raters and their agreement."""
    lines = []
    for name, data_set in settings.datasets.items():
        study = collection.statistics.get((name, "study"))
        if study:
            alphas = ", ".join(
                f"{grade} {'–' if agreement['alpha'] is None else format(agreement['alpha'], '.2f')}"
                for grade, agreement in study["agreement"].items()
            )
            lines.append(
                f"{data_set.title}: study {study['study']}, {study['answers']} answers of "
                f"{_who(study)}, one verdict per caption; Krippendorff's alpha: {alphas}."
            )
    return lines


def _who(study: dict) -> str:
    """The participants who answered, and the captions omitted for it."""
    missing, few = study["missing"], study["left_out"]
    who = f"{study['participants']} participants"
    if missing:
        who = f"{study['participants'] - len(missing)} of {who}"
    if unfinished := study["unfinished"]:
        who += f", {len(unfinished)} of whom did not answer everything"
    return f"{who} (left out, with grades of fewer than {study['raters']}: {len(few)} captions)" if few else who


def _role(role: EngineSettings, records: dict[Wanted, dict]) -> str:
    """The model of a role and its engine; answers that a cassette gave are named as such."""
    cassette = f", answers of cassette {Path(role.cassette).name} first" if role.cassette else ""
    named = _model_name(role.model, role.revision, records) if ENGINES[role.engine].loads_model else role.model
    return f"{named} ({role.engine}{cassette})"


def _model_name(model: str, revision: str, records: dict[Wanted, dict]) -> str:
    """A model with the commit that it was fetched at."""
    record = records.get(Wanted(model, revision))
    return f"{model} at commit {record['commit'][:12]}" if record else model


def _data(name: str, data_set: ShownDataSet) -> str:
    return f"{data_set.title}: {data_set.source.origin.format(name=name)}."


def _seeds(collection: Collection) -> str:
    """``XML 2018, 2019; HERO 2018`` or, where all models have the same, ``2018, 2019``."""
    by_model = {
        model: ", ".join(map(str, run.seeds))
        for (_, model, trained_on, _), run in collection.runs.items()
        if trained_on != UNTRAINED
    }
    if len(set(by_model.values())) < 2:
        return next(iter(by_model.values()), "none")
    return "; ".join(f"{title_of(model)} {seeds}" for model, seeds in by_model.items())


def _tests(settings: Shown, collection: Collection) -> list[str]:
    seen = {}
    for (dataset, _, _, tested_on), run in collection.runs.items():
        first = run.metrics[0]
        data_set = settings.datasets[dataset]
        line = (
            f"{data_set.title}, tested on {tested_on}: {first['queries']} queries, {first['videos']} videos of split "
            f"{first['split']}, ground truth sha256 {first['ground_truth_sha256'][:16]}; models selected on split "
            f"{data_set.selection_split}."
        )
        seen.setdefault(line, None)
    return list(seen)
