"""Check the models that answer before a run: keys, cassettes, and each endpoint by a call of each kind of the run.

These are a text, the longest prompt of the roles, and, if a role sees, a picture, or as many frames as its longest clip
has; or sound.
"""

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from verified.config.generation import EmbedSettings, EngineSettings, Generation
from verified.errors import InputError
from verified.io.sound import wave_bytes
from verified.lmm.cassette import check_rows
from verified.lmm.client import why_empty
from verified.lmm.engines import make_engine
from verified.lmm.engines.media import jpeg_of
from verified.lmm.engines.openai import key_of
from verified.lmm.prompts import read_prompts
from verified.lmm.request import Reply, Request, Sampling
from verified.lmm.session import sampling_of
from verified.lmm.speech import RATE
from verified.lmm.tasks import Task, structured_form
from verified.lmm.thoughts import separate
from verified.stage import USUAL_SIZE, Finding, refused

PROMPT = "its longest prompt"
LONG = " ".join(["a person opens the door and walks in"] * 8)
"""A caption of 64 words."""
TEXT, PICTURE, SOUND = "text", "a picture", "a second of silence"
TEXT_VECTOR, FRAME_VECTOR = "a text for a vector", "a frame for a vector"
NO_CHAT = (SOUND, TEXT_VECTOR, FRAME_VECTOR)
"""Calls of roles that transcribe or embed."""
ONE_WORD = Sampling(max_tokens=1, temperature=0.0)
LONGEST_WAIT = 60.0
"""Longest wait for an answer to one of these small calls, in seconds."""
REMEDIES = {
    "connection": "start the endpoint, or fix base_url",
    "timeout": "see whether the model is still being loaded; raise timeout_seconds if its answers take so long",
    "garbage": "base_url must lead to a server that speaks OpenAI's protocol; most end in /v1",
    "rate-limit": "wait, or lower api_slots",
    "blocked": "look up the rules of the endpoint's filter",
}


def role_problems(roles: Mapping[str, EngineSettings]) -> Iterator[Finding]:
    """Unreadable cassettes, and API keys that the environment lacks."""
    unset, cassettes = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    odd: dict[str, tuple[InputError, list[str]]] = {}
    for name, role in roles.items():
        if role.cassette and Path(role.cassette).is_file():
            cassettes[role.cassette].append(f"generation.{name}.cassette")
        # A private endpoint may need no key; if it does, its refusal reports it.
        of_openai = role.kind.asks_endpoint and role.base_url is None
        if of_openai and not os.environ.get(role.api_key_variable):
            unset[role.api_key_variable].append(f"generation.{name}.api_key_variable")
        elif role.kind.asks_endpoint:
            try:
                key_of(role)
            except InputError as error:
                odd.setdefault(str(error), (error, []))[1].append(f"generation.{name}.api_key_variable")
    for file, keys in cassettes.items():
        try:
            check_rows(file)
        except InputError as error:
            yield refused(", ".join(keys), error)
    for error, keys in odd.values():
        yield refused(", ".join(keys), error)
    for variable, keys in unset.items():
        remedy = "export the key, or name another endpoint in base_url"
        yield Finding("problem", ", ".join(keys), f"the environment has no {variable}", remedy)


def keys_found(roles: Mapping[str, EngineSettings]) -> Iterator[Finding]:
    """The API keys that the environment has."""
    asking = {name: role.api_key_variable for name, role in roles.items() if role.kind.asks_endpoint}
    for variable in sorted(filter(os.environ.get, {*asking.values()})):
        keys = ", ".join(f"generation.{name}" for name, other in asking.items() if other == variable)
        yield Finding("ok", keys, f"{variable} is set")


