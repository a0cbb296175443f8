"""Files that the pages tell their readers to bring: clips, annotations, submissions, and runs that other pages made."""

import gzip
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import yaml
from media import scenes, write_video
from planted import write_highlights
from running import NANO, PROJECT
from tvr_lists import COUNT, lists
from whole_truths import published_files

from verified.io.jsonl import write_jsonl

SECOND = """
vehicles drive along a street:
  keyframe_description: {background: a street, objects attributes: "two cars, a red bus", desc: a red bus and two cars}
  statics_candidates: [a red bus and two cars drive along a street, cars drive along a grey street]
  questions: ["Which way do they drive?", "How fast are they?"]
  answers: {answers: [To the left., Slowly.], description: The vehicles drive slowly to the left.}
  dynamics_candidates: [vehicles drive slowly to the left, vehicles pass from right to left]
  positives: [cars go along a street, along a street drive vehicles]
  static_negatives: [vehicles drive along a river, boats drive along a street]
  dynamic_negatives: [vehicles stop in a street, vehicles turn in a street]
"""
TRAINING = """
  training:
    xml: {steps: 6, batch: 16, options: {hidden: 32}}
    reloclnet: {steps: 5, batch: 12, options: {hidden: 24}}
"""
MORE = {"answers.yaml": SECOND, "given.yaml": TRAINING}
"""Text that the reader of a page adds to a file that it shows in part."""


def clips(folder: Path, **seconds: int) -> None:
    """Videos of two scenes by the names of their files, `_` for `/`."""
    for number, (name, length) in enumerate(seconds.items()):
        path = folder / f"{name.replace('_', '/')}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_video(path, scenes([2 * 8, (length - 2) * 8], seed=number, size=(112, 128)))


def kitchen_videos(folder: Path) -> None:
    """The videos of the page on a corpus of one's own."""
    clips(folder / "videos", kitchen_breakfast=20, kitchen_lunch=10, street=9)


def small_demo(folder: Path) -> None:
    """A demo of twelve videos in the place of the whole one, with the models that pages name."""
    values = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    values |= {"name": "demo", "datasets": {"demo": values["datasets"]["nano"]}}
    values["layers"] = ["../extensions/*/config/layers/demo.yaml"]
    values["evaluator"]["name"] = "demo"
    values["retrieval"]["models"] = ["xml", "hero", "conquer"]
    small = {"epochs": 1, "batch": 8}
    values["retrieval"]["training"] |= {
        "hero": {**small, "options": {"hidden": 64, "heads": 4, "feed_forward": 64, "positions": 64}},
        "conquer": {**small, "options": {"hidden": 48, "heads": 4, "feed_forward": 96, "score_channels": 16}},
    }
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")


def tutorial(folder: Path) -> None:
    """Four clips, of which two are those of the page."""
    clips(folder / "clips", bigbuckbunny=6, bikes=5, forest=7, sea=4)


def holiday(folder: Path) -> None:
    """A folder of clips."""
    clips(folder / "holiday", beach=6, car=4, garden_tree=8)


def own_model(folder: Path) -> None:
    """A model's file."""
    shutil.copy(PROJECT / "examples" / "mean_pooling.py", folder / "my_model.py")


def annotations_and_features(folder: Path) -> None:
    """QVHighlights' queries, some with several windows, and features of clips of two seconds."""
    write_highlights(folder / "mine")


def submissions(folder: Path) -> None:
    """Ground truths and submissions of each published form, by the names of the page on benchmarks."""
    own_model(folder)
    published_files(folder)
    (folder / "charades.txt").rename(folder / "charades_sta_test.txt")
    truth = [{"desc_id": n, "video": f"v{n % 2}", "time": [1.0, 4.0]} for n in range(COUNT)]
    write_jsonl(folder / "truth.jsonl", truth)
    (folder / "submissions").mkdir()
    for name, right in (("ours", 5), ("theirs", 7)):
        lists_of = lists(lambda n, right=right: n < right)
        (folder / f"{name}.json.gz").write_bytes(lists_of)
        (folder / "submissions" / f"{name}.json.gz").write_bytes(lists_of)
    (folder / "lists.json").write_bytes(gzip.decompress(lists(lambda n: n < 3)))


class Material(NamedTuple):
    """The material of a page."""

    runs: tuple[str, ...] = ()
    """Runs that other pages made: demo, kitchen."""
    make: Callable[[Path], None] | None = None
    """What else the reader has."""


MATERIAL = {
    "README.md": Material(make=holiday),
    "docs/adding.md": Material(make=own_model),
    "docs/benchmark.md": Material(("demo",), submissions),
    "docs/conformance.md": Material(make=own_model),
    "docs/data-set.md": Material(("kitchen",)),
    "docs/debugging.md": Material(("demo",)),
    "docs/given.md": Material(make=annotations_and_features),
    "docs/integrity.md": Material(("kitchen",)),
    "docs/models.md": Material(("demo",)),
    "docs/own-corpus.md": Material(make=kitchen_videos),
    "docs/pages.md": Material(("demo", "kitchen")),
    "docs/tables.md": Material(("demo",)),
    "docs/tutorial.md": Material(make=tutorial),
}


def material_of(page: Path) -> Material:
    """That of a page; an extension has its page's in `tests/page_NAME.py`."""
    name = page.relative_to(PROJECT).as_posix()
    if name.startswith("extensions/") and (page.parent / "tests" / f"page_{page.parent.name}.py").is_file():
        return import_module(f"page_{page.parent.name}").MATERIAL
    return MATERIAL.get(name, Material())
