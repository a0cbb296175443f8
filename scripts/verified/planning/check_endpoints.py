"""Whether each endpoint of a configuration answers one call of text, or sound, and, where its role sees, a picture."""

from collections.abc import Iterator, Mapping

import numpy as np

from verified.config.generation import EmbedSettings, EngineSettings, Generation
from verified.errors import InputError
from verified.io.sound import wave_bytes
from verified.lmm.engines import make_engine
from verified.lmm.engines.media import jpeg_of
from verified.lmm.engines.openai import addresses_of
from verified.lmm.request import Reply, Request, Sampling
from verified.lmm.speech import RATE
from verified.planning.findings import Finding

SOUND = "a second of silence"
VECTORS = {False: "a text for a vector", True: "a frame for a vector"}
LONGEST_WAIT = 60.0
"""Seconds that an answer to one of these small calls may take."""
REMEDIES = {
    "connection": "start the endpoint, or fix base_url",
    "timeout": "see whether the model is still being loaded; raise timeout_seconds if its answers take so long",
    "garbage": "base_url must lead to a server that speaks OpenAI's protocol; most end in /v1",
    "rate-limit": "wait, or lower api_slots",
    "blocked": "see what the endpoint's filter refuses",
}


def endpoint_findings(generation: Generation, roles: Mapping[str, EngineSettings]) -> Iterator[Finding]:
    """Ask every endpoint of these roles; two that share endpoint and model are asked once."""
    asked: dict[tuple, list[str]] = {}
    for name, role in roles.items():
        if role.kind.asks_endpoint:
            try:
                addresses = addresses_of(role)
            except InputError as error:
                yield Finding("problem", f"generation.{name}", str(error), error.remedy or "correct the file")
                continue
            for address in addresses:
                asked.setdefault((address, role.model, role.api_key_variable, _form(name, role)), []).append(name)
    spoken: dict[tuple, Reply | None] = {}
    for (*endpoint, form), names in asked.items():
        key = ", ".join(f"generation.{name}" for name in names)
        role = getattr(generation, names[0]).model_copy(
            update={"base_url": endpoint[0], "endpoints_file": None, "batch": False}
        )
        address = tuple(endpoint)
        if form == SOUND or form in VECTORS.values():  # who transcribes or embeds need not talk
            yield _try(role, key, form, generation)[0]
            continue
        if address not in spoken:
            finding, spoken[address] = _try(role, key, "text", generation)
            yield finding
        if form != "text" and (text := spoken[address]) is not None:  # no text, no picture
            finding, reply = _try(role, key, form, generation)
            yield finding
            if reply is not None and 0 < reply.tokens_in <= text.tokens_in:
                message = (
                    f"{role.model} read no more tokens with a picture than without: it may not see pictures at all"
                )
                yield Finding("note", key, message, "name a model that does, or ask it about a picture by hand")
    yield from _batch_findings(roles)


def _batch_findings(roles: Mapping[str, EngineSettings]) -> Iterator[Finding]:
    """Whether each endpoint that is to take batches has any."""
    tried: set[tuple] = set()
    for name, role in roles.items():
        if role.batch and (place := (role.base_url, role.api_key_variable)) not in tried:
            tried.add(place)
            from verified.lmm.engines.batches import Provider

            key, quick = f"generation.{name}.batch", {"retries": 0, "outage_seconds": LONGEST_WAIT}
            try:
                provider = Provider(role.model_copy(update=quick))
                provider.reach()
            except InputError as error:
                yield Finding("problem", key, error.problem, error.remedy or "correct the role")
            else:
                yield Finding("ok", key, f"{provider.address} takes batches")


def _form(name: str, role: EngineSettings) -> str:
    """What the calls of a role hold besides text."""
    if name in ("llm", "speech"):
        return "text" if name == "llm" else SOUND
    if isinstance(role, EmbedSettings):
        return VECTORS[role.chats]
    return "a picture" if name == "image_lmm" or role.video_input == "stills" else f"a clip as {role.video_input}"


def _try(role: EngineSettings, key: str, form: str, generation: Generation) -> tuple[Finding, Reply | None]:
    """One call; None where there is no answer."""
    patience = min(role.timeout_seconds, LONGEST_WAIT)
    try:
        quick = role.model_copy(update={"retries": 0, "api_slots": 1, "timeout_seconds": patience})
        engine = make_engine(quick, generation)
        address = getattr(engine, "address", role.engine)
        (reply,) = engine.answer([_request(form, generation.frame_side)])
    except InputError as error:
        return Finding("problem", key, error.problem, error.remedy or "correct the role"), None
    if reply.finish in ("stop", "length"):
        return Finding("ok", key, f"{role.model} at {address} answers {form} in {reply.seconds:.1f} s"), reply
    remedy = REMEDIES.get(reply.reason) or REMEDIES.get(reply.finish)
    if remedy is None:
        remedy = "see the endpoint's log" if form == "text" else f"name a model that takes {form}"
    message = f"no answer to {form} from {role.model} at {address}: {reply.reason}: {reply.detail}"
    return Finding("problem", key, message, remedy), None


def _request(form: str, side: int) -> Request:
    """A call that is as cheap as possible: a grey picture, or two frames of a clip, and one word to say."""
    grey = np.full((side * 3 // 4 // 2 * 2, side // 2 * 2, 3), 128, np.uint8)
    one_word = Sampling(max_tokens=1, temperature=0.0)
    if form == "text":
        return Request("check", "Say yes.", {}, sampling=one_word)
    if form == VECTORS[False]:
        return Request("check", "yes", {"kind": "query", "instruction": ""}, sampling=one_word)
    if form == VECTORS[True]:
        return Request("check", "", {"kind": "frame", "instruction": ""}, frames=grey[None], frame_times=(0.0,))
    if form == SOUND:
        silence = wave_bytes(np.zeros(RATE, np.float32), RATE)
        return Request("check", "", {"language": "", "seconds": "1"}, sound=silence, sampling=one_word)
    if form == "a picture":
        return Request("check", "Say yes.", {}, images=(jpeg_of(grey),), sampling=one_word)
    return Request("check", "Say yes.", {}, frames=np.stack([grey, grey]), frame_times=(0.0, 0.5), sampling=one_word)
