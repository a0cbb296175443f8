"""Fine-tune a video LMM to answer questions in words: low-rank adapters on the questions of train (supplement, C.5).

Each question is two lessons, in the prompts of `locate_then_score` and in the model's chat template: the span, "From ss
to ee.", for the question of time, and "From ss to ee, ANSWER", whose options that protocol scores. Only tokens of the
answer and the one that ends it count. Lessons are not batched, so there are no pads; the gradients of the questions of
a step are added up.

The supplement prints rank, alpha, learning rate, epochs and batch. Not printed, and chosen here: a cosine curve after a
warm-up, AdamW without decay, gradients cut to norm 1, adapters at the attention of the language model alone.
"""

import inspect
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from verified.captions.clips import Clips, uniform
from verified.config.generation import Generation
from verified.config.params import deciding
from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.jsonl import write_json, write_jsonl
from verified.lmm.client import MediaError
from verified.lmm.engines.transformers import Transformers
from verified.lmm.prompts import Prompt, read_prompts
from verified.lmm.request import Request
from verified.nn.checkpoint import save
from verified.nn.low_rank import FORM
from verified.nn.training import Terms, Training, TrainingProgress, TrainingState, cosine_multiplier, fingerprint, train
from verified.runtime.digest import modules_digest
from verified.runtime.seeds import derive_seed
from verified_rextime.adapters import attach, linear_layers
from verified_rextime.answer import continuation
from verified_rextime.config import Lora
from verified_rextime.scoring import before_continuation, lengthen
from verified_rextime.tasks import LOCATE, SCORING

WARM_UP = 0.03
"""Share of the steps in which the learning rate rises."""
LARGEST_NORM = 1.0
SECONDS_BETWEEN_STATES = 300


@dataclass(frozen=True)
class Lesson:
    """A prompt and its answer; `request` gets its frames when its turn comes."""

    qid: str
    video: str
    request: Request
    answer: str


@dataclass(frozen=True)
class Shown:
    """Input of the video LMM: the questions' videos by id, with path and size, and frames of at most `side`."""

    videos: Mapping[str, dict]
    frames: int
    side: int

    def clip(self, video: str) -> dict:
        """`frames` and `frame_times` of a whole video, in the form of a test. Raises InputError."""
        row = self.videos[video]
        whole = [{"video": video, "start": 0.0, "end": row["duration"]}]
        try:
            return Clips(whole, {video: row}, uniform(self.frames), self.side).load(0)
        except MediaError as error:
            raise InputError(
                f"{video} cannot be shown: {error}", file=row["path"], remedy="leave its questions out of train"
            ) from None


def fine_tune(
    questions: list[dict],
    clips: Shown,
    generation: Generation,
    lora: Lora,
    seed: int,
    files: Mapping[str, str],
) -> dict[str, Any]:
    """Train adapters of the role video_lmm on questions with windows and answers; returns their card.

    `files`: ``questions``, their file; and the outputs ``adapter``, ``card``, and the ``record`` of the steps.
    Questions whose video is not available are omitted, and the card counts them. One thread of a CPU gives the same
    bytes for the same seed, also after a kill. Raises InputError without any usable question.
    """
    taught = [row for row in questions if row["vid"] in clips.videos and row["relevant_windows"]]
    if not taught:
        raise InputError(
            "no question of train has a video to learn from",
            file=files["questions"],
            remedy="leave fine_tuned_video_lmm out of rextime.models",
        )
    role = generation.video_lmm
    engine = Transformers(role, generation.threads)
    adapters = adapted(engine, lora, seed)
    forms = read_prompts(generation.prompts, (LOCATE, SCORING))
    lessons = {row["qid"]: lessons_of(row, forms, clips.frames) for row in taught}
    plan = steps_of([row["qid"] for row in taught], lora, seed)
    last_clip = lru_cache(maxsize=1)(clips.clip)

    def batches(first: int) -> Iterator[Iterable[tuple[Lesson, int]]]:
        for qids in islice(plan, first, None):
            due = [lesson for qid in qids for lesson in lessons[qid]]
            yield (
                (replace(lesson, request=replace(lesson.request, **last_clip(lesson.video))), len(due))
                for lesson in due
            )

    def losses(batch: tuple[Lesson, int], step: int) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        lesson, lessons_in_step = batch
        torch.manual_seed(derive_seed(seed, "lesson", step, lesson.qid, lesson.request.task))
        loss = loss_of(lesson, engine)
        return loss / lessons_in_step, {"loss": loss.detach()}

    def rate(step: int) -> float:
        return lora.learning_rate * cosine_multiplier(step, len(plan), WARM_UP * len(plan))

    def row(step: int, terms: list[Terms], _reached: TrainingProgress) -> dict[str, Any]:
        mean = sum(term["loss"] for term in terms) / len(terms)
        return {"step": step + 1, "lessons": len(terms), "loss": round(mean, 6), "learning_rate": rate(step)}

    settings = {"lora": lora.model_dump(mode="json"), "model": deciding(role)}
    settings |= {"frames": clips.frames, "side": clips.side, "seed": seed, "threads": generation.threads}
    owner = fingerprint(
        modules_digest("verified_rextime.fine_tune_lmm"),
        settings,
        [files["questions"]],
        videos=sorted((row["vid"], clips.videos[row["vid"]]["sha256"]) for row in taught),
        prompts=[[lesson.request.prompt for lesson in both] for both in lessons.values()],
    )
    state = TrainingState(Path(files["adapter"]).with_name("unfinished.safetensors"), owner, SECONDS_BETWEEN_STATES)
    reached = train(
        Training(
            label=f"fine-tuning of {role.model}",
            module=adapters,
            optimiser=torch.optim.AdamW(adapters.parameters(), lora.learning_rate, weight_decay=0.0, fused=True),
            steps=len(plan),
            rate=rate,
            batches=batches,
            losses=losses,
            row=row,
            clip_norm=LARGEST_NORM,
            device=engine.device,
            file=files["questions"],
            names=lambda batch: [batch[0].qid],
            remedy="lower rextime.lora.learning_rate",
        ),
        state,
    )
    card = {
        "base_model": role.model,
        "revision": role.revision,
        **{name: getattr(lora, name) for name in ("rank", "alpha", "epochs", "batch", "learning_rate", "precision")},
        "targets": list(lora.targets),
        "seed": seed,
        "frames": clips.frames,
        "frame_side": clips.side,
        "questions": len(taught),
        "questions_left_out": len(questions) - len(taught),
        "questions_sha256": file_digest(files["questions"]),
        "steps": len(reached.rows),
        "loss_of_first_step": reached.rows[0]["loss"],
        "loss_of_last_step": reached.rows[-1]["loss"],
    }
    save(files["adapter"], FORM, adapters.state_dict(), card)
    write_json(files["card"], card)
    write_jsonl(files["record"], reached.rows)
    state.remove()
    return card


