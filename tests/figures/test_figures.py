"""The figures: chosen examples, texts, hostile texts as text, and the same bytes each time.

Glyphs are outlines, so that no font is needed to read a figure; matplotlib notes each text beside them, as a comment.
"""

import gzip
import html
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from given import fig
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from refusals import refused

from verified.config import load
from verified.demo.source import write_video
from verified.figures import examples, statistics
from verified.figures.canvas import LABEL, Sheet, draw_note, drawing
from verified.figures.listed import shown_annotations
from verified.figures.pipeline import draw_pipeline
from verified.figures.predictions import SHOWN, choose_query, draw_predictions, frames_of, read_predictions, window
from verified.figures.rows import TEXT, MomentRow, draw_rows
from verified.figures.text import fit_text, width_of, wrap
from verified.io.jsonl import write_jsonl
from verified.io.video import frames_of_spans

HOSTILE = "costs $x^2$ and $\\frac{1} \u202eabc\u202c \x00 \ud800 </svg>"


@pytest.fixture(autouse=True)
def _read_at_half_size(monkeypatch):
    """Every label of every figure has 8 points when the figure is shown at half its size."""
    save = Figure.savefig

    def checked(figure, *arguments, **options):
        figure.draw_without_rendering()
        small = [
            (text.get_text(), text.get_size())
            for text in figure.findobj(Text)
            if text.get_text().strip() and text.get_visible() and text.get_size() < LABEL
        ]
        assert LABEL >= 16 and small == []
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", checked)


def texts(path) -> list[str]:
    ElementTree.parse(path)  # well-formed, whatever the texts
    return [html.unescape(text) for text in re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL)]


def annotation(ident: int, video: str, kind: str = "statics", coarse: str = "a ball moves") -> dict:
    said = {"cog_desc": coarse, "fig_desc": f"fine {ident}", "fig_desc_type": kind, "fig_desc_score": 1.0}
    return fig(ident, video, 1.0, 3.0, duration=8.0, **said)


def material(rows: list[dict], spread: dict[int, float] | None = None) -> examples.Material:
    scores = {}
    for ident in (row["desc_id"] for row in rows):
        step = (spread or {}).get(ident, 0.1)
        scores[ident] = [
            {"type": kind, "candidate": number, "caption": f"{kind} {number}", "score": number * step}
            for kind in ("statics", "dynamics")
            for number in range(3)
        ]
    return examples.Material(rows, scores, {}, {}, seed=1)


def test_the_task_is_shown_by_the_most_shared_caption_of_different_videos():
    rows = [annotation(n, video, coarse=text) for n, video, text in zip((1, 2, 3, 4), "aabc", "xxyy")]
    assert [row["desc_id"] for row in examples.shared_caption(rows)] == [3, 4]
    captions = ("a red ball", "a dog", "a red box moves", "a red ball too")
    alike = [annotation(n, video, coarse=text) for n, video, text in zip((1, 2, 3, 4), "abca", captions)]
    assert [row["desc_id"] for row in examples.shared_caption(alike)] == [1, 3]
    assert examples.shared_caption(alike[:1]) == alike[:1]
    rows = [annotation(n, f"v{n % 5}", ("statics", "dynamics")[n % 2]) for n in range(12)]
    picked = examples.pick(rows, 4, seed=1)
    assert [row["fig_desc_type"] for row in picked] == ["statics", "dynamics"] * 2
    assert len({row["video"] for row in picked}) == 4


@pytest.mark.parametrize("name", examples.FIGURES)
def test_examples_say_what_was_annotated_and_have_the_same_bytes(name, tmp_path):
    rows = [annotation(n, f"v{n}") for n in range(1, 4)]
    frames = {1: [(1.5, Image.new("RGB", (32, 32), "red")), (2.5, Image.new("RGB", (64, 32), "blue"))]}
    known = material(rows)
    lines = examples.FIGURES[name](examples.picks(known)[name], frames, known)
    paths = [tmp_path / "a.svg", tmp_path / "a.png", tmp_path / "b.svg", tmp_path / "b.png"]
    draw_rows(lines, paths[:2])
    draw_rows(lines, paths[2:])
    assert paths[0].read_bytes() == paths[2].read_bytes() and paths[1].read_bytes() == paths[3].read_bytes()
    said = texts(paths[0])
    assert {"v1, 1–3 s", "v2, 1–3 s", "v3, 1–3 s"} <= set(said)
    assert said.count("coarse: a ball moves") == 3
    assert {"1.5 s", "2.5 s"} <= set(said) and paths[0].read_text().count("<image") == 2
    expected = {
        "task": "fine (statics): fine 2",
        "annotations": "statics, chosen (1.00): fine 2",
        "evaluator": "dynamics 0.20: dynamics 2",
    }
    assert expected[name] in said
    assert ("best of dynamics (0.20): dynamics 2" in said) == (name == "annotations")
    assert "<text" not in paths[0].read_text() and "font-family" not in paths[0].read_text()


