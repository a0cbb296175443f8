"""`verified init` and `verified check`: a sound set-up passes, ten broken ones are named with their remedies."""

import contextlib
import csv
import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from given import asked_corpus
from loopback import completion, endpoint, images_of, refusal, strict
from media import scenes, write_video
from refusals import refused, said

from verified.__main__ import main
from verified.captions.preflight import longest_clip
from verified.config import load
from verified.corpus.inventory import check_enough
from verified.corpus.preflight import caption_of_most, video_findings
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.runtime.manifest import write_manifest

KEY = "sk-canary-161803"
LOOKS = (("a", 1), ("b", 1), ("c", 2))


def moment(video: str, split: str, start: float = 0, end: float = 1, caption: str = "a dog runs") -> dict:
    return {"video": video, "start": start, "end": end, "caption": caption, "split": split}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A folder with two videos, four moments and a key; a function that writes its configuration for an endpoint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_KEY", KEY)
    for name in ("kitchen/a", "street"):
        path = tmp_path / "videos" / f"{name}.mp4"
        path.parent.mkdir(exist_ok=True, parents=True)
        write_video(path, scenes([8, 8]), 8)
    with (tmp_path / "videos" / "street.mp4").open("ab") as street:  # no copy of the other
        street.write(b"\0\0\0\x08free")
    splits = {"kitchen/a": ("train", "train"), "street": ("val", "test")}
    rows = [moment(name, split, n, n + 1) for name, both in splits.items() for n, split in enumerate(both)]
    write_jsonl(tmp_path / "moments.jsonl", rows)

    def configure(url: str, **changes) -> None:
        values = asked_corpus("lab", url, api_key_variable="LAB_KEY") | {"evaluator": {"batch": 4}}
        for path, value in changes.items():
            *sections, last = path.split("__")
            section_values = values
            for section in sections:
                section_values = section_values.setdefault(section, {})
            section_values[last] = value
        (tmp_path / "lab.yaml").write_text(yaml.safe_dump(values))

    return configure


def check(capsys, *options: str) -> tuple[int, list[str]]:
    """Exit status and lines of `verified check`; the key is in none of them."""
    status = main(["check", "--configfile", "lab.yaml", *options])
    shown = capsys.readouterr()
    assert KEY not in shown.out + shown.err
    return status, shown.out.splitlines()


def problems(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("problem ")]


def counting(number: int, body: dict):
    scripted = completion("yes")
    return scripted._replace(
        body=scripted.body.replace(b'"prompt_tokens": 12', b'"prompt_tokens": %d' % (500 if images_of(body) else 12))
    )


def test_a_sound_set_up_passes_with_a_call_of_each_kind(lab, capsys):
    with endpoint(counting) as served:
        lab(served.url)
        status, lines = check(capsys)
    assert status == 0 and lines[-1] == "0 problems, 5 notes"
    assert [len(images_of(body)) for body in served.bodies] == [0, 0, 1, 8], "three roles share one endpoint"
    assert len(served.bodies[1]["messages"][0]["content"]) > 2000, "as long as a real prompt"
    assert all(body["max_tokens"] == 768 for body in served.bodies), "as many as a real answer may have"
    shown = "\n".join(lines)
    for words in (
        "4 moments by split: test 1, train 2, val 1",
        "2 of 2 videos were opened, all can be read",
        "LAB_KEY is set",
        "answers text in",
        "answers a picture in",
        "answers a clip of 8 frames as pictures in",
        "answers its longest prompt in",
        "4 usable moments for batches of 4",
        "annotations.choose_by: Confidences are not to be trusted",
        "datasets.lab.spans.selection_split: 1 video would select an epoch by chance",
        "GB are free",
    ):
        assert words in shown
    assert sorted(os.listdir()) == ["lab.yaml", "moments.jsonl", "videos"], "nothing is written"


