"""gSAMP: the operators of the walks that data support (the paper's Algorithm 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import OptionError
from choquet.measures import AbstractMeasure, check_measure
from choquet.walks.sorts import all_sorts, random_sorts, walk_weights
from choquet.walks.support import DataSupport, check_support


def gsamp(
    measure: AbstractMeasure,
    support: DataSupport | None = None,
    *,
    epsilon: float = 0.0,
    n_walks: int | None = None,
    rng: Any = None,
) -> FloatArray:
    """Operators of all walks, or of a random sample, that are supported well enough.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.
    support : DataSupport, optional
        Without it every walk counts as supported.
    epsilon : float, default 0
        Keep a walk if its Φ is below this; 0 keeps those with Φ = 0.
    n_walks : int, optional
        Draw this many walks at random instead of going through all N!.
    rng : seed or numpy.random.Generator, optional
        For the draw.

    Returns
    -------
    array of shape (n, N)
        One operator a walk, repeated as often as it occurs.

    Notes
    -----
    `OperatorGraph` gives the distinct operators and how often each occurs without listing walks.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Algorithm 2.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure([0, 0.2, 0.3, 1])
    >>> gsamp(g, DataSupport.from_data([[0.1, 0.9]]))
    array([[0.3, 0.7]])
    """
    check_measure(measure)
    if not epsilon >= 0:
        raise OptionError(f"epsilon={epsilon} must be at least 0")
    if n_walks is not None and n_walks < 1:
        raise OptionError(f"n_walks={n_walks} must be at least 1")
    if n_walks is None:
        sorts = all_sorts(measure.n_sources)
    else:
        sorts = random_sorts(measure.n_sources, n_walks, rng)
    if support is not None:
        check_support(support, measure)
        phi = support.phi(sorts)
        sorts = sorts[(phi < epsilon) | np.isclose(phi, 0.0)]
    return walk_weights(measure, sorts)
