"""From a measure or a model to a handful of operators and their contexts, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from choquet import decomposition
from choquet.arrays import FloatArray, as_inputs, as_vector, check_option
from choquet.decomposition.methods import Made, Method, Task
from choquet.decomposition.outcome import outcome_of
from choquet.decomposition.result import Decomposition, Identified
from choquet.errors import DataError, OptionError
from choquet.lattice.ties import settled
from choquet.measures import AbstractMeasure
from choquet.scales import Units, Unwrapped, unwrapped
from choquet.walks import DataSupport, check_support
from choquet.watching import steps

if TYPE_CHECKING:
    from choquet.clustering.clusters import Clusterer

METHODS = {"contexts": "ContextTree", "clodd": "Clodd", "distinct": "Distinct"}
"""Methods that need no options: their classes in this room, which load when they are asked for."""


@overload
def decompose(
    measure: Any,
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    method: Method[Made],
    support: DataSupport | Literal["auto"] | None = "auto",
    identification: Identified | None = None,
    rng: Any = 0,
) -> Made: ...
@overload
def decompose(
    measure: Any,
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    method: Clusterer | Literal["contexts", "clodd", "distinct"] = "contexts",
    support: DataSupport | Literal["auto"] | None = "auto",
    identification: Identified | None = None,
    rng: Any = 0,
) -> Decomposition: ...
def decompose(
    measure: Any,
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    method: Method[Any] | Clusterer | Literal["contexts", "clodd", "distinct"] = "contexts",
    support: DataSupport | Literal["auto"] | None = "auto",
    identification: Identified | None = None,
    rng: Any = 0,
) -> Decomposition:
    """Describe a measure, or a model that learned one, by a few operators and when each is used.

    Parameters
    ----------
    measure : AbstractMeasure or fitted model
        A model has ``measure_``, and ``support_`` where it learned from data. It may be the last
        step of a pipeline of scalers. The decomposition then takes the data in their own units.
    X : array-like of shape (n_samples, N), optional
        Rows to describe the model on, in the units of its data. Operators are fitted to the output
        of the model on these rows. Without rows all walks count alike, and inputs are taken as
        independent and uniform.
    y : array-like of shape (n_samples,), optional
        Targets of the rows. They decide how many contexts are worth having, and they show what the
        description costs.
    method : Method, clusterer, or name, default "contexts"
        `ContextTree` grows contexts as conditions, with operators by source and by rank. `Clodd` is
        the method of the paper; `Linkage`, `FuzzyCMeans`, `Distinct` and `Clustering` are related
        methods. A name means a method with its defaults. An object with ``fit_predict`` means
        ``Clustering(clusterer=object)``.
    support : DataSupport, "auto" or None, default "auto"
        Without rows: take only walks that data support. "auto" takes the model's own support if it
        has one; None takes all walks.
    identification : Identification, optional
        What ``model.identify()`` found: which walks the data determine.
    rng : seed or numpy.random.Generator, default 0
        For draws, where there are any.

    Returns
    -------
    Decomposition
        `TreeDecomposition` from `ContextTree`, `ClusterDecomposition` from the others.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> print(decompose(g))
    2 operators describe the integral of 3 sources exactly.
      1. max, 66.7 % of walks: gpr is not the largest
      2. median, 33.3 % of walks: gpr is the largest
    >>> print(decompose(Measure.additive([0.5, 0.3, 0.2], ["gpr", "ir", "emi"])))
    1 operator describes the integral of 3 sources exactly.
      1. weighted mean: 0.5 gpr + 0.3 ir + 0.2 emi, 100.0 % of walks
    """
    model, units, names, _ = measure if isinstance(measure, Unwrapped) else unwrapped(measure)
    measure, support, bias = _measure_of(model, support)
    if names is not None and names != tuple(measure.sources):
        measure = measure.renamed(names)
    rows, targets = _data(measure, X, y, units)
    outcome = outcome_of(model)
    if outcome is not None:
        targets = None  # classes are no numbers that an integral could be off by
    again = hasattr(model, "get_params") and hasattr(model, "fit") and targets is not None
    task = Task(
        measure=measure,
        support=support,
        bias=bias,
        X=rows,
        y=targets,
        model=model if again else None,
        outcome=outcome,
        identification=identification,
        units=units,
        rng=rng,
    )
    with steps("decomposing"):
        found: Decomposition = _method_of(method).decompose(task)
    return found


def _method_of(method: Any) -> Method[Any]:
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        raise OptionError(f"method={method.__name__} is a class: give {method.__name__}()")
    if isinstance(method, str):
        check_option("method", method, METHODS)
        made: Method[Any] = getattr(decomposition, METHODS[method])()
        return made
    if hasattr(method, "fit_predict"):
        return decomposition.Clustering(clusterer=method)
    raise OptionError(
        f"method={method!r} is unknown; give ContextTree(), Clodd() or another method, a name "
        f"({', '.join(METHODS)}), or an object with fit_predict"
    )


def _data(
    measure: AbstractMeasure, X: Any, y: Any, units: Units | None
) -> tuple[FloatArray | None, FloatArray | None]:
    """Rows and targets on the common scale, or an error that says what they lack."""
    if X is None:
        if y is not None:
            raise DataError("targets y need the rows X that they belong to")
        return None, None
    rows = as_inputs(X, sources=measure.sources)
    rows = settled(rows if units is None else units.scaled(rows))
    if len(rows) < 3:
        raise DataError(
            f"{len(rows)} rows are too few to fit an operator to; give at least 3, or no X"
        )
    if y is None:
        return rows, None
    targets = np.asarray(y)
    if targets.dtype.kind in "OUS":
        return rows, None  # classes by name
    targets = as_vector(targets.ravel(), "y")
    if len(targets) != len(rows):
        raise DataError(f"y has {len(targets)} targets for {len(rows)} rows of X")
    return rows, targets if units is None else units.target(targets)


def _measure_of(model: Any, support: Any) -> tuple[Any, DataSupport | None, float]:
    """Measure, support and bias of what was given."""
    measure = model if isinstance(model, AbstractMeasure) else getattr(model, "measure_", None)
    if measure is None and hasattr(model, "decomposition_"):
        raise DataError(
            f"a {type(model).__name__} learned its operators directly and holds no measure to take "
            "apart; what it learned is in decomposition_"
        )
    if not isinstance(measure, AbstractMeasure):
        raise DataError(
            f"cannot decompose {type(model).__name__}: give a measure or a fitted model"
        )
    if isinstance(support, str):
        if support != "auto":
            raise OptionError(f"support={support!r} is unknown; give a DataSupport, 'auto' or None")
        support = getattr(model, "support_", None)
    if support is not None:
        check_support(support, measure)
    return measure, support, float(getattr(model, "intercept_", 0.0))
