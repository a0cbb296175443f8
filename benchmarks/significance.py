"""Do the intervals hold the truth as often as they say, and does the test stay quiet where there is nothing to find?

    python -m benchmarks --only significance          # a few minutes

Answers of a model are drawn from a simulation whose truth is known, as often as wanted, and judged by
`verified.benchmark.intervals`, of whose code nothing is used here. A query is answered rightly where a normal score is
below a threshold. The score is the sum of independent parts: of the video and of the query (what a model finds hard,
in every training), of the training, and of the video and the query within that training. Their sizes follow from what
can be seen in a run: the recall, how alike the answers to queries of one video are (intra-class correlation), how far
two trainings agree on a query, and by how many points trainings differ.

Ends with status 1 where an interval of several trainings holds the truth in less than 93 or more than 97 of 100 draws,
or a test finds more than 5 of 100 differences that are not there, by more than three standard errors of the simulation.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm
from sides import parsed

VIDEOS, QUERIES = 56, 338
"""Of the demo's test split."""
AGREEMENT = 0.3
"""Correlation of two trainings' answers to a query; that of the demo's XML is 0.1 to 0.6 by metric."""
RELATED = 0.5
"""Share of what is hard for a model that is hard for another one as well."""
CORRELATIONS = (0.0, 0.2, 0.4)
TRAININGS = (1, 3, 5)
NOISE = {5: (1, 3), 50: (1, 4, 8)}
"""Recall in percent → standard deviations of trainings in points."""
COVERAGE, NOMINAL = (93.0, 97.0), 5.0
DRAWS, TINY, BATCH = 4000, 100, 500


@dataclass(frozen=True)
class Simulation:
    """What can be seen of a model's answers."""

    recall: float
    """Share of queries answered rightly, over all videos and trainings."""
    correlation: float
    """Of the answers of one training to two queries of one video."""
    noise: float
    """Standard deviation of the recall over trainings, of very many queries, as a share."""
    agreement: float = AGREEMENT

    def parts(self) -> dict[str, float]:
        """Variances of the score's parts, which add up to 1. Raises ValueError where no score can look like that."""
        spread = self.recall * (1 - self.recall)
        training = _hidden(self.recall, self.noise**2)
        one_video = _hidden(self.recall, self.noise**2 + self.correlation * (spread - self.noise**2)) - training
        lasting = _hidden(self.recall, self.agreement * spread)  # of video and query, in every training
        video = one_video * lasting / (1 - training)
        parts = {"training": training, "video": video, "query": lasting - video, "video again": one_video - video}
        parts["query again"] = 1 - sum(parts.values())
        if min(parts.values()) < -1e-9:
            raise ValueError(f"no such simulation: {self}")
        return {name: max(0.0, size) for name, size in parts.items()}


@cache
def _hidden(share: float, covariance: float) -> float:
    """Correlation of two normal scores whose chances of being below the threshold vary together by `covariance`."""
    if covariance <= 0:
        return 0.0
    bound = norm.ppf(share)

    def apart(correlation: float) -> float:
        both = multivariate_normal.cdf([bound, bound], cov=[[1, correlation], [correlation, 1]])
        return both - share**2 - covariance

    return brentq(apart, 0, 0.9999)


def videos(count: int = VIDEOS, queries: int = QUERIES, seed: int = 0) -> np.ndarray:
    """The video of each query, [queries]: at least two queries a video, the others by chance."""
    extra = np.random.default_rng(seed).multinomial(queries - 2 * count, np.full(count, 1 / count))
    return np.repeat(np.arange(count), 2 + extra)


