"""Settings of text generation: the engine of each role, prompts, sampling, the ledger, the budget."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from verified.config.base import Line, Operational, Section
from verified.config.engines import ENGINES, EngineKind

ROLES = ("llm", "image_lmm", "video_lmm")
"""The paper's."""
ALL_ROLES = (*ROLES, "speech", "embed")
NOT_DRAWN = {"sampling", "structured"}
"""Keys of a role that say how answers are drawn."""
ADDRESS = Operational("the address of the model, which other keys name")
TRANSPORT = Operational("how calls reach the model; answers are stored by request")
MACHINE = Operational("resources of a job on its machine")
MONEY = Operational("costs and limits, which change no answer")
RECORD = Operational("where calls are stored, or how many are made; outcomes are counted elsewhere")
if TYPE_CHECKING:
    EngineName = EmbedderName = str
else:
    EngineName = Literal[tuple(name for name, kind in ENGINES.items() if kind.answers)]
    EmbedderName = Literal[tuple(name for name, kind in ENGINES.items() if kind.embeds)]


class SamplingSettings(Section):
    """Sampling of answers; the paper does not print its settings."""

    max_tokens: int = Field(default=768, ge=1)
    """Most tokens of an answer."""
    temperature: float = Field(default=0.7, ge=0)
    """0 takes the most likely token each time; a second attempt is then the same as the first."""
    top_p: float = Field(default=0.95, gt=0, le=1)
    """Share of the probability mass that is drawn from."""


