"""Models of the transformers library on any device, one request at a time, so that an answer does not depend on other
requests.

Text models (Mistral and the like) and models of images and text (LLaVA-NeXT, Qwen-VL and the like) are distinguished by
their configuration. A clip is given as its frames, one image each, or as one video with their times (`video_input:
frames`), if the model's processor has a video part. Answers cannot be constrained: a schema is ignored.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.io.files import file_digest
from verified.lmm.engines.media import (
    decode_answer,
    free_gpu_memory,
    no_template_for,
    pictures,
    remove_control_tokens,
    video_facts,
)
from verified.lmm.request import Reply, Request


def make(role: EngineSettings, generation: Generation) -> "Transformers":
    """The engine `transformers` of a role."""
    return Transformers(role, threads=generation.threads)


class Transformers:
    """Engine `transformers`; the model is loaded at the first call.

    `adapter`: the file of low-rank adapters that fine-tuning made of this model; they are merged into its weights, and
    the revision names them. Raises InputError when the model cannot be loaded.
    """

    name = "transformers"

    def __init__(self, settings: EngineSettings, threads: int = 1, adapter: str | Path | None = None):
        self.model, self.settings, self.threads, self.adapter = settings.model, settings, threads, adapter
        self.revision = settings.revision if adapter is None else revision_with(settings.revision, adapter)
        self.network: Any = None
        self.processor: Any = None
        self.gpu_share = settings.gpu_memory_share if settings.gpu else 0.0

    def release(self) -> None:
        """Give the GPU's memory back; the next question loads the model again."""
        if self.network is not None:
            self.network = None
            free_gpu_memory()

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order."""
        for request in requests:
            self.load()
            yield self._answer(request)

    def load(self) -> None:
        """Load the model, unless it is loaded: `network`, `processor` and `tokenizer`."""
        if self.network is not None:
            return
        import torch
        import transformers
        from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

        torch.set_num_threads(self.threads)
        self.device = "cuda" if self.settings.gpu else "cpu"
        source = self.settings.folder or self.model
        pinned = {} if self.settings.folder else {"revision": self.settings.revision or None}
        try:
            config = transformers.AutoConfig.from_pretrained(source, **pinned)
            self.sees = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
            kind = transformers.AutoModelForImageTextToText if self.sees else transformers.AutoModelForCausalLM
            number = "auto" if self.settings.gpu else torch.float32  # half precision is slow on most CPUs
            network: Any = kind.from_pretrained(source, dtype=number, **pinned)
            self.network = network.to(self.device).eval()
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(source, **pinned)
            self.processor = _processor(source, config.model_type, pinned) if self.sees else None
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise InputError(
                f"the model {self.model!r} cannot be loaded: {error}",
                remedy="check `model`: a hub name, which `verified fetch` brings here, or a folder with weights",
            ) from None
        if self.adapter is not None:
            from verified.nn.low_rank import merge_adapters

            merge_adapters(self.network, self.adapter, self.model, self.settings.revision)
        text = config.get_text_config()
        model_limit = getattr(text, "max_position_embeddings", None) or self.settings.max_context_tokens
        self.most_tokens = min(model_limit, self.settings.max_context_tokens)
        ends = self.network.generation_config.eos_token_id
        self.ends = {*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id} - {None}
        self.control = {*self.tokenizer.all_special_tokens, *self.tokenizer.get_added_vocab()}

    def _answer(self, request: Request) -> Reply:
        started = time.monotonic()
        try:
            images, clip = self.media_of(request)
        except (OSError, ValueError, SyntaxError) as error:
            return Reply("", "error", "media", str(error))
        if images and not self.sees:
            return Reply("", "error", "no-eyes", f"{self.model} takes no images")
        return replace(self.reply_to(request, images, clip), seconds=time.monotonic() - started)

    def reply_to(self, request: Request, images: list, clip: Request | None) -> Reply:
        """The reply to a request with the media of `media_of`."""
        import torch

        inputs = self.inputs(request.prompt, images, clip)
        tokens_in = inputs["input_ids"].shape[1]
        room = self.most_tokens - tokens_in
        if room < 1:
            return Reply("", "error", "context-length", f"{tokens_in} tokens, at most {self.most_tokens}", tokens_in)
        sampling = request.sampling
        drawn = {"do_sample": sampling.temperature > 0}
        if drawn["do_sample"]:
            drawn |= {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        torch.manual_seed(request.seed % 2**63)
        try:
            with torch.inference_mode():
                ids = self.network.generate(
                    **inputs,
                    **drawn,
                    max_new_tokens=min(sampling.max_tokens, room),
                    eos_token_id=sorted(self.ends) or None,
                    pad_token_id=self.tokenizer.pad_token_id or next(iter(sorted(self.ends)), 0),
                )[0, tokens_in:]
        except RuntimeError as error:  # out of memory, above all
            return Reply("", "error", "model", str(error)[:500], tokens_in=tokens_in)
        text, thought = decode_answer(self.tokenizer, inputs["input_ids"][0].tolist(), ids.tolist())
        finish = "stop" if len(ids) and int(ids[-1]) in self.ends else "length"
        return Reply(text, finish, tokens_in=tokens_in, tokens_out=len(ids), thought=thought)

    def media_of(self, request: Request) -> tuple[list, Request | None]:
        """The pictures of a request, and the request itself where its frames are one video instead.

        Raises OSError, ValueError or SyntaxError for a picture that cannot be decoded.
        """
        as_video = request.frames is not None and self.settings.video_input == "frames"
        return pictures(replace(request, frames=None) if as_video else request), request if as_video else None

    def inputs(self, prompt: str, images: list, clip: Request | None = None) -> Any:
        """Inputs of the network: `prompt` after the images, or after the frames of `clip` as one video."""
        prompt = remove_control_tokens(prompt, self.control)
        if clip and not getattr(self.processor, "video_processor", None):
            raise InputError(
                f"{self.model!r} takes no video here",
                remedy="install torchvision if the model has a video part, or set `video_input: stills`",
            )
        speaker = self.processor or self.tokenizer
        kinds = ["video"] if clip else ["image"] * len(images)
        if getattr(speaker, "chat_template", None):
            content = [*({"type": kind} for kind in kinds), {"type": "text", "text": prompt}] if self.sees else prompt
            messages = [{"role": "user", "content": content}]
            try:
                prompt = speaker.apply_chat_template(
                    messages, add_generation_prompt=True, tokenize=False, **self.settings.chat_template_kwargs
                )
            except (TemplateError, TypeError) as error:
                raise no_template_for(f"text with {kinds[0]}" if kinds else "text", self.model, error) from None
            special = False  # the template writes them
        else:
            prompt = "".join(getattr(speaker, f"{kind}_token", f"<{kind}>") + "\n" for kind in kinds) + prompt
            special = True
        if self.sees:
            media = {"images": [images]} if images else {}
            if clip:
                facts = video_facts(clip.frame_times)
                sampled = facts.pop("do_sample_frames")
                media = {"videos": [clip.frames], "video_metadata": [facts], "do_sample_frames": sampled}
            inputs = self.processor(text=[prompt], **media, return_tensors="pt", add_special_tokens=special)
        else:
            inputs = self.tokenizer([prompt], return_tensors="pt", add_special_tokens=special)
        inputs.pop("token_type_ids", None)
        return inputs.to(self.device)


def revision_with(revision: str, adapter: str | Path) -> str:
    """The revision of a model with the adapters of a file: another file makes another model of it."""
    digest = file_digest(adapter)[:16] if Path(adapter).is_file() else "to be trained"
    return f"{revision} with adapters {digest}".strip()


def _processor(model: str, kind: str, pinned: dict):
    """The processor of a `kind` of model; without torchvision, one without video part."""
    import transformers
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES  # pyright: ignore[reportPrivateImportUsage] (no public place has it)

    try:
        return transformers.AutoProcessor.from_pretrained(model, **pinned)
    except ImportError:
        processor_class = getattr(transformers, str(PROCESSOR_MAPPING_NAMES[kind]))

        class ImagesOnly(processor_class):
            def __init__(self, image_processor=None, tokenizer=None, chat_template=None, **options):
                super().__init__(image_processor, tokenizer, None, chat_template=chat_template, **options)

        ImagesOnly.__name__ = processor_class.__name__
        return ImagesOnly.from_pretrained(model, **pinned)