def answers(
    case: Simulation,
    owner: np.ndarray,
    trainings: tuple[int, ...],
    draws: int,
    random: np.random.Generator,
    related=1.0,
) -> list[np.ndarray]:
    """Right (1) or wrong (0) for each of several models with the same truth: [trainings, queries, draws] each.

    `related`: the share of what is hard that the models have in common, 1 for trainings of a single model.
    """

    def normal(size: float, *shape: int) -> np.ndarray:
        return np.sqrt(size) * random.standard_normal((*shape, draws), dtype=np.float32)

    parts, count, queries = case.parts(), owner.max() + 1, len(owner)
    shared = normal(related * parts["video"], count)[owner] + normal(related * parts["query"], queries)
    models = []
    for number in trainings:
        own = normal((1 - related) * parts["video"], count)[owner] + normal((1 - related) * parts["query"], queries)
        score = normal(parts["video again"], number, count)[:, owner] + normal(parts["training"], number, 1)
        score += normal(parts["query again"], number, queries) + (shared + own)
        models.append((score < norm.ppf(case.recall)).astype(np.float32))
    return models


@dataclass(frozen=True)
class Rates:
    """Of 100 draws of a simulation."""

    coverage: float
    """Intervals that hold the recall."""
    same: float | None
    """Differences found (p < 0.05) between trainings of one model; None where there is no p."""
    other: float | None
    """Differences found between models of equal recall."""


def measure(case: Simulation, trainings: int, draws: int, seed: int) -> Rates:
    """Results of `verified.benchmark.intervals` on `draws` draws of a simulation."""
    from verified.benchmark.intervals import SIGNIFICANT, difference, mean_interval

    random, owner = np.random.default_rng(seed), videos()
    held, found = [], {1.0: [], RELATED: []}
    for start in range(0, draws, BATCH):
        size = min(BATCH, draws - start)
        for related, seen in found.items():
            first, second = answers(case, owner, (trainings, trainings), size, random, related)
            compared = difference(first, second, owner)
            seen.append(None if compared.p is None else compared.p < SIGNIFICANT)
        interval = mean_interval(first, owner)
        held.append((interval.low <= case.recall) & (case.recall <= interval.high))
    shares = [None if seen[0] is None else 100 * float(np.mean(np.concatenate(seen))) for seen in found.values()]
    return Rates(100 * float(np.mean(np.concatenate(held))), *shares)


def problems(rates: Rates, draws: int) -> Iterator[str]:
    """What is off by more than three standard errors."""
    low, high = COVERAGE
    if rates.same is None:
        return  # a single training: the interval does not claim to hold its noise
    if rates.coverage < low - _slack(low, draws) or rates.coverage > high + _slack(high, draws):
        yield f"coverage {rates.coverage:.1f}"
    for name, found in (("one model", rates.same), ("two models", rates.other)):
        if found > NOMINAL + _slack(NOMINAL, draws):
            yield f"{found:.1f} of 100 differences of {name} found"


def _slack(percent: float, draws: int) -> float:
    return 3 * (percent * (100 - percent) / draws) ** 0.5


def table(draws: int) -> list[str]:
    """Print the table; what is off."""
    heads = [f"{rate}, {correlation:g}" for rate in ("held", "found") for correlation in CORRELATIONS]
    print(f"| recall | ± of trainings | trainings | {' | '.join(heads)} |\n|{'---|' * (3 + len(heads))}", flush=True)
    off = []
    for recall, noises in NOISE.items():
        for noise in noises:
            for trainings in TRAININGS:
                row = []
                for correlation in CORRELATIONS:
                    case = Simulation(recall / 100, correlation, noise / 100)
                    rates = measure(case, trainings, draws, seed=trainings)
                    row.append(rates)
                    off += [f"{case}, {trainings} trainings: {what}" for what in problems(rates, draws)]
                held = [f"{rates.coverage:.1f}" for rates in row]
                found = ["–" if rates.same is None else f"{rates.same:.1f}, {rates.other:.1f}" for rates in row]
                print(f"| {recall} | {noise} | {trainings} | {' | '.join(held + found)} |", flush=True)
    return off


def main() -> None:
    options = parsed(__doc__, draws=DRAWS)
    if off := table(TINY if options.tiny else options.draws):
        sys.exit("\n".join(off))


if __name__ == "__main__":
    main()
