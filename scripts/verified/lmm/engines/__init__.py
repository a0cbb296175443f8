"""The engines behind text generation, each in a separate file; `config/engines.py` lists them."""

from importlib import import_module

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.request import Engine, Request, Sampling


def make_engine(role: EngineSettings, generation: Generation) -> Engine:
    """The engine configured for a role. Raises InputError when it cannot be set up."""
    return import_module(role.kind.module).make(role, generation)


def probe_picture(role: EngineSettings, generation: Generation) -> int:
    """Tokens of a grey picture, 4 to 3, with `frame_side` pixels on its longer side.

    Two calls of the endpoint count it, one with the picture and one without. Raises InputError.
    """
    import numpy as np

    from verified.lmm.engines.media import jpeg_of

    side = generation.frame_side
    picture = jpeg_of(np.full((side * 3 // 4, side, 3), 128, np.uint8))
    requests = [
        Request("probe", "Say yes.", {}, images=images, sampling=Sampling(max_tokens=1, temperature=0.0))
        for images in ((), (picture,))
    ]
    counted = []
    for request in requests:
        (reply,) = make_engine(role, generation).answer([request])
        if reply.finish not in ("stop", "length"):
            raise InputError(f"no answer to a picture from {role.model}: {reply.reason}: {reply.detail}")
        counted.append(reply.tokens_in)
    tokens = counted[1] - counted[0]
    if tokens <= 0:
        raise InputError(
            f"{role.model}'s endpoint does not count the tokens of a picture ({counted[0]} without, {counted[1]} with)",
            remedy="set tokens_per_image of the role",
        )
    return tokens
