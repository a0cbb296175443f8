"""The delay between a movie's track and the track with its audio description, by cross-correlation (Equation 1).

The description track is the movie's sound with a narrator mixed in, sometimes later or earlier by a constant delay.
Twenty windows over the movie each give a delay. If one is off the median by more than a tenth of a second, the two were
cut differently, and the movie is refused.
"""

from dataclasses import dataclass
from statistics import median_low

import numpy as np

WINDOWS = 20
TOLERANCE_SECONDS = 0.1 + 1e-9
SILENCE = 1e-8
"""Variance below which a window is silent."""


@dataclass(frozen=True)
class Alignment:
    """delay: seconds by which the description runs late: movie time = description time − delay; None if refused.

    delays, peaks: per window the delay found and its normalised correlation in [-1, 1]; NaN for a silent window.
    reason: why the movie was refused, empty otherwise.
    """

    delay: float | None
    delays: tuple[float, ...]
    peaks: tuple[float, ...]
    reason: str = ""


def align_tracks(
    movie: np.ndarray,
    described: np.ndarray,
    rate: int,
    window_seconds: float = 60.0,
    most_seconds: float = 120.0,
) -> Alignment:
    """Align two tracks [samples], `rate` a second; delays are searched between −most_seconds and most_seconds.

    Windows are spread evenly over the movie, away from both ends by `most_seconds` (or a quarter of a short movie), so
    that no allowed delay moves one out of a description of about the movie's length. Each is correlated with the
    segment of the description that any allowed delay could bring it to, with local mean and variance removed. A movie
    is refused if a window is silent in the movie, or if two windows disagree.
    """
    length = min(round(window_seconds * rate), len(movie) // 2)
    reach = round(most_seconds * rate)
    if length < rate // 2 or len(described) < length:
        return Alignment(None, (), (), "too short: less than a second of movie, or less description than a window")
    delays, peaks = [], []
    margin = min(reach, (len(movie) - length) // 4)
    for first in np.linspace(margin, len(movie) - length - margin, WINDOWS).round().astype(int):
        low, high = max(0, first - reach), min(len(described), first + length + reach)
        lag, peak = _best_lag(movie[first : first + length], described[low:high])
        delays.append(float(low + lag - first) / rate if peak == peak else float("nan"))
        peaks.append(peak)
    reason = ""
    audible = [delay for delay in delays if delay == delay]
    middle = float(median_low(audible)) if audible else float("nan")
    if len(audible) < len(delays):
        reason = f"{len(delays) - len(audible)} of {len(delays)} windows are silent or beyond the description's end"
    else:
        off = [(abs(delay - middle), window) for window, delay in enumerate(delays)]
        distance, window = max(off)
        if distance > TOLERANCE_SECONDS:
            count = sum(delta > TOLERANCE_SECONDS for delta, _ in off)
            reason = (
                f"{count} of {len(delays)} windows disagree with the median delay of {middle:.3f} s:"
                f" window {window + 1} finds {delays[window]:.3f} s"
            )
    return Alignment(None if reason else middle, tuple(delays), tuple(peaks), reason)


def _best_lag(window: np.ndarray, segment: np.ndarray) -> tuple[int, float]:
    """Offset of `window` in `segment` with the highest normalised correlation, and that correlation."""
    from scipy.signal import correlate  # a second's import, which each start of a command would pay

    window = window.astype(np.float64) - window.mean()
    power = float(window @ window)
    if len(segment) < len(window) or power < SILENCE * len(window):
        return 0, float("nan")
    segment = segment.astype(np.float64)
    products = correlate(segment, window, mode="valid", method="fft")
    sums = np.concatenate([[0.0], np.cumsum(segment)])
    squares = np.concatenate([[0.0], np.cumsum(segment**2)])
    count = len(window)
    total = sums[count:] - sums[:-count]
    spread = np.maximum(squares[count:] - squares[:-count] - total**2 / count, SILENCE * count)
    scores = products / np.sqrt(spread * power)
    lag = int(scores.argmax())
    return lag, float(scores[lag])