def endpoint_findings(
    generation: Generation, roles: Mapping[str, EngineSettings], tasks: Iterable[Task] = (), frames: int = 2
) -> Iterator[Finding]:
    """Ask every endpoint of these roles; roles with the same endpoint and model share a call.

    `tasks` are those of the run, `frames` the frames of its longest clip.
    """
    calls: dict[tuple, dict[str, Request]] = {}
    for name, role in roles.items():
        if role.kind.asks_endpoint:
            endpoint = (role.base_url, role.model, role.api_key_variable, sampling_of(role))
            form, request = _question(name, role, generation, frames)
            calls.setdefault((endpoint, form), {})[name] = request
            if prompt := _longest_prompt(generation, role, [task for task in tasks if task.role == name]):
                calls.setdefault((endpoint, PROMPT), {})[name] = prompt
    texts: dict[tuple, Reply | None] = {}
    for (endpoint, form), requests in calls.items():
        names = list(requests)
        key, role = ", ".join(f"generation.{name}" for name in names), roles[names[0]]
        request = max(requests.values(), key=lambda request: len(request.prompt))
        if form in NO_CHAT:
            yield _try(role, key, form, request, generation)[0]
            continue
        if endpoint not in texts:
            finding, texts[endpoint] = _try(role, key, TEXT, _text_question(role), generation)
            yield finding
            if (reply := texts[endpoint]) is not None:
                yield from _habits(role, names, reply)
        if form != TEXT and (text := texts[endpoint]) is not None:  # a failed text call needs no picture
            finding, reply = _try(role, key, form, request, generation)
            yield finding
            if form != PROMPT and reply is not None and 0 < reply.tokens_in <= text.tokens_in:
                read = f"{role.model} read no more tokens with a picture than without"
                remedy = "name a model that does, or ask it about a picture by hand"
                yield Finding("note", key, f"{read}: it may not see pictures at all", remedy)


def _habits(role: EngineSettings, names: list[str], reply: Reply) -> Iterator[Finding]:
    """Properties of a model that its answer reveals: unsupported fields, and thoughts before the answer."""
    keys = [f"generation.{name}" for name in names]
    if missing := reply.notes.get("untaken"):
        remedies = {
            "max_tokens": "max_completion_tokens is sent in its place",
            "temperature": f"set {keys[0]}.sampling.temperature to 1, by which it draws",
            "response_format": f"set {keys[0]}.structured to false",
        }
        message = f"{role.model} does not take {', '.join(missing)}: its calls go without"
        remedy = "; ".join(remedies.get(name, f"{name} is left out of its calls") for name in missing)
        yield Finding("note", ", ".join(keys), message, remedy)
    parts = separate(reply.text)
    thought = reply.thought or parts.thought
    hidden = reply.notes.get("thought_tokens", 0)
    if not thought and not hidden:
        return
    share = len(thought) / max(1, len(thought) + len(parts.answer))
    used, room = hidden or round(reply.tokens_out * share), role.sampling.max_tokens
    place = "in a field of their own" if reply.thought or hidden else "in the text, from which they are taken off"
    message = f"{role.model} thinks before it answers; its thoughts come {place}; they took {used} of {room} tokens"
    more = f"raise {keys[0]}.sampling.max_tokens if answers to real questions are truncated"
    if 2 * used > room:
        message, more = f"{message}, which leaves little room", f"raise {keys[0]}.sampling.max_tokens to {8 * used}"
    yield Finding(
        "note", ", ".join(keys), message, f"{more}, or set {keys[0]}.chat_template_kwargs: {{enable_thinking: false}}"
    )


def _longest_prompt(generation: Generation, role: EngineSettings, tasks: Iterable[Task]) -> Request | None:
    """The longest prompt of the tasks with captions of `LONG` words, and the schema of its answer; None without one."""
    prompts: list[Request] = []
    for task in (task for task in tasks if task.prompted):
        with contextlib.suppress(InputError, ValueError):  # another check names a prompt that cannot be read
            prompt = read_prompts(generation.prompts, [task])[task.name]
            schema, ending = structured_form(task, 3) if role.structured else (None, "")
            slots = {name: "3" if kind == "number" else LONG for name, kind in prompt.kinds.items()}
            text = prompt.fill(slots, role.structured, ending)
            prompts.append(Request("check", text, {}, sampling=sampling_of(role), schema=schema))
    return max(prompts, key=lambda request: len(request.prompt), default=None)


