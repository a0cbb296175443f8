"""vLLM, offline: batches on a GPU, or on a CPU with the CPU build (written against vLLM 0.32).

The chat template that vLLM finds for the model (the processor's before the tokenizer's, which may know text alone),
unscaled pictures, JSON schemas as structured output, a seed per request, prefix caching. A clip is given as its frames,
one image each, or as one video with their times (`video_input: frames`), for which a batch has only clips, as in the
stages. A request that vLLM refuses, such as a prompt over the context length, ends as a named error without failing its
batch.
"""

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.engines.media import (
    decode_answer,
    free_gpu_memory,
    no_template_for,
    pictures,
    remove_control_tokens,
    video_facts,
)
from verified.lmm.request import Reply, Request


def make(role: EngineSettings, generation: Generation) -> "VLLM":
    """The engine `vllm` of a role."""
    return VLLM(role)


class VLLM:
    """Engine `vllm`; the model is loaded with the first question. Raises InputError when it cannot be loaded."""

    name = "vllm"

    def __init__(self, settings: EngineSettings):
        self.model, self.revision, self.settings = settings.model, settings.revision, settings
        self.llm: Any = None
        self.gpu_share = settings.gpu_memory_share if settings.gpu else 0.0

    def release(self) -> None:
        """Give the GPU's memory back; the next question loads the model again."""
        if self.llm is not None:
            self.llm.llm_engine.engine_core.shutdown()  # the process that holds the weights
            self.llm = None
            free_gpu_memory()

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order; `batch` requests are under way together."""
        source = iter(requests)
        while batch := list(itertools.islice(source, self.settings.batch_size)):
            self._load()
            yield from self._answer(batch)

    def _load(self) -> None:
        if self.llm is not None:
            return
        try:
            import vllm  # pyright: ignore[reportMissingImports] (in a separate environment)
        except ImportError as error:
            raise InputError(
                f"vLLM is not installed here: {error}",
                remedy="run with the conda environments, or install it on a machine with a GPU as README.md says",
            ) from None
        try:
            self.llm = vllm.LLM(
                model=self.settings.folder or self.model,
                revision=None if self.settings.folder else self.revision or None,
                tensor_parallel_size=max(1, self.settings.gpu),
                gpu_memory_utilization=self.settings.gpu_memory_share,
                max_model_len=self.settings.max_context_tokens,
                enable_prefix_caching=True,
                seed=0,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"vLLM cannot load the model {self.model!r}: {error}",
                remedy="check `model`, `revision`, `gpu` and `max_context_tokens`",
            ) from None
        tokenizer = self.llm.get_tokenizer()
        self.control = {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}

    def _answer(self, batch: list[Request]) -> Iterator[Reply]:
        """Replies to a batch; requests whose pictures do not decode are excluded from the call."""
        messages: dict[int, list[dict] | dict] = {}
        replies: dict[int, Reply] = {}
        for index, request in enumerate(batch):
            try:
                messages[index] = self._messages(request)
            except (OSError, ValueError, SyntaxError) as error:
                replies[index] = Reply("", "error", "media", str(error))
        replies |= zip(messages, self._chat([*messages.values()], [batch[index] for index in messages]))
        return (replies[index] for index in range(len(batch)))

    def _messages(self, request: Request) -> list[dict] | dict:
        """Input of vLLM for a request: messages of a chat; with a video, the prompt as the template writes it."""
        text = remove_control_tokens(request.prompt, self.control)
        if request.frames is not None and self.settings.video_input == "frames":
            content = [{"type": "video"}, {"type": "text", "text": text}]
            return {
                "prompt": self._render(content),
                "multi_modal_data": {"video": [(request.frames, video_facts(request.frame_times))]},
            }
        images = pictures(request)
        if not images:
            return [{"role": "user", "content": text}]
        blocks = [{"type": "image_pil", "image_pil": image} for image in images]
        return [{"role": "user", "content": [*blocks, {"type": "text", "text": text}]}]

    def _render(self, content: list[dict]) -> str:
        """The prompt as `LLM.chat` would write it, which takes videos as files alone. Raises InputError."""
        from vllm.renderers.hf import safe_apply_chat_template  # pyright: ignore[reportMissingImports]

        try:
            return safe_apply_chat_template(
                self.llm.model_config,
                self.llm.get_tokenizer(),
                [{"role": "user", "content": content}],
                add_generation_prompt=True,
                tokenize=False,
                **self.settings.chat_template_kwargs,
            )
        except (ValueError, _client_error()) as error:  # vLLM converts all errors of the template to these
            raise no_template_for("a video", self.model, error) from None

    def _chat(self, messages: list[list[dict] | dict], requests: list[Request]) -> list[Reply]:
        """One call for all; when vLLM refuses it, one call for each, so that the culprit is found."""
        if not messages:
            return []
        started = time.monotonic()
        try:
            sampling = [_sampling(request) for request in requests]
            if isinstance(messages[0], dict):
                outputs = self.llm.generate(messages, sampling, use_tqdm=False)
            else:
                extra = self.settings.chat_template_kwargs or None
                outputs = self.llm.chat(messages, sampling, use_tqdm=False, chat_template_kwargs=extra)
        except (ValueError, _client_error()) as error:
            if len(messages) > 1:
                return [self._chat([message], [request])[0] for message, request in zip(messages, requests)]
            detail = str(error)[:500]
            too_long = any(
                mark in detail for mark in ("max_model_len", "maximum model length", "context length", "longer")
            )
            return [Reply("", "error", "context-length" if too_long else "refused-by-vllm", detail)]
        spent = (time.monotonic() - started) / len(outputs)
        return [_reply(output, spent, self.llm.get_tokenizer()) for output in outputs]


def _client_error() -> type[Exception]:
    from vllm.exceptions import VLLMClientError  # pyright: ignore[reportMissingImports]

    return VLLMClientError


def _sampling(request: Request):
    from vllm import SamplingParams  # pyright: ignore[reportMissingImports]
    from vllm.sampling_params import StructuredOutputsParams  # pyright: ignore[reportMissingImports]

    sampling = request.sampling
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=request.seed % 2**63,
        structured_outputs=StructuredOutputsParams(json=request.schema) if request.schema else None,
    )


def _reply(output, seconds: float, tokenizer: Any) -> Reply:
    """A reply from vLLM's RequestOutput."""
    answer = output.outputs[0]
    tokens = {"tokens_in": len(output.prompt_token_ids or ()), "tokens_out": len(answer.token_ids), "seconds": seconds}
    if answer.finish_reason in ("stop", "length"):
        text, thought = decode_answer(tokenizer, output.prompt_token_ids or (), answer.token_ids)
        return Reply(text, answer.finish_reason, **tokens, thought=thought)
    return Reply("", "error", f"vllm-{answer.finish_reason}", "vLLM ended the request early", **tokens)
