"""The demo's engine on real decoded files: its view, its words, its corruptions."""

import dataclasses
import io
import json
import random
import re

import av
import numpy as np
import pytest
from PIL import Image

from verified.demo.caption_facts import agreement, caption_facts
from verified.demo.scene_reader import SceneReader
from verified.demo.scenes import facts, make_scenes
from verified.demo.source import coarse_caption, render_scenes, write_video
from verified.lmm.prompts import quote
from verified.lmm.request import Request
from verified.lmm.tasks.paper import PAPER
from verified.runtime.seeds import derive_seed

TASKS = {task.name: task for task in PAPER}
FPS = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Moment:
    """A rendered, encoded and decoded moment with its truth and its coarse caption."""

    frames: np.ndarray
    truth: dict
    caption: str

    @property
    def start(self) -> float:
        return self.truth["scenes"][0]["start"]

    def keyframes(self) -> list[tuple[bytes, dict]]:
        """A JPEG of the middle of each of the first three scenes, with that scene."""
        keyframes = []
        for scene in self.truth["scenes"][:3]:
            picture = self.frames[int(((scene["start"] + scene["end"]) / 2 - self.start) * FPS)]
            out = io.BytesIO()
            Image.fromarray(picture).save(out, "JPEG", quality=90)
            keyframes.append((out.getvalue(), scene))
        return keyframes


@pytest.fixture(scope="module")
def moments(tmp_path_factory) -> list[Moment]:
    folder = tmp_path_factory.mktemp("videos")
    drawn = []
    for number in range(6):
        plan = make_scenes(5, f"reader-{number}", 20, FPS)
        path = folder / f"{number}.mp4"
        write_video(path, render_scenes(plan, 112, number), FPS)
        with av.open(str(path)) as container:
            frames = np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])
        rng = random.Random(number)
        for event in plan.events:
            truth = facts(event, FPS)
            drawn.append(Moment(frames[event.first : event.last], truth, coarse_caption(truth, rng)))
    assert len(drawn) >= 30
    return drawn


def ask(task: str, slots: dict, seed: int = 1, share: float = 0.3, **media):
    """(reply, parsed answer) of one request whose seed depends on its slots."""
    request = Request(task, "prompt", slots, seed=derive_seed(seed, task, json.dumps(slots)), **media)
    (reply,) = SceneReader(corrupted_share=share).answer([request])
    count = int(slots.get("count", 5))
    return reply, TASKS[task].read(slots, reply.text, count, False)


def statics_of(moment: Moment, share: float = 0.3):
    """(reply, parsed candidates) from the moment's keyframes, by way of their descriptions."""
    lines = []
    for number, (picture, _) in enumerate(moment.keyframes(), start=1):
        _, described = ask("keyframe_description", {"caption": moment.caption}, images=(picture,))
        assert described.missing == 0
        lines += [f"Keyframe {number}:", f"  Background: {quote(described.sections['background'])}"]
        lines += [f"  Objects Attributes: {quote(described.sections['foreground'])}"]
        lines += [f"  Description: {quote(described.sections['description'])}"]
    slots = {"caption": moment.caption, "keyframe_number": "1", "keyframes": "\n".join(lines), "count": "3"}
    return ask("statics_candidates", slots, share=share)


def dynamics_of(moment: Moment, share: float = 0.3):
    """(reply, parsed candidates) from the moment's frames, by way of questions and answers."""
    _, asked = ask("questions", {"caption": moment.caption, "count": "5"})
    assert asked.missing == 0 and all(question.endswith("?") for question in asked.items)
    slots = {
        "caption": moment.caption,
        "duration": f"{len(moment.frames) / FPS:g}",
        "frame_number": str(len(moment.frames)),
        "questions": "\n".join(f"{number}. {question}" for number, question in enumerate(asked.items, start=1)),
    }
    times = tuple(float(time) for time in np.arange(len(moment.frames)) / FPS)
    _, answered = ask("answers", slots, frames=moment.frames, frame_times=times)
    assert answered.missing == 0
    pairs = zip(asked.items, answered.items)
    slots = {
        "caption": moment.caption,
        "start": "1",
        "end": "4",
        "questions_and_answers": "\n".join(
            f"{number}. (Q) {quote(question)}\n   (A) {quote(answer)}"
            for number, (question, answer) in enumerate(pairs, start=1)
        ),
        "description": answered.sections["description"],
        "count": "3",
    }
    return ask("dynamics_candidates", slots, share=share)


@pytest.mark.parametrize("candidates_of", [statics_of, dynamics_of])
def test_candidates_are_true_and_different(moments, candidates_of):
    verdicts = []
    for moment in moments:
        reply, parsed = candidates_of(moment, share=0)
        assert parsed.missing == 0 and not parsed.refused and reply.notes == {"corrupted": []}
        assert len({re.sub(r"\W", "", caption.lower()) for caption in parsed.items}) == 3
        coarse_facts = caption_facts(moment.caption)
        for caption in parsed.items:
            said = caption_facts(caption)
            assert {name: said.get(name) for name in ("shape", "motion")} == {
                name: coarse_facts[name] for name in ("shape", "motion")
            }
            verdicts.append(agreement(said, moment.truth))
    names = {name for verdict in verdicts for name in verdict}
    shares = {name: np.mean([verdict[name] for verdict in verdicts if name in verdict]) for name in sorted(names)}
    least = {"static": 0.93, "dynamic": 0.9}
    low = {
        name: share
        for name, share in shares.items()
        if share < least["dynamic" if name in ("motion", "direction", "speed") else "static"]
    }
    assert low == {}


@pytest.mark.parametrize("candidates_of", [statics_of, dynamics_of])
def test_corrupted_candidates_are_false_in_what_the_notes_say(moments, candidates_of):
    corrupted, kinds = 0, set()
    for moment in moments:
        honest, _ = candidates_of(moment, share=0)
        reply, parsed = candidates_of(moment, share=1)
        assert len(reply.notes["corrupted"]) == 3 and honest.notes == {"corrupted": []}
        for note in reply.notes["corrupted"]:
            ((name, (right, wrong)),) = note["changed"].items()
            said = caption_facts(parsed.items[note["candidate"]])
            said["background"] = said.get("backgrounds", [None])[0]
            assert said[name] == wrong != right
            kinds.add((note["kind"], name))
            corrupted += 1
    assert corrupted == 3 * len(moments)
    wanted = {statics_of: {"static"}, dynamics_of: {"static", "dynamic"}}[candidates_of]
    assert {kind for kind, _ in kinds} == wanted


CAPTIONS = (
    "a ball moves",
    "the small boxes move",
    "two red stars circle around",
    "a ring grows on the grass",
    "a striped cross moves to the left",
    "balls vanish",
    "the triangle touches something",
)


@pytest.mark.parametrize("caption", CAPTIONS)
def test_rewritings_change_what_they_should(caption):
    coarse_facts = caption_facts(caption)

    def changed(task: str) -> list[set[str]]:
        reply, parsed = ask(task, {"caption": caption, "count": "3"})
        assert parsed.missing == 0 and not parsed.refused, reply.text
        facts = [caption_facts(text) for text in parsed.items]
        return [{name for name in {*said, *coarse_facts} if said.get(name) != coarse_facts.get(name)} for said in facts]

    assert changed("positives") == [set()] * 3
    for names in changed("static_negatives"):
        assert len(names) == 1 and names <= {"shape", "colour", "size", "texture", "count", "backgrounds"}
    for names in changed("dynamic_negatives"):
        assert names and names <= {"motion", "direction", "speed"}