def adapted(engine: Any, lora: Lora, seed: int) -> nn.ModuleDict:
    """New adapters of the engine's model, which is loaded and frozen. Raises InputError for a model without eyes."""
    engine.load()
    if not engine.sees:
        raise InputError(f"{engine.model} takes no images", remedy="name a model of images and text, or of videos")
    network, number = engine.network, getattr(torch, lora.precision)
    for weight in network.parameters():  # not the buffers: positions must not be in half precision
        weight.data = weight.data.to(number)
    decoder = network.get_decoder()
    (prefix,) = (name for name, module in network.named_modules() if module is decoder)
    layers = {f"{prefix}.{name}": layer for name, layer in linear_layers(decoder, lora.targets).items()}
    if lora.gradient_checkpointing:
        network.activation_checkpointing_enable({"use_reentrant": False})
        network.train()  # a model for inference only recomputes nothing
    return attach(network, layers, lora.rank, lora.alpha, seed)


def lessons_of(row: Mapping, forms: Mapping[str, Prompt], frames: int) -> tuple[Lesson, Lesson]:
    """Both lessons of a question: the time of its answer, and the answer. `forms` are the prompts by task."""
    span = tuple(row["relevant_windows"][0])
    continued = continuation(span, row["answer"])
    shared = {"question": row["query"], "frame_number": str(frames)}
    slots = {LOCATE: shared | {"duration": f"{row['duration']:g}"}, SCORING: shared | {"continuation": continued}}
    locate, answer = (Request(task.name, forms[task.name].fill(values), values) for task, values in slots.items())
    return (
        Lesson(row["qid"], row["vid"], locate, f"{continued.partition(',')[0]}."),
        Lesson(row["qid"], row["vid"], replace(answer, prompt=before_continuation(answer)), continued),
    )


def steps_of(qids: list[str], lora: Lora, seed: int) -> list[list[str]]:
    """The questions of each step: all of them once an epoch, in an order drawn from the seed."""
    steps = []
    for epoch in range(lora.epochs):
        order = sorted(qids)
        random.Random(derive_seed(seed, "order of lessons", epoch)).shuffle(order)
        steps += [order[start : start + lora.batch] for start in range(0, len(order), lora.batch)]
    return steps


def loss_of(lesson: Lesson, engine: Any) -> Tensor:
    """Mean cross-entropy (a scalar, nats) of the tokens of an answer, and of the one that ends it, after its prompt.

    `engine` has loaded its model. Raises InputError for a lesson that does not fit into the context.
    """
    images, clip = engine.media_of(lesson.request)
    inputs = engine.inputs(lesson.request.prompt, images, clip)
    end = [] if engine.tokenizer.eos_token_id is None else [engine.tokenizer.eos_token_id]
    tokens = [*engine.tokenizer(lesson.answer, add_special_tokens=False).input_ids, *end]
    added = torch.tensor([tokens], device=inputs["input_ids"].device)
    total = inputs["input_ids"].shape[1] + len(tokens)
    if total > engine.most_tokens:
        raise InputError(
            f"question {lesson.qid} takes {total} tokens with its frames and answer, at most {engine.most_tokens}",
            remedy="raise max_context_tokens of generation.video_lmm, or lower rextime.frames or generation.frame_side",
        )
    network = engine.network
    shorter = "logits_to_keep" in inspect.signature(network.forward).parameters  # those of the prompt fill a GPU
    few = {"logits_to_keep": len(tokens) + 1} if shorter else {}
    logits = network(**lengthen(inputs, added), use_cache=False, **few).logits
    return functional.cross_entropy(logits[0, -len(tokens) - 1 : -1].float(), added[0])
