"""List the models of the hub that a configuration needs, with the keys that name them."""

from dataclasses import dataclass
from pathlib import Path

from verified.config import Config
from verified.config.features import EMBED
from verified.config.generation import EngineSettings
from verified.config.roles import asked_roles
from verified.extension import stages

BUILT_IN = ("all-MiniLM-L6-v2", "small-resnet", "grid-conv", "packaged", "packaged-joint", "evaluator", EMBED)
"""Names that are not models of the hub: they come with the installed packages or with the workflow."""


@dataclass(frozen=True, order=True)
class Wanted:
    """A model by its name on the hub, and the branch, tag or commit of the configuration (may be empty)."""

    name: str
    revision: str = ""

    @property
    def key(self) -> str:
        """The model's key in the lock file."""
        return f"{self.name}@{self.revision}" if self.revision else self.name

    @property
    def slug(self) -> str:
        """The key as a file name."""
        return self.key.replace("/", "--")


def is_from_hub(name: str) -> bool:
    """Whether `name` is a model of the hub: neither built in nor a folder on this machine."""
    return name not in BUILT_IN and not Path(name).is_dir() and not name.startswith((".", "/", "~"))


def wanted_by_role(role: EngineSettings) -> Wanted | None:
    """The hub model that a role of text generation loads, or None."""
    if role.kind.loads_model and not role.folder and is_from_hub(role.model):
        return Wanted(role.model, role.revision)
    return None


def initial_weights(settings: Config, model: str) -> str:
    """The model whose weights initialise a retrieval model (its option `roberta`); empty for random initialisation."""
    training = settings.retrieval.training.get(model)
    return str(training.options.get("roberta", "")) if training and model in settings.retrieval.models else ""


def wanted_models(settings: Config) -> dict[Wanted, list[str]]:
    """Models of the hub → the configuration's keys that name them."""
    roles = asked_roles(settings).items()
    named = [(wanted_by_role(role), f"generation.{name}.model") for name, role in roles]
    features = settings.features
    for name, revision, key in (
        (features.video_backbone, features.video_revision, "features.video_backbone"),
        (features.text_encoder, features.text_revision, "features.text_encoder"),
        (settings.generation.sentence_encoder, settings.generation.sentence_revision, "generation.sentence_encoder"),
    ):
        named.append((Wanted(name, revision) if is_from_hub(name) else None, key))
    if settings.annotations.choose_by == "agreement":
        agreeing = Wanted(settings.annotations.joint_encoder, settings.annotations.joint_revision)
        named.append((agreeing if is_from_hub(agreeing.name) else None, "annotations.joint_encoder"))
    for name, revision, key in (model for stage in stages() for model in stage.models(settings)):
        named.append((Wanted(name, revision) if is_from_hub(name) else None, key))
    for model in settings.retrieval.models:
        if (start := initial_weights(settings, model)) and is_from_hub(start):
            named.append((Wanted(start), f"retrieval.training.{model}.model.roberta"))
    for model, given in settings.rextime.published.items():
        reader = Wanted(given.text_encoder, given.text_revision)
        named.append((reader if is_from_hub(reader.name) else None, f"rextime.published.{model}.text_encoder"))
    keys: dict[Wanted, list[str]] = {}
    for wanted, key in named:
        if wanted:
            keys.setdefault(wanted, []).append(key)
    return keys
