"""Score given continuations instead of writing new ones: the mean log-probability of their tokens after a prompt.

The text to score is the slot `continuation` and ends the prompt; the reply is ``{"mean_log_probability": ...,
"tokens": ...}``.
"""

import json
from collections.abc import Mapping
from typing import Any

from verified.lmm.engines.transformers import Transformers
from verified.lmm.request import Reply, Request


class Scoring(Transformers):
    """Engine `transformers` that scores requests with a continuation and answers others."""

    def reply_to(self, request: Request, images: list, clip: Request | None) -> Reply:
        if "continuation" not in request.slots:
            return super().reply_to(request, images, clip)
        import torch

        if not request.prompt.endswith(request.slots["continuation"]):
            return Reply("", "error", "prompt", "a prompt whose continuation is scored must end with it")
        inputs = self.inputs(before_continuation(request), images, clip)
        prompt = inputs["input_ids"]
        added = self.tokenizer(
            [request.slots["continuation"]], add_special_tokens=False, return_tensors="pt"
        ).input_ids.to(prompt.device)
        total = prompt.shape[1] + added.shape[1]
        if total > self.most_tokens:
            return Reply("", "error", "context-length", f"{total} tokens, at most {self.most_tokens}", total)
        try:
            with torch.inference_mode():
                logits = self.network(**lengthen(inputs, added)).logits[0, prompt.shape[1] - 1 : -1].float()
        except RuntimeError as error:  # out of memory, above all
            return Reply("", "error", "model", str(error)[:500], tokens_in=total)
        log_probabilities = torch.log_softmax(logits, dim=-1).gather(1, added[0].unsqueeze(1))
        text = json.dumps({"mean_log_probability": round(float(log_probabilities.mean()), 6), "tokens": added.shape[1]})
        return Reply(text, tokens_in=total)


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
