"""Pre-train on clips of a separate synthetic corpus with full true captions, in place of UMT's 25 million pairs.

An item is one event with its true caption and corrupted ones. Word–token alignment helps on few clips. The hard
negatives of Equations 9 and 10 differ from the caption in a word or two. In an untrained text encoder this difference
nearly vanishes in the caption's one vector, so for hundreds of steps those losses teach little about it. Here captions
are bags of words, scored by the text encoder's word embeddings against the video's tokens, without any layer between.
The difference of two captions is then the difference of their words, and the gradient is sharp.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from verified.demo.full_captions import Description, describe, word
from verified.demo.render import draw_actors, draw_stage, finish
from verified.demo.scenes import Event, draw_event, facts
from verified.evaluator.checkpoint import FORM, TABLE, WORDS
from verified.evaluator.inputs import make_batch
from verified.evaluator.model import CLS, NoiseEvaluator, encode
from verified.evaluator.settings import Architecture
from verified.evaluator.training import Batch, Schedule, TrainingStep, train
from verified.evaluator.vision import normalise
from verified.io.jsonl import write_jsonl
from verified.nn.checkpoint import load_tensors, save
from verified.nn.training import TrainingState, fingerprint
from verified.runtime.digest import modules_digest
from verified.runtime.seeds import derive_seed
from verified_pretrained.perturbed import DYNAMIC, STATIC, perturb

PRESENCE_WEIGHT = 0.1


class WordAlignment(nn.Module):
    """Match of words and a video, by its best and its mean token."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.bias = nn.Embedding(vocabulary, 1)
        nn.init.constant_(self.bias.weight, -2.0)  # a word is absent more often than not

    def forward(self, tokens: Tensor, embeddings: Tensor, words: Tensor, bags: Tensor) -> Tensor:
        """The loss of B videos, a scalar.

        tokens: [B, N, width]; embeddings: [vocabulary, width]; words: ids [U] of the batch's words; bags:
        [B, 1 + K, U], 0 or 1, the true caption first, then the perturbed ones. Two parts: the true caption scores above
        each perturbed one (logistic loss of the difference), and its words are recognised as present, others as absent.
        """
        likeness = tokens @ embeddings[words].T
        logits = likeness.amax(dim=1) + likeness.mean(dim=1) + self.bias(words)[:, 0]
        scores = torch.einsum("bu,bku->bk", logits, bags)
        ranking = softplus(scores[:, 1:] - scores[:, :1]).sum(dim=1).mean()
        presence = binary_cross_entropy_with_logits(logits, bags[:, 0], reduction="none").sum(dim=1).mean()
        return ranking + PRESENCE_WEIGHT * presence


FPS = 8
LONGEST = 10 * FPS
"""Frames within which an event must end; events are at most 4.5 s long."""


@dataclass(frozen=True)
class SyntheticItem:
    """frames: uint8 [T, size, size, 3]. static, dynamic: corrupted captions, each in one respect, the same wording
    otherwise."""

    frames: np.ndarray
    caption: str
    static: list[str]
    dynamic: list[str]


def synthetic_item(seed: int, number: int, frames: int, size: int, perturbed: int) -> SyntheticItem:
    """Item `number` of the synthetic corpus of `seed`, with `perturbed` captions of each kind; a pure function of both.

    The seed is derived under another name than the demo corpus's, so that no event is shared with it.
    """
    rng = random.Random(derive_seed(seed, "separate world of the evaluator", number))
    event = draw_event(rng, 0, LONGEST, FPS)
    description = describe(facts(event, FPS), rng)
    style = rng.getrandbits(32)
    static, dynamic = (_corrupt(description, kind, perturbed, style, rng) for kind in (STATIC, DYNAMIC))
    pictures = sample_event(event, frames, size, rng)
    return SyntheticItem(pictures, word(description, style), static, dynamic)


