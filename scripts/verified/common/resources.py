"""What jobs ask of a machine, and how it grows when one is tried again."""

from collections.abc import Callable


def growing(amount: int) -> Callable[..., int]:
    """A resource function: `amount` at the first attempt, twice that at the second, and so on.

    A job that a scheduler killed for its memory or its time gets more of both; see `retries` in the profiles.
    """

    def asked(wildcards, attempt: int) -> int:
        return amount * attempt

    return asked