class EngineSettings(Section):
    """One engine in one role."""

    engine: EngineName = "scene-reader"
    """Which implementation answers."""
    model: Line = Field(default="scene-reader-1", min_length=1)
    """Model id (a hub name, a folder, or the name an endpoint knows), recorded with each caption."""
    revision: str = ""
    """Branch, tag or commit of a hub model, or an endpoint's version of it. The ledger key holds the locked commit."""
    folder: str | None = None
    """Engines vllm and transformers: folder with the weights of `model`, to load it from there and not from the hub."""
    sampling: SamplingSettings = SamplingSettings()
    structured: bool = False
    """Ask for JSON and hand the engine its schema (vllm, endpoints that support it); otherwise the printed formats."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """More arguments of the model's chat template (vllm, transformers, endpoints served by vLLM or SGLang), such as
    `{enable_thinking: false}` for models that think before they answer.
    """
    cassette: str | None = None
    """Exported ledger (parquet) whose answers are reused; engine cassette has no others, other engines ask the rest.
    Engine cassette with the model `hand-written`: a YAML file of answers (docs/tutorial.md)."""
    base_url: Annotated[str | None, ADDRESS] = None
    """Engine openai: address of the endpoint, such as http://127.0.0.1:8000/v1; null means OpenAI's own."""
    api_key_variable: Annotated[str, ADDRESS] = Field(default="OPENAI_API_KEY", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """Engine openai: name of the environment variable with the key; keys are never written to a file."""
    api_slots: Annotated[int, TRANSPORT] = Field(default=8, ge=1)
    """Engine openai: calls under way at once in one job; also the Snakemake resource `api_slots` of the job."""
    timeout_seconds: Annotated[float, TRANSPORT] = Field(default=120, gt=0)
    """Engine openai: longest wait for one whole answer, however slowly it arrives."""
    retries: Annotated[int, TRANSPORT] = Field(default=6, ge=0)
    """Engine openai: retries of a call after 429, 5xx, a timeout or a lost connection."""
    outage_seconds: Annotated[float, TRANSPORT] = Field(default=900, gt=0)
    """Engine openai: seconds without any answer after which the job stops, requested pauses included."""
    video_input: Literal["stills", "frames", "mp4"] = "stills"
    """Form of a clip. stills: a picture for each frame, for any model that takes several. frames: one video of these
    frames with their times, for models with a video part (vllm, transformers, and endpoints served by vLLM). mp4: one
    video file with the times, for other endpoints that take videos; these choose frames in it themselves.
    """
    gpu: int = Field(default=0, ge=0)
    """Engines vllm and transformers: GPUs of a job; with 0 they run on the CPU, where transformers computes in float32
    and not in the model's own number format."""
    batch_size: int = Field(default=32, ge=1)
    """Engine vllm: requests handed to it together; beside others, an answer may be another one. The other engines that
    load the model in the job answer one request at a time."""
    max_context_tokens: int = Field(default=8192, ge=256)
    """Longest prompt with its answer (vllm, transformers): longer ones end as error context-length."""
    price_in: Annotated[float, MONEY] = Field(default=0.0, ge=0)
    """Money per million tokens read, for quotes, cost and budget."""
    price_out: Annotated[float, MONEY] = Field(default=0.0, ge=0)
    """Money per million tokens written."""
    tokens_per_image: int = Field(default=0, ge=0)
    """Tokens that one image or frame takes, for quotes (LLaVA-1.6 up to 2880, Qwen-VL about 250 at 448 pixels)."""
    gpu_memory_share: Annotated[float, MACHINE] = Field(default=0.9, gt=0, le=1)
    """Engines vllm and transformers: share of a GPU's memory. Models of a job whose shares add up to more than 1 take
    turns: one is unloaded before the next is loaded. A 7B model takes 15 to 17 GB; vLLM uses the rest for speed."""
    tokens_per_second: Annotated[float | None, MONEY] = Field(default=None, gt=0)
    """Written tokens per second and GPU, all requests of a batch together, for the GPU-hours of a quote."""
    tokens_read_per_second: Annotated[float | None, MONEY] = Field(default=None, gt=0)
    """Tokens read per second and GPU, those of images included, for the same; null: reading takes no time."""

    @field_validator("base_url")
    @classmethod
    def address_alone(cls, value: str | None) -> str | None:
        url = urlsplit(value or "http://default")
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("an address begins with http:// or https:// and names a host")
        if url.username or url.password or url.query:
            raise ValueError(
                "an address has no user, password or query: configurations are shown in reports; "
                "secrets belong into the environment variable that api_key_variable names"
            )
        return value

    @model_validator(mode="after")
    def complete(self):
        if self.kind.replays and not self.cassette:
            raise ValueError(f"the engine {self.engine} needs the key `cassette`, the path of an exported ledger")
        if not self.kind.replays and self.cassette and Path(self.cassette).suffix == ".yaml":
            raise ValueError(
                "a cassette written by hand (.yaml) needs the engine cassette, so that nobody else is named"
            )
        if self.video_input not in self.kind.video_inputs:
            raise ValueError(f"the engine {self.engine} does not take video_input {self.video_input}")
        if self.structured and not self.kind.takes_schema:
            raise ValueError(f"the engine {self.engine} answers in the printed formats only: structured must be false")
        return self

    @property
    def kind(self) -> EngineKind:
        """The engine's properties."""
        return ENGINES[self.engine]

    @property
    def has_prices(self) -> bool:
        """Whether its calls have a price."""
        return bool(self.price_in or self.price_out)


class SpeechSampling(SamplingSettings):
    """Sampling of transcripts: only the temperature is sent."""

    max_tokens: int = Field(default=4096, ge=1)
    """Most tokens of an answer that a budget reckons with."""
    temperature: float = Field(default=0.0, ge=0)
    """0 takes the most likely token each time."""


class SpeechSettings(EngineSettings):
    """The transcriber of the videos' speech: an endpoint with OpenAI's `/audio/transcriptions`."""

    engine: Literal["openai", "cassette"] = "openai"  # pyright: ignore[reportIncompatibleVariableOverride] (fewer names)
    """openai, for any endpoint of this kind, or cassette."""
    model: Line = Field(default="whisper-1", min_length=1)
    """Model id, one that tells times (`verbose_json`)."""
    sampling: SpeechSampling = SpeechSampling()  # pyright: ignore[reportIncompatibleVariableOverride] (other defaults)
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    """Spoken language, as ISO 639 code (`en`); null: the model finds out."""
    piece_seconds: float = Field(default=600, ge=10)
    """Longest sound of a call; longer tracks are cut. OpenAI takes 25 MB, 13 minutes; models hear 30 s at a time."""
    price_minute: Annotated[float, MONEY] = Field(default=0.0, ge=0)
    """Money per minute of sound, for quotes, cost and budget, in addition to the price of tokens."""

    @property
    def has_prices(self) -> bool:
        return super().has_prices or bool(self.price_minute)


class EmbedSettings(EngineSettings):
    """The model that embeds texts, frames and clips, to find videos without training."""

    engine: EmbedderName = "packaged-joint"
    """packaged-joint (part of the packages, docs/models.md); openai, for any endpoint with `/embeddings`, with pictures
    in the form of vLLM's server in pooling mode; or cassette.
    """
    model: Line = Field(default="packaged-joint", min_length=1)
    """Model id (packaged-joint, or the name that the endpoint knows)."""
    shows: Literal["nothing", "frames", "clips"] = "frames"
    """Embedded media of a video. nothing: the model reads texts alone. clips: several frames in one call."""
    step_seconds: float = Field(default=1.0, gt=0)
    """Seconds of video behind one vector: the frame in their middle, or the clip that they are."""
    clip_frames: int = Field(default=8, ge=2)
    """Frames of a clip."""
    frame_side: int = Field(default=448, ge=32)
    """Longer side of the frames in pixels; smaller videos keep their size."""
    query_form: str = "{text}"
    """Form in which a search sentence is embedded, such as `task: search result | query: {text}`."""
    query_instruction: str = ""
    """Chat endpoints: system message with a sentence (`Retrieve images or text relevant to the user's query.`)."""
    instruction: str = ""
    """Chat endpoints: system message for pictures (`Represent the user's input.`)."""
    dimensions: int | None = Field(default=None, ge=1)
    """Length of vectors, for endpoints that shorten them; null: the model's own."""

    @property
    def chats(self) -> bool:
        """Whether calls to the endpoint have the form of a chat, which takes pictures."""
        return self.shows != "nothing"

    @model_validator(mode="after")
    def possible(self):
        defaults = {name: type(self).model_fields[name].default for name in NOT_DRAWN}
        if unused := {name for name, default in defaults.items() if getattr(self, name) != default}:
            raise ValueError(f"answers of this role are not drawn: leave out {' and '.join(sorted(unused))}")
        if self.query_form.count("{text}") != 1:
            raise ValueError("query_form must hold {text} once")
        if self.shows == "clips" and not (self.kind.asks_endpoint or self.kind.replays):
            raise ValueError(f"the engine {self.engine} sees one frame at a time: shows must be frames or nothing")
        if self.engine == "packaged-joint" and self.model != "packaged-joint":
            raise ValueError("the engine packaged-joint has the model packaged-joint alone")
        return self


class SceneReader(Section):
    """The demo's engine."""

    corrupted_share: float = Field(default=0.3, ge=0, le=1)
    """Share of caption candidates that are corrupted on purpose, so that the evaluator has something to find."""


class BudgetSettings(Section):
    """Hard limits on the whole ledger; null means none. A run stops cleanly when one is reached."""

    calls: int | None = Field(default=None, ge=1)
    """Calls, repeated attempts included."""
    tokens: int | None = Field(default=None, ge=1)
    """Tokens read and written."""
    money: float | None = Field(default=None, gt=0)
    """Cost at the configured prices."""


class Generation(Section):
    """Captions and perturbations by language models (sections 3.1 to 3.3)."""

    llm: EngineSettings = EngineSettings()
    image_lmm: EngineSettings = EngineSettings()
    video_lmm: EngineSettings = EngineSettings()
    speech: SpeechSettings | None = None
    """Model that transcribes speech; null: none."""
    embed: EmbedSettings | None = None
    """Model whose vectors find videos without training; null: none."""
    prompts: Annotated[str, Operational("the prompt files themselves are inputs of the rules")] = "config/prompts"
    """Folder of the prompt files."""
    ledger: Annotated[str, RECORD] = "results/ledger"
    """Folder of calls and their outcomes."""
    attempts: int = Field(default=3, ge=1)
    """Most tries of a call until its answer is complete."""
    incomplete: Annotated[Literal["fail", "allow"], RECORD] = "fail"
    """Calls without an answer for now (endpoint down or busy, budget spent): fail lets the job of their shard fail;
    allow finishes it without them. Either way the next run retries exactly these.
    """
    candidates: int = Field(default=3, ge=1)
    """N_s and N_d: statics and dynamics candidates per moment."""
    questions: int = Field(default=5, ge=1)
    """N_qa: questions per moment."""
    perturbations: int = Field(default=3, ge=1)
    """N_pos and N_neg: perturbed captions of each kind."""
    frame_side: int = Field(default=448, ge=32)
    """Longer side, in pixels, of the frames given to the video LMM; smaller videos keep their size."""
    picture_side: int = Field(default=2048, ge=32)
    """Longest side, in pixels, of the keyframes given to the image LMM; larger ones are scaled down, as models do so
    anyway and some count tokens by size.
    """
    sentence_encoder: str = "all-MiniLM-L6-v2"
    """Sentence encoder for Equations 7 and 8 and for many-to-many statistics."""
    sentence_revision: str = ""
    """Branch, tag or commit of a hub model in `sentence_encoder`."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of its jobs."""
    prefetch_threads: Annotated[int, MACHINE] = Field(default=6, ge=0)
    """Extra threads, and cores, of a job whose video LMM is on a GPU (vllm, transformers): they decode the clips of the
    next batch while the model answers. 0: clips are decoded on demand.
    """
    scene_reader: SceneReader = SceneReader()
    budget: Annotated[BudgetSettings, RECORD] = BudgetSettings()

    @property
    def sentence_model(self) -> tuple[str, str]:
        """Name and revision of the sentence encoder."""
        return self.sentence_encoder, self.sentence_revision

    @property
    def clip_threads(self) -> int:
        """Threads in which a job decodes clips ahead of the video LMM: 0 unless a GPU would wait for them.

        Pictures need none: reading one takes a hundredth of the model's time for it.
        """
        return self.prefetch_threads if self.video_lmm.kind.loads_model and self.video_lmm.gpu else 0

    def roles(self) -> dict[str, EngineSettings]:
        """The configured roles, by name."""
        return {name: role for name in ALL_ROLES if (role := vars(self).get(name)) is not None}