def sample_event(event: Event, frames: int, size: int, rng: random.Random) -> np.ndarray:
    """uint8 [frames, size, size, 3]: the event at the middles of `frames` equal parts."""
    times = event.first / FPS + (np.arange(frames) + 0.5) * ((event.last - event.first) / FPS / frames)
    canvas = np.empty((frames, size, size, 3), np.float32)
    for scene in event.scenes:
        within = np.flatnonzero((times >= scene.first / FPS) & (times < scene.last / FPS))
        if len(within):
            draw_stage(canvas[within[0] : within[-1] + 1], scene, times[within] - scene.first / FPS)
    draw_actors(canvas, event, times - event.first / FPS)
    return finish(canvas, rng)


def _corrupt(description: Description, kind: tuple[str, ...], count: int, style: int, rng: random.Random) -> list[str]:
    """`count` captions, each false in one attribute of `kind`, as many different attributes as there are."""
    names = [name for name in kind if description[name] is not None]
    rng.shuffle(names)
    captions: list[str] = []
    for name in names:
        try:
            captions.append(word(perturb(description, (name,), rng)[0], style))
        except ValueError:  # the attribute has no other value
            continue
        if len(captions) == count:
            return captions
    while len(captions) < count:
        captions.append(word(perturb(description, kind, rng)[0], style))
    return captions


LABEL = "pre-training"
PERTURBED = 3
"""Perturbed captions of each kind that the word alignment sees; Equations 9 to 11 see the first of each."""
ALONE = 0.2
"""Share of the steps with the word alignment alone, which cost half as much."""


@dataclass
class SyntheticBatch(Batch):
    """A batch with the bags of words of its captions; see WordAlignment."""

    words: Tensor
    bags: Tensor


class PretrainingStep(TrainingStep):
    """Equations 9 to 11 and the word alignment, which is the only loss in the first `alone` steps."""

    taken: Tensor
    read: Tensor

    def __init__(self, model: NoiseEvaluator, alone: int):
        super().__init__(model, "all", "batch")
        self.alignment = WordAlignment(model.size.vocabulary)
        self.alone = alone
        self.register_buffer("taken", torch.tensor(0))  # steps so far; a buffer, so that a saved state has it
        self.register_buffer("read", torch.zeros(model.size.vocabulary, dtype=torch.bool))  # words that occurred

    def forward(self, batch: SyntheticBatch) -> tuple[Tensor, dict[str, Tensor]]:
        tokens, videos = self.model.encode_video(normalise(batch.frames))
        embeddings = self.model.text.embeddings.word_embeddings.weight
        alignment = self.alignment(tokens, embeddings, batch.words, batch.bags)
        self.taken += 1
        self.read[batch.ids] = True
        self.read[batch.words] = True
        if self.taken <= self.alone:
            return alignment, {"loss": alignment.detach(), "alignment": alignment.detach()}
        objective, terms = self.losses(batch, tokens, videos)
        return objective + alignment, {**terms, "alignment": alignment.detach()}


@dataclass(frozen=True)
class Pretraining:
    """Clips in all, each seen once, clips a step, the peak learning rate, the seed, and the folder with the weights of
    the image network in the stem."""

    clips: int
    batch: int
    learning_rate: float
    seed: int
    backbone: str


def run_pretraining(size: Architecture, plan: Pretraining, save_seconds: float, checkpoint: str, record: str) -> None:
    """Pre-train and write the checkpoint and its log. During training its state is saved next to `checkpoint`."""
    input_files = [Path(plan.backbone) / "model.safetensors"]
    values = [size.as_dict(), plan.clips, plan.batch, plan.learning_rate, plan.seed]
    owner = fingerprint(modules_digest(__name__), values, input_files)
    state = TrainingState(Path(checkpoint).with_name("unfinished-pre-training.safetensors"), owner, save_seconds)
    step, rows = pretrain(size, plan, state)
    write_jsonl(record, rows)
    origin = f"pre-trained on {plan.clips} clips of the demo's separate world, seed {plan.seed}"
    save_compact(checkpoint, step.model, step.read, origin)
    state.remove()


