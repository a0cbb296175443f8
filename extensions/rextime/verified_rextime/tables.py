"""Tables of ReXTime: filters, questions, generation, who takes the test, and costs."""

from collections.abc import Iterator, Mapping

from verified.benchmark.intervals import typical_correlation
from verified.benchmark.published import Published, plain, verdict_of
from verified.io.jsonl import iterate_jsonl
from verified.tables.table import Estimate, Table, Value
from verified_rextime.config import Prices
from verified_rextime.rows import LETTERS, read_questions
from verified_rextime.statistics import cost_per_1000

MEASURES = {"mIoU": 1.0, "R1@0.3": 1.0, "R1@0.5": 1.0, "VQA": 100.0, "VQA,mIoU@0.5": 100.0}
"""Shown measures, and their factors to percent."""
SHOWN = 20
"""Free answers of a test in their table; all are in the files of answers."""
NOT_ATTEMPTED = "not attempted: the test set and the model's weights are not at hand"
OWN_MODELS = {"UniVTG": "univtg", "CG-DETR": "cg_detr"}
"""Published rows whose model is one of ours, by its name in `retrieval.models`."""


def sources_table(counts: Mapping[str, dict]) -> Table:
    """Counts of the filters by source; kept and rejected add up to given."""
    rows = []
    for source, count in counts.items():
        for unit in ("videos", "events", "queries"):
            if unit in count:
                number = count[unit]
                rows.append([source, count["form"], unit, "given", number["given"]])
                rows.append([source, count["form"], unit, "kept", number["kept"]])
                rows += [[source, count["form"], unit, reason, n] for reason, n in number.get("rejected", {}).items()]
    return Table("rextime-sources", "what the filters of the sources kept", _SOURCES, rows)


_SOURCES = ("Source", "Form", "What", "Fate", "Number")


def questions_table(statistics: Mapping[str, dict]) -> Table:
    """Numbers, lengths and overlap of the questions, a row per split."""
    kinds = ("sequential", "cause_effect", "means_to_an_end")
    header = (
        "Split",
        "Questions",
        *(kind.replace("_", " ") for kind in kinds),
        "Videos",
        "Video (s)",
        "Answer span (s)",
        "With question span",
        "Certificate length (s)",
        "Hull (s)",
        "Question–answer IoU",
    )
    rows = []
    for split, measures in statistics.items():
        by_kind = measures["kinds"]
        numbers = [None if by_kind is None else by_kind.get(kind, 0) for kind in kinds]
        names = ("videos", "duration", "answer_length", "with_question_span")
        names += ("certificate_length", "certificate_hull", "question_answer_iou")
        rows.append([split, measures["questions"], *numbers, *(measures[name] for name in names)])
    notes = ("Certificate length is the union of question span and answer span; the hull also counts what is between.",)
    return Table("rextime-questions", "the questions across time", header, rows, notes)


def generation_table(counts: Mapping[str, dict]) -> Table:
    """Outcomes of items, questions and calls."""
    rows: list[list[Value]] = [["items", name.replace("_", " "), n] for name, n in counts["items"].items()]
    rows += [["items and questions", reason, number] for reason, number in counts["fates"].items()]
    for task, count in counts["calls"].items():
        rows += [[task, f"calls {status}", number] for status, number in count["outcomes"].items() if number]
    return Table("rextime-generation", "what became of items, questions and calls", ("Of", "Fate", "Number"), rows)


def results_table(results: Mapping[str, dict], published: Published) -> Table:
    """Everybody who took the test in this run, then the published rows of the supplement's Tables 1 and 2."""
    header = ("Test", "Method", "Questions", "mIoU", "R1@0.3", "R1@0.5", "Accuracy", "Accuracy@IoU≥0.5", "Verdict")
    rows: list[list[Value]] = []
    for split, measures in results.items():
        for name, system in measures["systems"].items():
            values = [_estimate(system["intervals"].get(measure), scale) for measure, scale in MEASURES.items()]
            rows.append([f"this run, {split}", name, system["questions"], *values, "this run"])
    for row in dict.fromkeys(place._replace(metric="") for place in published):
        number, tuning = {"rextime-1": (1, "zero-shot"), "rextime-2": (2, "fine-tuned")}[row.table]
        name = f"supplement Table {number} ({tuning}), {row.test} test"
        figures = [published.get(row._replace(metric=measure)) for measure in MEASURES]
        values = [None if figure is None else plain(figure) for figure in figures]
        model = OWN_MODELS.get(row.method)
        way = f"`retrieval.models: [{model}]` trains one"
        if tuning == "zero-shot":
            way = f"`rextime.published.{model}` takes the authors' weights"
        own = f"; {way}" if model else ""
        rows.append([name, row.method, 2143 if row.test == "full" else 300, *values, NOT_ATTEMPTED + own])
    notes = (
        "All measures in percent; in brackets: 95 % interval over videos, drawn with all of their questions, not over"
        " trainings.",
        *_intra_class_lines(results),
        "On the released validation questions, whole video and always A reach 37.25 mIoU, more than any published "
        "model on the test set: mean IoU alone says little.",
        "Rows of this run and published rows are not about the same questions.",
        *(
            f"{split}, {name}: {note.rstrip('.')}."
            for split, measures in results.items()
            for name, system in measures["systems"].items()
            for note in (*system.get("notes", ()), *_gain(system))
        ),
    )
    return Table("rextime-models", "who takes the test", header, rows, notes)