@pytest.mark.parametrize("name", examples.FIGURES)
def test_hostile_texts_are_drawn_as_they_stand(name, tmp_path):
    kinds = ("statics", "dynamics", "coarse")  # coarse: where none was good enough
    rows = [annotation(n, f"v{n}", kind, coarse=HOSTILE) for n, kind in enumerate(kinds, start=1)]
    known = material(rows)
    draw_rows(examples.FIGURES[name](examples.picks(known)[name], {}, known), [tmp_path / "a.svg"])
    assert any("costs" in text and "</svg>" in text for text in texts(tmp_path / "a.svg"))


def test_examples_come_from_the_first_split_that_has_any_and_say_which(tmp_path):
    files = [tmp_path / f"{split}.jsonl" for split in ("test", "val", "train")]
    for file in files:
        file.write_text("")
    with refused("test.jsonl", remedy=True):
        examples.first_with_rows(files)
    row = annotation(1, "a") | {"fig_desc_type": "coarse"}  # where no fine caption was good enough
    write_jsonl(files[2], [row])
    assert examples.first_with_rows(files) == ([row], "train")
    known = material([row])
    known.split = "train"
    known.scores[1][0]["score"] = None  # its clip could not be scored
    drawn = {name: compose(examples.picks(known)[name], {}, known) for name, compose in examples.FIGURES.items()}
    for name, lines in drawn.items():
        draw_rows(lines, [tmp_path / f"{name}.svg"])
        assert "a, 1–3 s (split train)" in texts(tmp_path / f"{name}.svg")
    draw_pipeline(row, {}, known, [tmp_path / "pipeline.svg"])
    assert "a, 1–3 s (split train)" in " ".join(texts(tmp_path / "pipeline.svg")), "in as many lines as it takes"
    write_jsonl(files[0], [row])
    assert examples.first_with_rows(files) == ([row], "")
    settings = load({"datasets": {"one": {"title": "One", "source": {"kind": "demo"}}}})
    assert shown_annotations(settings, "one") == [
        f"results/demo/one/annotations/fig/{split}.jsonl" for split in ("test", "val", "train")
    ]


def test_lines_are_broken_where_they_would_leave_their_column():
    for bold in (False, True):
        row = MomentRow([])
        row.add("a most voluminous word or two " * 20 + "x" * 300, bold=bold)
        assert len(row.lines) > 5
        assert max(width_of(text, LABEL, bold) for text, _, _ in row.lines) <= TEXT
    together = " ".join(" ".join(wrap("one two three four five six", 0.6, 9)).split())
    assert together == "one two three four five six" and wrap("", 1, 9) == [""]
    text, size = fit_text("word " * 500, 2, 1, (9, 6))
    assert size == 6 and text.endswith("…") and fit_text("word", 2, 1, (9, 6)) == ("word", 9)


def test_the_shown_query_is_one_that_only_the_model_trained_on_fine_captions_answers():
    queries = [annotation(n, "a") for n in range(1, 6)]
    right, wrong = [("a", 1.0, 3.0)], [("b", 1.0, 3.0)]
    fine = dict.fromkeys(range(1, 5), right) | {5: wrong + right}
    coarse = dict.fromkeys(range(1, 4), wrong + right) | {4: wrong, 5: wrong}
    assert {choose_query(queries, coarse, fine, seed=seed)["desc_id"] for seed in range(5)} == {4}
    assert choose_query(queries, fine, fine, seed=1) in queries