def test_a_model_of_another_name_is_noted(lab, capsys):
    with endpoint(lambda number, body: completion("yes", model="olmocr-2")) as served:
        lab(served.url)
        status, lines = check(capsys)
    noted = [line for line in lines if line.startswith("note") and "olmocr-2" in line and "loop-1" in line]
    assert status == 0 and len(noted) == 1


def test_rows_and_files_of_people_that_are_odd_are_noted(lab, capsys):
    texts = ["nan", "N/A", "TODO", "???", "...", "-", "#NAME?", "#REF!", "null", "untitled"]
    rows = [moment("kitchen/a", "train", 0, 1, text) for text in (*texts, "a dog runs", "a dog runs", "walking")]
    rows += [moment("street", "val", 0, 1, "white bars"), moment("street", "test", 1, 2, "bars go")]
    write_jsonl("moments.jsonl", [*rows, moment("kitchen/a", "train", 1, 2, "bars stay")])
    for file in ("moments.jsonl", "videos/street.mp4"):
        os.utime(file, (time.time() + 9000, time.time() + 9000))
    Path("videos/sub").symlink_to("/")
    Path("videos/anim.gif").touch()
    lab("http://127.0.0.1:9/v1")
    status, lines = check(capsys, "--offline")
    shown = "\n".join(lines)
    assert status == 1 and [line for line in problems(lines) if "touch moments.jsonl" in line], shown
    for words in (
        "10 of 16 captions",
        "1 rows repeat an earlier one, first kitchen/a 0 to 1 s, 'a dog runs'",
        "1 of 2 videos have moments in several splits, first street in test and val",
        "videos with a time in the future: 1, first street",
        "sub: a link to a folder, which is not entered",
        "ending: .gif 1 (moving pictures are not read: convert them",
    ):
        assert words in shown, words
    assert "datasets.sub" not in shown
    write_jsonl("moments.jsonl", [{"video": "street", "start": 0, "end": 1, "caption": "bars go"}] * 3)
    shown = "\n".join(check(capsys, "--offline")[1])
    assert "2 rows repeat an earlier one" in shown and "in several splits" not in shown


def break_videos(*names: str):
    for name in names:
        Path(f"videos/{name}.mp4").write_bytes(b"<html>not found</html>")


UNANSWERED = {
    "401|LAB_KEY": lambda number, body: refusal(401, message=f"bad key {KEY}"),
    "loop-1|status-400|a picture from": lambda number, body: (
        refusal(400, message="not multimodal") if images_of(body) else completion("yes")
    ),
    "loop-1|At most 1 image|a clip of 8 frames as pictures|max_frames": lambda number, body: (
        refusal(400, message="At most 1 image") if len(images_of(body)) > 1 else counting(number, body)
    ),
    "loop-1|exceeds the context|its longest prompt": lambda number, body: (
        refusal(400, message="exceeds the context") if len(str(body)) > 2000 else counting(number, body)
    ),
    "loop-1|http://127.0.0.1:9/v1/|connection|base_url": None,
}
"""Words of the problem, and an endpoint's answers; None: nobody answers."""


@pytest.mark.parametrize("words", UNANSWERED)
def test_an_endpoint_that_does_not_answer_is_named_with_its_remedy(lab, capsys, words):
    with endpoint(UNANSWERED[words] or counting) as served:
        lab(served.url if UNANSWERED[words] else "http://127.0.0.1:9/v1")
        status, lines = check(capsys)
    named = problems(lines)
    assert status == 1 and lines[-1].startswith(f"{len(named)} problem")
    matching = [line for line in named if all(word in line for word in words.split("|"))]
    assert len(matching) == 1 and matching[0].endswith(")"), "a remedy in brackets ends it\n" + "\n".join(lines)


