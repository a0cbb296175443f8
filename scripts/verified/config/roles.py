"""The roles of `generation` that a run may call: not every configuration annotates."""

from verified.config import Config
from verified.config.generation import ROLES, EngineSettings
from verified.extension import stages


def asked_roles(settings: Config) -> dict[str, EngineSettings]:
    """The configured roles that a run may call, by name."""
    roles = settings.generation.roles()
    if any(dataset.source.annotated_here for dataset in settings.datasets.values()):
        return roles
    asked = roles.keys() - {*ROLES}
    asked |= {role for stage in stages() for role in stage.roles(settings)}
    return {name: role for name, role in roles.items() if name in asked}
