"""Score given continuations instead of writing new ones: the mean log-probability of their tokens after a prompt.

Wraps an engine of transformers models; other tasks go through to it. An endpoint with log-probabilities of a prompt
scores itself (`protocol.score_of`). The text to score is the slot `continuation` and ends the prompt; the reply is
``{"mean_log_probability": ..., "tokens": ...}``.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verified.config.engines import ENGINES
from verified.config.generation import Generation
from verified.errors import InputError
from verified.lmm.engines import make_engine
from verified.lmm.request import Engine, Reply, Request


class Scoring:
    """An engine that also scores. Raises InputError for one that gives no log-probabilities."""

    def __init__(self, engine: Engine):
        able = [name for name, kind in ENGINES.items() if kind.scores]
        if engine.name not in able:
            raise InputError(
                f"the engine {engine.name} gives no log-probabilities of a given answer",
                remedy=f"score options with `engine: {' or '.join(able)}`, or ask by the protocol answer_with_span",
            )
        self.engine: Any = engine  # an endpoint, or transformers with its tokeniser and network
        self.name, self.model, self.revision = engine.name, engine.model, engine.revision

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order unless an endpoint's reply names its request."""
        if ENGINES[self.name].asks_endpoint:
            yield from self.engine.answer(requests)
            return
        for request in requests:
            if "continuation" in request.slots:
                yield self._score(request)
            else:
                yield from self.engine.answer([request])

    def _score(self, request: Request) -> Reply:
        import torch

        self.engine.load()
        started = time.monotonic()
        try:
            images, clip = self.engine.shown(request)
        except (OSError, ValueError, SyntaxError) as error:
            return Reply("", "error", "media", str(error))
        if images and not self.engine.sees:
            return Reply("", "error", "no-eyes", f"{self.engine.model} takes no images")
        if not request.prompt.endswith(request.slots["continuation"]):
            return Reply("", "error", "prompt", "a prompt whose continuation is scored must end with it")
        inputs = self.engine.inputs(before_continuation(request), images, clip)
        prompt = inputs["input_ids"]
        added = self.engine.tokenizer(
            [request.slots["continuation"]], add_special_tokens=False, return_tensors="pt"
        ).input_ids.to(prompt.device)
        total = prompt.shape[1] + added.shape[1]
        if total > self.engine.most_tokens:
            return Reply("", "error", "context-length", f"{total} tokens, at most {self.engine.most_tokens}", total)
        try:
            with torch.inference_mode():
                logits = self.engine.network(**lengthen(inputs, added)).logits[0, prompt.shape[1] - 1 : -1].float()
        except RuntimeError as error:  # out of memory, above all
            return Reply("", "error", "model", str(error)[:500], tokens_in=total)
        log_probabilities = torch.log_softmax(logits, dim=-1).gather(1, added[0].unsqueeze(1))
        text = json.dumps({"mean_log_probability": round(float(log_probabilities.mean()), 6), "tokens": added.shape[1]})
        return Reply(text, tokens_in=total, seconds=time.monotonic() - started)


def before_continuation(request: Request) -> str:
    """The prompt of a request without the continuation that ends it."""
    return request.prompt.removesuffix(request.slots["continuation"]).rstrip()


def lengthen(inputs: Mapping[str, Any], added: Any) -> dict[str, Any]:
    """Inputs of a network that reads the tokens `added` [1, n] after the prompt; masks and types go on with it."""
    import torch

    prompt, longer = inputs["input_ids"], {}
    for name, values in inputs.items():
        if values.shape == prompt.shape and name != "input_ids":  # masks and types, one per token
            filler = torch.ones_like(added) if name == "attention_mask" else torch.zeros_like(added)
            values = torch.cat([values, filler.to(values.dtype)], dim=1)
        longer[name] = values
    return longer | {"input_ids": torch.cat([prompt, added], dim=1)}


def scoring_engine(generation: Generation, engine: Engine | None = None) -> Engine:
    """The engine of the role video_lmm, or another in its place, which also scores."""
    return Scoring(engine or make_engine(generation.video_lmm, generation))