PLAN = "The user wants a sentence. " * 10


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (completion("A dog runs.", reasoning_content=PLAN), 0, ["thinks before it answers", "field", "max_tokens"]),
        (
            completion(f"{PLAN}</think>A dog runs."),
            0,
            ["thinks before it answers", "in the text", "chat_template_kwargs"],
        ),
        (completion(f"<think>{PLAN}", "length"), 1, ["thoughts and no answer", "max_tokens (now 768)"]),
        (completion(None, "length"), 1, ["no text", "finish_reason length", "max_tokens (now 768)"]),
        (completion(None), 1, ["no text", "finish_reason stop"]),
    ],
)
def test_a_model_that_thinks_is_noted_and_an_empty_reply_is_a_problem(lab, capsys, answer, status, words):
    with endpoint(lambda number, body: answer) as served:
        lab(served.url)
        found, lines = check(capsys)
    assert found == status
    matching = [line for line in lines if "generation.llm" in line and all(word in line for word in words)]
    assert matching and matching[0].startswith("problem" if status else "note"), "\n".join(lines)


def test_fields_that_a_model_does_not_take_are_named_with_their_key(lab, capsys):
    with endpoint(strict) as served:
        lab(served.url)
        status, lines = check(capsys)
    assert status == 0 and any(
        "does not take" in line and "generation.llm.sampling.temperature" in line for line in lines
    )


def test_omissions_that_a_run_survives_are_notes(lab, capsys):
    Path("videos/broken.mp4").write_bytes(b"no video")
    rows = [moment("kitchen/a", "train"), moment("kitchen/a", "train", 90, 91), moment("broken", "train")]
    rows.append(moment("gone", "test"))
    # With the first one, enough for a batch, and a second video that can be read.
    write_jsonl("moments.jsonl", [*rows, moment("street", "train", 1, 2)])
    outputs = {"lab/corpus/moments.jsonl": "a1", "lab/keyframes/shard-01.tar": "b2", "lab/tables": ""}
    write_manifest("results/lab", "", outputs, ended=True)
    Path("results/lab/corpus").mkdir()
    Path("results/lab/corpus/moments.jsonl").touch()
    with endpoint(lambda number, body: completion("yes")) as served:
        lab(served.url, evaluator__batch=2, datasets__lab__spans={"test_split": "train"})
        status, lines = check(capsys)
    shown = "\n".join(lines)
    assert status == 0 and lines[-1] == "0 problems, 11 notes", shown
    for words in (
        *("gone: 1, such as results/lab/keyframes/shard-01.tar",),
        "unknown-video (1)",
        "cannot be read: broken (",
        "desc_id 2 in kitchen/a",
        "'val'",
        "tokens",
    ):
        assert words in shown


def test_init_writes_what_check_passes_and_nothing_over_it(lab, capsys):
    with endpoint(counting) as served:
        words = ["init", "lab", "--moments", "moments.jsonl", "--model", "loop-1", "--vision-model", "loop-2"]
        assert main([*words, "--url", served.url, "--key-variable", "LAB_KEY"]) == 0
        assert "verified check --configfile lab.yaml" in capsys.readouterr().out
        status, lines = check(capsys)
    assert status == 0, "\n".join(lines)
    assert {body["model"] for body in served.bodies} == {"loop-1", "loop-2"}
    written = yaml.safe_load(Path("lab.yaml").read_text())
    assert written["evaluator"]["batch"] == 4, "as many as there are moments"
    assert written["retrieval"]["models"] == [], "too few videos to select an epoch"
    before = Path("lab.yaml").read_bytes()
    assert main(words) == 2
    said(capsys.readouterr().err, "lab.yaml")
    assert Path("lab.yaml").read_bytes() == before
    assert main([*words[:2], "--no-moments", *words[4:], "--output", "proposed.yaml"]) == 0
    assert yaml.safe_load(Path("proposed.yaml").read_text())["retrieval"]["models"] == []


