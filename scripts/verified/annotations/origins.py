"""The origin of a candidate: its models, prompts, frames and outcome."""

from collections.abc import Callable, Iterable

from verified.config import Config
from verified.lmm.tasks.paper import prompt_set


def generation_facts(settings: Config) -> dict[str, str]:
    """A param: the models of a configuration with their revisions, and its set of prompts."""
    generation, prompts = settings.generation, prompt_set(settings.generation.prompts)
    return {
        "model": _model_name(generation.llm),
        "image_model": _model_name(generation.image_lmm),
        "video_model": _model_name(generation.video_lmm),
        "prompts": prompts["name"],
        "prompts_sha256": prompts["sha256"],
    }


def _model_name(role) -> str:
    return f"{role.model}@{role.revision}" if role.revision else role.model


def origins(statics: Iterable[dict], dynamics: Iterable[dict], facts: dict[str, str]) -> Callable[[int, str], dict]:
    """A function of desc_id and type (statics, dynamics) that gives the columns of origin of a moment's candidates.

    `statics` and `dynamics` are rows of captions/{statics,dynamics}/SHARD.jsonl. ``model`` wrote the candidate, from
    what ``seen_by`` said of ``frames`` pictures; ``frame_times`` are those of keyframes, in seconds of the video.
    ``outcome`` is ``ok``, or ``short`` where the answer held fewer candidates than were asked for.
    """
    common = {name: facts[name] for name in ("model", "prompts", "prompts_sha256")}
    facts_of = {}
    for row in statics:
        seen = [keyframe["time"] for keyframe in row["keyframes"] if keyframe["description"] or keyframe["foreground"]]
        facts_of[row["desc_id"], "statics"] = {
            **common,
            "seen_by": facts["image_model"],
            "frames": len(seen),
            "frame_times": seen,
            "thinned": False,
            "outcome": row["reason"] or "ok",
        }
    for row in dynamics:
        facts_of[row["desc_id"], "dynamics"] = {
            **common,
            "seen_by": facts["video_model"],
            "frames": row["frames"],
            "frame_times": None,
            "thinned": row["thinned"],
            "outcome": row["reason"] or "ok",
        }

    def of(desc_id: int, kind: str) -> dict:
        return facts_of.get((desc_id, kind), {})

    return of
