"""Seeds of random draws, derived from the config's seed and the names of their purpose."""

import hashlib

import numpy as np


def derive_seed(seed: int, *names: object) -> int:
    """A 63-bit seed that depends on `seed` and on each name, and on nothing else."""
    text = "\x1f".join([str(seed), *map(str, names)])
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big") >> 1


def generator(seed: int, *names: object) -> np.random.Generator:
    """A NumPy generator for `derive_seed(seed, *names)`."""
    return np.random.default_rng(derive_seed(seed, *names))