def _text_question(role: EngineSettings) -> Request:
    text = "Write one short sentence about a dog that runs, and nothing else."
    return Request("check", text, {}, sampling=sampling_of(role))


def _question(name: str, role: EngineSettings, generation: Generation, frames: int) -> tuple[str, Request]:
    """The medium that a role's calls carry besides text, and a short question with it: about grey pictures."""
    if name == "llm":
        return TEXT, _text_question(role)
    if name == "speech":
        silence = wave_bytes(np.zeros(RATE, np.float32), RATE)
        return SOUND, Request("check", "", {"language": "", "seconds": "1"}, sound=silence, sampling=ONE_WORD)
    if isinstance(role, EmbedSettings) and not role.chats:
        return TEXT_VECTOR, Request("check", "yes", {"kind": "query", "instruction": ""}, sampling=ONE_WORD)
    side = min(generation.picture_side, USUAL_SIZE[0]) if name == "image_lmm" else generation.frame_side
    grey = np.full((side * 3 // 4 // 2 * 2, side // 2 * 2, 3), 128, np.uint8)
    if isinstance(role, EmbedSettings):
        slots = {"kind": "frame", "instruction": ""}
        return FRAME_VECTOR, Request("check", "", slots, frames=grey[None], frame_times=(0.0,))
    question = Request("check", "Say in one short sentence which colour is to be seen.", {}, sampling=sampling_of(role))
    if name == "image_lmm":
        return PICTURE, replace(question, images=(jpeg_of(grey),))
    clip = replace(question, frames=np.stack([grey] * frames), frame_times=tuple(n / 2 for n in range(frames)))
    return f"a clip of {frames} frames as {'pictures' if role.video_input == 'stills' else role.video_input}", clip


def _try(
    role: EngineSettings, key: str, form: str, request: Request, generation: Generation
) -> tuple[Finding, Reply | None]:
    """Make one call; the reply is None if there is no answer."""
    chats = form not in NO_CHAT
    patience = role.timeout_seconds if chats else min(role.timeout_seconds, LONGEST_WAIT)
    try:
        quick = role.model_copy(update={"retries": 0, "api_slots": 1, "timeout_seconds": patience})
        engine = make_engine(quick, generation)
        address = getattr(engine, "address", role.engine)
        (reply,) = engine.answer([request])
    except InputError as error:
        return refused(key, error, "correct the role"), None
    if chats and reply.finish in ("stop", "length") and not separate(reply.text).answer.strip():
        reply = replace(reply, thought=reply.thought or reply.text.strip())
        message = f"{role.model} at {address} does not answer {form}"
        return Finding("problem", key, message, why_empty(reply, role.sampling.max_tokens)), None
    if reply.finish in ("stop", "length"):
        message = f"{role.model} at {address} answers {form} in {reply.seconds:.1f} s"
        if (served := reply.notes.get("served_model")) and (form == TEXT or not chats):
            remedy = "set `model` to the name of the model that you want; tables print both names"
            return Finding("note", key, f"{message}, and says that {served} answered", remedy), reply
        return Finding("ok", key, message), reply
    remedy = REMEDIES.get(reply.reason) or REMEDIES.get(reply.finish)
    if remedy is None:
        remedy = "see the endpoint's log, or what its message names"
        if form not in (TEXT, PROMPT):
            remedy = f"name a model that takes {form}"
            if form.startswith("a clip"):
                remedy = f"raise the server's limit of pictures, lower dynamics.max_frames, or {remedy}"
    message = f"no answer to {form} from {role.model} at {address}: {reply.reason}: {reply.detail}"
    return Finding("problem", key, message, remedy), None
