"""What a map of landmarks, and what follows it, will take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gnomon._memory import in_bytes
from gnomon._validation import Integer, check_parameters
from gnomon.maps.costs import evaluation_takes, explanation_takes, page_takes
from gnomon.maps.landmarks.count import Needs
from gnomon.methods.forecast import Forecast
from gnomon.scale.costs import ANSWERS, BY_BLOCKS, PEAKS, Limit, ScaleForecast, forecast_landmarks, rows_held

__all__ = ["LandmarkForecast", "forecast_with_landmarks"]

_SPREAD = 3.0  # of the time: the data decide how long a row is searched and moved
_BEFORE = ("landmarks", "scaling")  # the fit


@dataclass(frozen=True)
class LandmarkForecast(Forecast):
    """What a map of landmarks takes: a `Forecast` of which ``n_bytes`` are those of the process that calls.

    Attributes
    ----------
    n_samples, n_landmarks : int
        Rows of the table, and those of them that are fitted.
    n_workers : int or None
        Workers of one core each that share the blocks of the table; None if the process that calls does all the work.
    worker_bytes : float
        Memory of a worker at its peak: the landmarks with their search and field, or the fits of an explanation, and
        one block.
    messages : mapping of str to float
        Bytes that a worker receives (``"landmarks"``), reads (``"rows"``) and sends (``"positions"``).
    ends : tuple of Limit
        What ends below so many rows, and why.
    """

    n_samples: int = 0
    n_landmarks: int = 0
    n_workers: int | None = None
    worker_bytes: float = 0.0
    messages: Mapping[str, float] = field(default_factory=dict)
    ends: tuple[Limit, ...] = ()

    @property
    def elapsed(self) -> tuple[float, float]:
        """Least and most seconds by the clock: blocks shared by all workers, or by all threads or none without them."""
        shared = sum(seconds for name, seconds in self.durations.items() if name in BY_BLOCKS)
        own, workers = self.seconds - shared, self.n_workers
        least = own / self.n_threads + shared / (workers or self.n_threads)
        return least / self.spread, (own + shared / (workers or 1)) * self.spread

    def __str__(self) -> str:
        head = f"{self.n_landmarks:,} landmarks are fitted and {self.n_samples - self.n_landmarks:,} rows placed"
        lines = [head, super().__str__()]
        if self.n_workers is not None:
            bytes_of = ", ".join(f"{name} {in_bytes(n_bytes)}" for name, n_bytes in self.messages.items())
            lines.append(f"{self.n_workers:,} workers, {in_bytes(self.worker_bytes)} each; to and from one: {bytes_of}")
        lines += [f"ends at {limit.n_samples:,.0f} rows: {limit.what}, {limit.why}" for limit in self.ends]
        return "\n".join(lines)


def forecast_with_landmarks(
    needs: Needs, n_landmarks: int, then: Sequence[str], *, width: float, n_workers: int | None = None
) -> LandmarkForecast | None:
    """Return what a map takes, on the reference machine; None if its method does not tell what a fit takes.

    Parameters
    ----------
    needs : Needs
        Of the table and the estimator.
    n_landmarks : int
        Checked.
    then : sequence of str
        What follows, in its order, by the names of ``gnomon.forecast``.
    width : float
        Numbers stored for a row.
    n_workers : int or None, default=None

    Raises
    ------
    ValueError
        If n_workers is no positive number.
    """
    if n_workers is not None:
        check_parameters({"n_workers": Integer(1)}, {"n_workers": n_workers})
    fit = needs.foreseen(n_landmarks)
    if fit is None:
        return None
    n = needs.table.n_samples
    scale = forecast_landmarks(n, width, n_landmarks, n_workers=n_workers or 1, keep_answers=False)
    durations = {name: scale.durations[name] for name in _BEFORE} | dict(fit.durations)
    durations |= {name: scale.durations[name] for name in ("positions", *then)}
    stages = _memory(needs, fit, scale, then, n_workers)
    greatest = max(stages, key=lambda name: stages[name])
    return LandmarkForecast(
        stages[greatest],
        f"{n_landmarks:,} landmarks and the positions of {n:,} rows, {greatest}",
        "Use fewer landmarks, n_fitted=....",
        stages=stages,
        durations=durations,
        spread=_SPREAD,
        n_threads=fit.n_threads,
        n_samples=n,
        n_landmarks=n_landmarks,
        n_workers=n_workers,
        worker_bytes=scale.worker_bytes,
        messages=scale.messages,
        ends=scale.ends,
    )


def _memory(
    needs: Needs, fit: Forecast, scale: ScaleForecast, then: Sequence[str], n_workers: int | None
) -> dict[str, float]:
    """Return the bytes at the peak of each stage of the process that calls, which works on blocks if no others do."""
    count, width, held = scale.n_landmarks, needs.table.n_features, scale.client_bytes
    sizes = scale.n_samples, width, count
    own = {name: replace(peak, block=0.0) if n_workers else peak for name, peak in PEAKS.items()}
    peaks = {name: peak.of(*sizes[:2], rows_held(name, *sizes)) for name, peak in own.items()}
    reading = needs.reading(count)
    found = {"landmarks": reading, "scaling": reading}
    found |= {name: reading + taken for name, taken in (fit.stages or {"fit": fit.n_bytes}).items()}
    found["positions"] = held + needs.fit(count) if n_workers else needs.with_landmarks(count)
    references, shown = (int(rows_held(name, *sizes)) for name in ("explanation", "page"))
    of_shown = sum(of(shown, width)[0] for of in (explanation_takes, evaluation_takes, page_takes))
    takes = {
        "explanation": max(peaks["explanation"], explanation_takes(references, width)[0]),
        "evaluation": peaks["evaluation"],
        "page": needs.reading(shown) + of_shown,
        "file": 0.0,
    }
    answers = ANSWERS * scale.n_samples if "explanation" in then else 0.0
    return found | {name: held + answers + takes[name] for name in then}