def kinds_table(results: Mapping[str, dict]) -> Table | None:
    """The same systems by the kind of question; None if no test names kinds."""
    rows: list[list[Value]] = []
    for split, measures in results.items():
        for name, system in measures["systems"].items():
            for kind, figures in system["kinds"].items():
                values = [scale * figures[name] if name in figures else None for name, scale in MEASURES.items()]
                rows.append([split, name, kind.replace("_", " "), figures["questions"], *values])
    notes = ("All measures in percent. The supplement prints no figure by kind.",)
    return Table("rextime-kinds", "who takes the test, by the kind of question", _KINDS, rows, notes) if rows else None


_KINDS = ("Test", "Method", "Kind", "Questions", "mIoU", "R1@0.3", "R1@0.5", "Accuracy", "Accuracy@IoU≥0.5")


def free_table(tests: Mapping[str, Mapping], model: str) -> Table:
    """Free answers next to the true ones (supplement, D.2), the first `SHOWN` of each test.

    `tests` by name, as of `paths.free_answers`.
    """
    rows: list[list[Value]] = []
    numbers = []
    for name, test in tests.items():
        answer_of = {row["qid"]: row for file in test["answers"] for row in iterate_jsonl(file)}
        answered = [
            question for question in read_questions(test["questions"], test["scored"]) if question.qid in answer_of
        ]
        numbers.append(f"{name} {len(answered)}")
        for question in answered[:SHOWN]:
            letter = question.answer
            true = question.options[LETTERS.index(letter)] if question.options and letter else None
            rows.append([name, model, question.qid, question.query, true, answer_of[question.qid]["text"]])
    notes = (
        "The model is asked without options, and its answers are not scored.",
        f"Questions asked: {', '.join(numbers)}; the first {SHOWN} of each test are shown.",
        "The supplement (D.2) prints what GPT-4V, Gemini-1.5-Pro, Claude-3-Opus, Reka-Core and GPT-4o say of one "
        "question and judges none of it: there is no figure to compare with.",
    )
    header = ("Test", "Method", "Id", "Question", "True answer", "Free answer")
    return Table("rextime-free", "free answers, given without options", header, rows, notes)


def _gain(system: Mapping) -> Iterator[str]:
    """Note on the gain of fine-tuning in the table's measures."""
    changes = []
    for row in system.get("gain", ()):
        if (scale := MEASURES.get(row["measure"])) is not None:
            low, high = (None if row[bound] is None else scale * row[bound] for bound in ("low", "high"))
            bounds = "" if low is None else f" [{low:.2f}, {high:.2f}]"
            changes.append(f"{row['measure']} {scale * row['difference']:+.2f}{bounds}")
    if changes:
        yield f"fine-tuning changes {', '.join(changes)} (paired, 95 % intervals over videos, of one training)"


def _estimate(measure: Mapping | None, scale: float) -> Estimate | float | None:
    if measure is None or measure["low"] is None:
        return None if measure is None else scale * measure["value"]
    return Estimate(*(scale * measure[name] for name in ("value", "low", "high")))


def _intra_class_lines(results: Mapping[str, dict]) -> list[str]:
    """The measured correlation of questions of a video, by split."""
    lines = []
    for split, measured in results.items():
        each = [row["intra_class"] for system in measured["systems"].values() for row in system["intervals"].values()]
        if any(number is not None for number in each):
            lines.append(f"{split}: intra-class correlation of questions of one video {typical_correlation(each)}.")
    return lines


def cost_table(prices: Prices) -> Table:
    """Costs of 1,000 samples at the configured prices next to the published ones."""
    rows: list[list[Value]] = []
    for name, reviewed, published in (
        ("val and test", True, (135.0, 300.0, 45.0)),
        ("train", False, (35.0, 300.0, None)),
    ):
        costs = cost_per_1000(prices, reviewed)
        rows.append([name, *costs.values(), *published, _verdict(costs, published)])
    notes = (
        "Printed: 35 for the model and 6 an hour; 60 samples reviewed or 20 pairs written in an hour. The supplement "
        "gives the share for train only as a bit more than 10 %.",
    )
    header = (
        "Samples",
        "Model",
        "Review",
        "Total",
        "By hand",
        "Percent of by hand",
        "Printed total",
        "Printed by hand",
        "Printed percent",
        "Verdict",
    )
    return Table("rextime-cost", "cost of 1,000 samples", header, rows, notes)


def _verdict(measure: Mapping[str, float], published: tuple) -> str:
    ours = (measure["total"], measure["by_hand"], measure["percent_of_by_hand"])
    pairs = [(theirs, computed) for theirs, computed in zip(published, ours) if theirs is not None]
    same = all(verdict_of(theirs, computed, 0.5) == "reproduced" for theirs, computed in pairs)
    return "reproduced" if same else "differs: other prices are configured"