def save_compact(path: str | Path, model: NoiseEvaluator, words: torch.Tensor, origin: str) -> None:
    """Write a small checkpoint: half precision, and of the word embeddings the rows of `words` (boolean [vocabulary]).

    The words that are omitted become vectors of zeros when it is loaded.
    """
    tensors = {name: t.half() if t.is_floating_point() else t for name, t in model.state_dict().items()}
    tensors |= {TABLE: tensors[TABLE][words], WORDS: torch.nonzero(words)[:, 0].int()}
    save(path, FORM, tensors, {"architecture": model.size.as_dict(), "origin": origin})


def pretrain(size: Architecture, plan: Pretraining, state: TrainingState | None = None) -> tuple:
    """Train a fresh network; returns its PretrainingStep and the log rows."""
    torch.manual_seed(derive_seed(plan.seed, "evaluator weights"))
    model = NoiseEvaluator(size)
    initialise(model)
    model.vision.stem.get_submodule("network").load_state_dict(load_tensors(Path(plan.backbone) / "model.safetensors"))
    steps = max(1, plan.clips // plan.batch)
    step = PretrainingStep(model, round(ALONE * steps))

    def batch_of(number: int) -> SyntheticBatch:
        return synthetic_batch(plan.seed, number * plan.batch, plan.batch, size)

    warmup = max(1, steps // 20)
    schedule = Schedule(steps, warmup, plan.learning_rate, plan.seed, every=50, beta2=0.98, largest_gradient=5.0)
    return step, train(step, batch_of, schedule, LABEL, torch.device("cpu"), state)


def initialise(model: NoiseEvaluator) -> None:
    """Initial weights: small embeddings, and layers that pass words through unchanged.

    Word–token alignment puts words and tokens into one space; both scores should profit from it at once. With
    identities in the text layers' attention and in the projections, a caption's vector is nearly the mean of its words
    and a frame's the mean of its tokens. Their similarity therefore starts as that alignment. With identities in the
    cross-attention, a word adds the token that it attends to, so their agreement shows in the sum's length, which a
    feed-forward layer reads directly. From random weights either took longer than this whole training.
    """
    for table in (m for m in model.text.embeddings.modules() if isinstance(m, nn.Embedding)):
        nn.init.normal_(table.weight, std=0.05)
    linears: list[Any] = [model.video_projection, model.text_projection]
    for layer in cast(Iterable[Any], model.text.layers):
        linears += [layer.attention.self.value, layer.attention.output.dense]
    for layer in model.fusion.layers:
        attention = layer.crossattention
        linears += [attention.self.query, attention.self.key, attention.self.value, attention.output.dense]
    for linear in linears:
        nn.init.eye_(linear.weight)
        nn.init.zeros_(linear.bias)


def synthetic_batch(seed: int, first: int, count: int, size: Architecture) -> SyntheticBatch:
    """Items `first` to `first + count` of the separate synthetic corpus."""
    items = [synthetic_item(seed, first + number, size.frames, size.image_size, PERTURBED) for number in range(count)]
    captions = {
        "caption": [item.caption for item in items],
        "static": [item.static[0] for item in items],
        "dynamic": [item.dynamic[0] for item in items],
    }
    names = [f"world item {first + number}" for number in range(count)]
    batch = make_batch(np.stack([item.frames for item in items]), captions, names)
    words, bags = bags_of_words([[item.caption, *item.static, *item.dynamic] for item in items])
    return SyntheticBatch(**vars(batch), words=words, bags=bags)


def bags_of_words(captions: list[list[str]]) -> tuple[Tensor, Tensor]:
    """Ids [U] of all words in B lists of K captions, and which caption holds which: [B, K, U], float32."""
    ids, mask, _ = encode([caption for row in captions for caption in row])
    ids = ids.masked_fill(mask == 0, CLS)
    words = torch.unique(ids[ids != CLS])
    bags = (ids[:, :, None] == words).any(dim=1).float()
    return words, bags.unflatten(0, (len(captions), -1))
