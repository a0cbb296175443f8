"""What jobs ask of a machine, and how the request grows when a job is retried."""

from collections.abc import Callable

LONGEST_ROAD = 2
"""Priority of the jobs that most others wait for: of all that could start, Snakemake starts these first.

They are on the critical path from the videos through the evaluator's fine-tuning to the retrieval models. One less is
for jobs that join that path later and for long jobs off it; 0, the default, for short ones that only tables and figures
read.
"""


def growing(amount: int) -> Callable[..., int]:
    """A resource function: `amount` at the first attempt, twice that at the second, and so on.

    A job that a scheduler killed for its memory or its time gets more of both; see `retries` in the profiles.
    """

    def asked(wildcards, attempt: int) -> int:
        return amount * attempt

    return asked
