"""Data and measures made by rule: the paper's examples, and fusion with a known answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray, check_option, generator
from choquet.datasets.bunch import Bunch
from choquet.errors import OptionError
from choquet.lattice import masks_by_size
from choquet.measures import Measure

_LOW_PAIRS = {"figure": 5, "caption": 4}


def make_demining(n_samples: int = 300, *, noise: float = 0.0, rng: Any = None) -> Bunch:
    """The paper's demining example: radar alone is not believed, infrared and induction are.

    If gpr is the largest input the integral is the median, otherwise the largest: two operators.

    Parameters
    ----------
    n_samples : int, default 300
        How many inputs to draw, independent and uniform on [0, 1].
    noise : float, default 0
        Standard deviation of the Gaussian noise on the target.
    rng : seed or numpy.random.Generator, optional
        Where the randomness comes from.

    Returns
    -------
    Bunch
        Data and target; `measure` holds the true measure.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, the demining example.

    Examples
    --------
    >>> demining = make_demining(rng=0)
    >>> demining.feature_names, demining.measure("gpr"), demining.measure("gpr", "ir")
    (('gpr', 'ir', 'emi'), 0.0, 1.0)
    """
    measure = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    made = make_fusion(n_samples, 3, measure=measure, noise=noise, rng=rng)
    about = (
        "Confidence in a buried mine by ground-penetrating radar (gpr), infrared (ir) and "
        f"electromagnetic induction (emi). {made.description}"
    )
    return replace(made, target_name="confidence", description=about)


def make_noise_measure(*, reading: Literal["figure", "caption"] = "figure") -> Measure:
    """The handcrafted measure of the paper's noise experiment, N = 5, with four operators.

    Parameters
    ----------
    reading : {"figure", "caption"}, default "figure"
        The caption gives the value 0.2 to the first four pairs; the figure was made with five.

    Returns
    -------
    Measure
        On five sources, x1 to x5.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Figure 4.

    Examples
    --------
    >>> g = make_noise_measure()
    >>> g("x1", "x2"), g("x2", "x3"), make_noise_measure(reading="caption")("x2", "x3")
    (0.2, 0.2, 0.4)
    """
    low = _LOW_PAIRS[check_option("reading", reading, _LOW_PAIRS)]
    values = np.zeros(32)
    values[masks_by_size(5, 1)] = 0.1
    values[masks_by_size(5, 2)] = np.where(np.arange(10) < low, 0.2, 0.4)
    values[masks_by_size(5, 3)] = 0.6
    values[masks_by_size(5, 4)] = np.where(np.arange(5) < 3, 0.6, 0.9)
    values[-1] = 1.0
    return Measure(values)


def make_fusion(
    n_samples: int = 300,
    n_sources: int = 4,
    *,
    measure: Measure | None = None,
    noise: float = 0.0,
    rng: Any = None,
) -> Bunch:
    """Inputs uniform on [0, 1], fused by the Choquet integral of a known measure.

    Parameters
    ----------
    n_samples, n_sources : int
        Size of the data.
    measure : Measure, optional
        On `n_sources` sources; by default drawn uniformly from all normal monotone measures.
    noise : float, default 0
        Standard deviation of the Gaussian noise on the target, which is not clipped.
    rng : seed or numpy.random.Generator, optional
        Where the randomness comes from.

    Returns
    -------
    Bunch
        With the true measure as ``.measure``.

    Examples
    --------
    >>> fusion = make_fusion(5, 3, measure=Measure.symmetric([1, 0, 0]), rng=0)
    >>> bool((fusion.target == fusion.data.max(axis=1)).all())
    True
    """
    if n_samples < 1:
        raise OptionError(f"n_samples={n_samples} must be at least 1")
    if not noise >= 0:
        raise OptionError(f"noise={noise} must be at least 0")
    random = generator(rng)
    if measure is None:
        measure = Measure.random(n_sources, rng=random)
    elif measure.n_sources != n_sources:
        raise OptionError(
            f"n_sources={n_sources}, but the measure has {measure.n_sources} sources; "
            "give the same number, or no measure"
        )
    inputs = random.random((n_samples, n_sources))
    target = _choquet(measure, inputs)
    if noise:
        target = target + random.normal(0.0, noise, n_samples)
    return Bunch(
        data=inputs,
        target=target,
        feature_names=measure.sources,
        target_name="fused",
        description=f"{n_samples:,} samples, inputs independent and uniform on [0, 1], target the "
        f"Choquet integral of a known measure plus Gaussian noise of deviation {noise:g}.",
        measure=measure,
    )


def _choquet(measure: Measure, inputs: FloatArray) -> FloatArray:
    """Weights of the walk times sorted inputs: the room of integrals lies above this one."""
    sorts = np.argsort(-inputs, axis=1, kind="stable")
    chain = measure.values[np.cumsum(np.int64(1) << sorts, axis=1)]
    weights = np.diff(chain, axis=1, prepend=0.0)
    total: FloatArray = (weights * np.take_along_axis(inputs, sorts, axis=1)).sum(axis=1)
    return total
