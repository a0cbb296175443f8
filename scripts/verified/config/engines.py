"""The engines of text generation, with their properties before setup. A new engine is one line here.

The configuration takes these names and no others. Planning, checks, quotes and rules use these properties and never the
name.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineKind:
    """One engine: the module whose function `make(role, generation)` sets it up, and its properties."""

    module: str
    """Dotted; imported only where the engine is used."""
    loads_model: bool = False
    """The job loads the weights itself: from `folder` or the hub, onto its GPUs, `batch_size` requests at once."""
    asks_endpoint: bool = False
    """Calls leave the machine with a key, `api_slots` at once, and may cost money."""
    replays: bool = False
    """Never calls a model: all outcomes in the ledger are final. Needs the key `cassette`."""
    learns: bool = False
    """A job can fine-tune the model that it loads, and read its log-probabilities of a given answer."""
    answers: bool = True
    """Answers prompts; engines that do not are for the role `embed` alone."""
    embeds: bool = False
    """Gives vectors of texts, and of pictures where its model takes them."""
    takes_schema: bool = True
    """Takes `structured: true`."""
    video_inputs: tuple[str, ...] = ("stills",)
    """Forms of a clip that it takes."""
    counts_pictures: bool = True
    """Pictures take tokens."""
    environment: str | None = None
    """Conda environment of its jobs, if it differs from the default of model jobs."""

    @property
    def quick_to_make(self) -> bool:
        """Whether it can be set up without key, weights and GPU."""
        return not (self.loads_model or self.asks_endpoint)


STILLS, FRAMES, MP4 = "stills", "frames", "mp4"

ENGINES: dict[str, EngineKind] = {
    "scene-reader": EngineKind("verified.demo.scene_reader", takes_schema=False, counts_pictures=False),
    "cassette": EngineKind(
        "verified.lmm.engines.cassette", replays=True, embeds=True, video_inputs=(STILLS, FRAMES, MP4)
    ),
    "transformers": EngineKind(
        "verified.lmm.engines.transformers", loads_model=True, learns=True, video_inputs=(STILLS, FRAMES)
    ),
    "openai": EngineKind(
        "verified.lmm.engines.openai",
        asks_endpoint=True,
        embeds=True,
        video_inputs=(STILLS, FRAMES, MP4),
    ),
    "vllm": EngineKind(
        "verified.lmm.engines.vllm",
        loads_model=True,
        video_inputs=(STILLS, FRAMES),
        environment="generation-cuda",
    ),
    "packaged-joint": EngineKind(
        "verified.features.embedding_engine", answers=False, embeds=True, takes_schema=False, counts_pictures=False
    ),
}