def cut_street():
    """Half a download, whose header comes first and claims all of the video; a moment lies in the missing half."""
    video = write_video(Path("videos/street.mp4"), scenes([24, 24]), 8, options={"movflags": "faststart"})
    video.write_bytes(video.read_bytes()[: video.stat().st_size // 2])
    add(moment("street", "val", end=6))


def copy_street():
    shutil.copy("videos/street.mp4", "videos/again.mp4")
    add(moment("again", "train"))


def add(*rows: dict):
    write_jsonl("moments.jsonl", [*read_jsonl("moments.jsonl"), *rows])


def only(*rows: dict):
    Path("videos/broken.mp4").write_bytes(b"<html>")
    write_jsonl("moments.jsonl", rows)


def captions(*texts: str):
    only(*(moment("street", "train", n, n + 1, text) for n, text in enumerate(texts)))


def score():
    path = Path("results/lab/evaluator/scores/shard-00.jsonl")
    path.parent.mkdir(parents=True)
    write_jsonl(path, [{"score": -3.0}, {"score": -0.5}])


def propose():
    rows = ["video,start,end,caption,split", "street,0,1,a dog runs,train", "street,1,2,a dog sits,val"]
    Path("results/lab/corpus").mkdir(parents=True)
    Path("results/lab/corpus/proposed.csv").write_text("\n".join(rows) + "\n")


def fetch():
    locked = {"commit": "0" * 40, "files": {"model.safetensors": {"bytes": 1, "sha256": "0" * 64}}}
    Path("lock.json").write_text(json.dumps({"models": {"org/eyes": locked}}))
    model = Path("models/org--eyes", locked["commit"], "model.safetensors")
    model.parent.mkdir(parents=True)
    model.write_bytes(b"x")


TRAIN, TEST, ELSEWHERE = moment("street", "train"), moment("street", "test"), moment("kitchen/a", "train")
TWO, THREE = {"evaluator__batch": 2}, {"evaluator__batch": 3}
AGREEMENT = {"annotations__choose_by": "agreement"}
PROPOSED = {"datasets__lab__source": {"kind": "folder", "videos": "videos"}, "evaluator__batch": 2}
EYES = {"features__video_backbone": "org/eyes", "weights__lock": "lock.json"}
LONG = {
    "generation__video_lmm": {"engine": "vllm", "model": "./Qwen2.5-VL-7B", "tokens_per_image": 256},
    "datasets__lab__dynamics": {"max_frames": 64},
}
FULL_DISK = SimpleNamespace(total=10**9, used=10**9 - 10**7, free=10**7)
FINDINGS = [
    ("problem|datasets.lab.source.videos|clips", {"datasets__lab__source__videos": "clips"}),
    ("problem|2 of 2|kitchen/a|not-a-video", {}, lambda: break_videos("kitchen/a", "street")),
    ("problem|moments.jsonl|1 of 1|unknown-video (1)|row 1", {}, lambda: only(moment("gone", "test"))),
    ("problem|disk|0.0 GB|1.0|for clips", {}, lambda: vars(shutil).update(disk_usage=lambda path: FULL_DISK)),
    ("problem|evaluator.gpus|4 GPUs|--cluster", {"evaluator__gpus": 4}),
    ("problem|evaluator.batch|4 or less", {"evaluator__batch": 16}),
    ("problem|datasets.lab.dynamics.max_frames|16384|6400", LONG, lambda: os.makedirs("Qwen2.5-VL-7B")),
    ("note|annotations.joint_encoder|1,000 classes", AGREEMENT),
    (
        "problem|annotations.joint_encoder|some/clip|verified fetch",
        AGREEMENT | {"annotations__joint_encoder": "some/clip"},
    ),
    ("problem|datasets.lab.spans.test_split|'test'", PROPOSED, propose),
    ("ok|evaluator.batch", PROPOSED | {"retrieval__models": []}, propose),
    ("note|annotations.min_score", {"annotations__min_score": 0.5}),
    ("problem|annotations.min_score|-0.5", {"annotations__min_score": 0.5}, score),
    ("note|annotations.min_score|-3 to -0.5", {"annotations__min_score": -3.0}, score),
    ("ok|weights|1 models", EYES | {"weights__folder": "models"}, fetch),
    ("problem|features.video_backbone|org/eyes|fetch", EYES | {"weights__folder": "elsewhere"}, fetch),
    (
        "problem|features.text_encoder|org/words|lock.json|verified fetch --configfile lab.yaml",
        {"features__text_encoder": "org/words", "weights__lock": "lock.json"},
    ),
    ("problem|features.video_backbone|no folder ./eyes", {"features__video_backbone": "./eyes"}),
    (
        "problem|evaluator.checkpoint|none.safetensors|verified import umt",
        {"evaluator__checkpoint": "none.safetensors"},
    ),
    ("problem|evaluator.splits|'dev'|test, train, val", {"evaluator__splits": ["train", "dev"]}),
    (
        "problem|datasets.lab.spans.test_split|'held-out'|test, train, val",
        {"datasets__lab__spans": {"test_split": "held-out"}},
    ),
    (
        "problem|generation.llm.cassette|c.parquet|verified ledger export",
        {"generation__llm": {"engine": "cassette", "cassette": "c.parquet"}},
    ),
    (
        "problem|generation.llm.cassette|answers.yaml|line 2",
        {"generation__llm": {"engine": "cassette", "model": "hand-written", "cassette": "answers.yaml"}},
        lambda: Path("answers.yaml").write_text("a dog runs:\n  questions: [Where to?, Why?]\n"),
    ),
    ("problem|NO_SUCH_KEY", {"generation__llm": {"engine": "openai", "model": "m", "api_key_variable": "NO_SUCH_KEY"}}),
    ("problem|generation.prompts", {"generation__prompts": "nowhere"}),
    ("problem|source.moments|gone.jsonl", {"datasets__lab__source__moments": "gone.jsonl"}),
    ("problem|evaluator.batch|2 usable|set evaluator.batch to 2", {}, lambda: break_videos("street")),
    ("problem|evaluator.batch|1 usable|needs two", TWO, lambda: only(TRAIN)),
    ("note|copies|street of again", {}, copy_street),
    ("note|cut off|street|of 6.0 s", {}, cut_street),
    ("note|end more than|6 s in street", {}, cut_street),
    ("note|kitchen/a|two frames|: 1, ", {}, lambda: add(moment("kitchen/a", "train", 0.5, 0.6))),
    ("note|99|kitchen/a", {}, lambda: add(moment("kitchen/a", "train", end=99))),
    ("note|features.video_backbone|random", {"features__video_backbone": "small-resnet"}),
    ("problem|generation.budget.calls", {"generation__budget": {"calls": 5}}),
    (
        "problem|generation.budget.tokens|last calls",
        {"generation__budget": {"tokens": 60_000}, "generation__llm__sampling": {"max_tokens": 50_000}},
    ),
    (
        "note|2 of 6 captions say",
        TWO,
        lambda: captions("I do not know.", "a dog runs", "抱歉，我无法描述。", *["a cat sits"] * 3),
    ),
    ("note|5 of 6 moments have the caption 'a man walks'", TWO, lambda: captions(*["a man walks"] * 5, "a dog runs")),
    # The only video of a split cannot be read: its captions would be paid for, and nothing could be tested.
    (
        "problem| datasets.lab.spans.test_split: |'test'|broken",
        TWO,
        lambda: only(ELSEWHERE, TRAIN, moment("broken", "test")),
    ),
    # One video is left to train on, and none to select on.
    (
        "problem| datasets.lab.spans.selection_split: |'val'|single video",
        TWO,
        lambda: only(ELSEWHERE, moment("kitchen/a", "test", 1, 2), moment("broken", "val")),
    ),
    # At 8 frames a second, a moment of 0.1 s has no two frames for the evaluator.
    ("problem| evaluator.batch: |2 usable|two frames", THREE, lambda: only(ELSEWHERE | {"end": 0.1}, TRAIN, TEST)),
    # The evaluator is trained on one split alone.
    (
        "problem| evaluator.batch: |2 usable|other splits",
        THREE | {"evaluator__splits": ["train"]},
        lambda: only(ELSEWHERE, TRAIN, TEST),
    ),
]
"""Level and words of the finding, changed keys, and damage."""


@pytest.mark.parametrize("row", FINDINGS, ids=lambda row: row[0])
def test_each_finding_is_named(lab, capsys, monkeypatch, row):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(shutil, "disk_usage", shutil.disk_usage)  # put back afterwards
    matching, changes, *damage = row
    level, *words = matching.split("|")
    for spoil in damage:
        spoil()
    lab("http://127.0.0.1:9", **changes)
    built = Path("results").exists()
    status, lines = check(capsys, "--offline")
    assert Path("results").exists() == built, "a check writes nothing"
    named = [line for line in lines if line.startswith(f"{level} ") and all(word in line for word in words)]
    assert len(named) == 1, "\n".join(lines)
    assert status == 1 or level != "problem"
    assert level != "problem" or named[0].endswith(")"), "a remedy in brackets ends it"


INIT = ["init", "lab", "--videos", "videos", "--model", "loop-1", "--moments"]


@pytest.mark.parametrize(
    "form, words",
    [
        ({"delimiter": ";"}, ("semicolons", "row 1", "commas")),
        ({"delimiter": "\t"}, ("tabs", "row 1", "commas")),
        ({"encoding": "cp1252"}, ("row 3", "UTF-8")),
        ({"encoding": "utf-16"}, ("row 1", "UTF-8")),
    ],
)
def test_a_spreadsheets_other_forms_are_refused_with_the_remedy(lab, capsys, form, words):
    with open("moments.csv", "w", newline="", encoding=form.get("encoding", "utf-8")) as file:
        rows = [("video", "start", "end", "caption"), ("kitchen/a", 0, 1, "a dog runs"), ("street", 0, 1, "in a café")]
        csv.writer(file, delimiter=form.get("delimiter", ",")).writerows(rows)
    status, shown = main([*INIT, "moments.csv"]), capsys.readouterr().err
    assert status and all(word in shown for word in ("moments.csv", *words)), shown


def test_findings_about_videos_and_moments_begin_behind_their_limits(tmp_path, monkeypatch):
    """Of two equal videos of 2 s and another one; ends may be 1 s behind a video's without a note."""
    monkeypatch.chdir(tmp_path)
    Path("videos").mkdir()
    paths = {name: write_video(tmp_path / "videos" / f"{name}.mp4", scenes([8, 8], seed), 8) for name, seed in LOOKS}
    rows = [(0.0, 3.0), (1.25, 3.25), (1.9, 2.75)]
    moments = [
        {"desc_id": number, "video": "a", "start": start, "end": end, "caption": f"a dog runs {number}"}
        for number, (start, end) in enumerate([*rows, *[(0.0, 1.0)] * 2])
    ]
    for number, name in ((3, "b"), (4, "c")):
        moments[number]["video"] = name
    write_jsonl("moments.jsonl", moments)
    shown = [finding.message for finding in video_findings(paths, moments, "source.videos")]
    assert "videos that are copies of another one: 1, first b of a" in shown
    assert any("more than 1 s after their video: 1, first desc_id 1, 3.25 s in a" in message for message in shown)
    assert any("shorter than two frames" in message and ": 1, first desc_id 2 in a" in message for message in shown)
    assert caption_of_most([*"aaaaabbbbb"]) is None and caption_of_most([*"aaaaabbbb"]) == "a"
    source = {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"}
    data_set = {"title": "Lab", "source": source, "dynamics": {"fps": 8.0, "max_frames": 64}}
    for batch in (5, 6):
        settings = load({"name": "lab", "datasets": {"lab": data_set}, "evaluator": {"batch": batch}})
        with refused("5 usable moments") if batch > 5 else contextlib.nullcontext():
            check_enough(settings)
    assert longest_clip(settings) == 24