def test_predictions_are_distinct_spans_with_frames_the_truth_and_their_overlap(tmp_path):
    random = np.random.default_rng(1)
    for name in "ab":
        write_video(tmp_path / f"{name}.mp4", random.integers(0, 255, (64, 48, 64, 3), dtype=np.uint8), 8)
    videos = {
        name: {"video": name, "path": str(tmp_path / f"{name}.mp4"), "duration": 8.0, "width": 64, "height": 48}
        for name in "ab"
    }
    rows = [[7, 0, 2, 0.9], [7, 0, 2.1, 0.8], [0, 1, 4, 0.5]]
    many = [[0, 10 * n, 10 * n + 1, 0.5] for n in range(9)]
    queries = [{"desc_id": n, "desc": "", "predictions": lists} for n, lists in ((1, rows), (2, many))]
    submission = {"video2idx": {"a": 0, "b": 7}, "VCMR": queries}
    with gzip.open(tmp_path / "s.json.gz", "wt") as file:
        json.dump(submission, file)
    ranked = read_predictions(tmp_path / "s.json.gz", nms_threshold=0.6)
    assert ranked[1] == [("b", 0, 2), ("a", 1, 4)] and len(ranked[2]) == SHOWN
    frames = frames_of(videos["a"], 2.0, 6.0)
    ((_, middles, _),) = frames_of_spans(videos["a"]["path"], [(2.0, 6.0)], count=6, size=(96, 128))
    assert np.array_equal(frames, middles)
    shown = [window((name, 4.0, 5.0), annotation(1, "a"), 20.0) for name in "ab"]
    assert shown == [(0.0, 7.0), (2.5, 6.5)], "with the truth where the video is right"
    draw_predictions(annotation(1, "a"), {"COG": ranked[1], "FIG": []}, videos, [tmp_path / "p.svg"])
    said = texts(tmp_path / "p.svg")
    assert {"Query: fine 1", "(answer: a, 1–3 s)", "XML trained on COG", "XML trained on FIG", "truth"} <= set(
        "\n".join(said).split("\n")
    )
    assert "1. b, 0–2 s: wrong video" in said and "2. a, 1–4 s: right, tIoU 0.67" in said
    assert not any(text.startswith("3. ") for text in said)


def test_a_figure_has_its_text_and_numbers_beside_it_or_is_refused(tmp_path):
    paths = [tmp_path / f"f.{kind}" for kind in ("svg", "png", "csv")]
    with drawing(paths, 3, 2) as figure:
        figure.describe(HOSTILE, ("of", "value"), [("a,b", 1 / 3)])
    root = ElementTree.parse(paths[0]).getroot()
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert root.get("role") == "img" and title is not None and "</svg>" in (title.text or "")
    assert paths[2].read_text() == 'of,value\n"a,b",0.3333\n'
    draw_note(paths, "Nothing to plot.")
    assert (
        paths[2].read_text() == "note\nNothing to plot.\n" and "<title>Nothing to plot.</title>" in paths[0].read_text()
    )
    with pytest.raises(ValueError), drawing(paths, 3, 2):
        pass


def test_the_evaluators_clearest_preferences_come_first():
    rows = [annotation(n, f"v{n}") for n in range(1, 7)]
    scores = material(rows, {2: 0.9, 5: 0.5}).scores
    scores[6] = [{**entry, "score": entry["score"] + 9} for entry in scores[6]]  # all high, and near each other
    shown = examples.widest_gaps(rows, scores)
    assert [row["desc_id"] for row in shown] == [2, 5, 1, 3]


def test_bars_of_the_histogram_stand_on_their_bins_types_upon_each_other():
    types = {
        "statics": {"captions": 5, "mean": 0.1, "counts": [2, 3]},
        "dynamics": {"captions": 7, "mean": 1.0, "counts": [0, 7]},
    }
    figure = Sheet()
    statistics.confidence(figure, {"scores": {"edges": [-0.5, 0.0, 0.5], "types": types, "total": {}}, "captions": 12})
    bars = [(bar.get_x(), bar.get_width(), bar.get_y(), bar.get_height()) for bar in figure.axes[0].patches]
    assert bars == [(-0.5, 0.5, 0, 2), (0.0, 0.5, 0, 3), (-0.5, 0.5, 2, 0), (0.0, 0.5, 3, 7)]
