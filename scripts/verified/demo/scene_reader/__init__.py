"""The demo's engine: it reads decoded frames, without any model to download, and answers all tasks.

Image tasks look at pixels alone; text tasks use the text in their slots, as a language model would. Every answer is a
pure function of the request and its seed. A configured share of caption candidates is corrupted on purpose and listed
in the reply's notes (`corruption`). It knows only the objects of the demo and rejects any other caption.
"""

import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from verified.demo.scene_reader import questions, rewriting
from verified.lmm.request import Reply, Request

if TYPE_CHECKING:
    from verified.config.generation import EngineSettings, Generation

REVISION = "c3860471066a50d3"
"""Part of every call's key and seed. Any edit of this package or of `demo.caption_facts` that changes an answer must
raise it, so that earlier answers are not reused.
"""


class SceneReader:
    """Engine `scene-reader`.

    `revision` names the code and the share of corrupted candidates, as both decide the answers.
    """

    name = "scene-reader"

    def __init__(self, model: str = "scene-reader-1", corrupted_share: float = 0.3):
        self.model, self.corrupted_share = model, corrupted_share
        self.revision = f"{REVISION}-{corrupted_share:g}"

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order."""
        for request in requests:
            started = time.perf_counter()
            reply = self._reply(request)
            yield replace(
                reply,
                tokens_in=len(request.prompt.split()),
                tokens_out=len(reply.text.split()),
                seconds=time.perf_counter() - started,
            )

    def _reply(self, request: Request) -> Reply:
        rng = random.Random(request.seed)
        if request.demo is not None:
            return request.demo(request, rng, self.corrupted_share)
        match request.task:
            case "questions":
                return questions.questions(request, rng)
            case "positives":
                return rewriting.positives(request, rng)
            case "static_negatives":
                return rewriting.static_negatives(request, rng)
            case "dynamic_negatives":
                return rewriting.dynamic_negatives(request, rng)
        # Imported here because stages that only rewrite captions have no OpenCV in their environment.
        from verified.demo.scene_reader import dynamics, statics

        match request.task:
            case "keyframe_description":
                return statics.describe_keyframe(request, rng)
            case "statics_candidates":
                return statics.candidates(request, rng, self.corrupted_share)
            case "answers":
                return dynamics.answers(request, rng)
            case "dynamics_candidates":
                return dynamics.candidates(request, rng, self.corrupted_share)
        return Reply("", "error", "unknown-task", f"no task {request.task!r}")


def make(role: "EngineSettings", generation: "Generation") -> SceneReader:
    """The engine `scene-reader` of a role."""
    return SceneReader(model=role.model, corrupted_share=generation.scene_reader.corrupted_share)
