"""The learners on the command line, and one fit: look at the table, scale, learn, hold out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_number
from choquet.cli.columns import Chunk, Missing, with_target
from choquet.cli.marks import advice, is_number
from choquet.cli.output import warn
from choquet.cli.tables import Table, naming_keep
from choquet.errors import DataError, TooLargeError
from choquet.scales import IDENTITY, Scale, against_target, choose_directions, fit_scale
from choquet.watching import steps

_MAX_CELLS = 1 << 26
"""Numbers that a learner which wants all rows at once may hold: half a gigabyte."""

_FEWEST = 3
"""Rows: of two, each column has one least and one largest number, and nothing in between."""

_KEPT = 20_000
"""Rows, drawn evenly, that directions and quantiles are taken from."""

_HELD_OUT = 2_000
"""Rows of these that the model is tried on."""


_SCALING_FOLDS = 3
"""Parts that rows are held out in to compare scalings."""


_FEW_CLASSES = 5
"""Classes that are learned from however few rows."""
_MOST_CLASSES = 50
"""Classes without an order that an additive model is fitted to. Each has a score of its own: of 500
rows, 10 classes took half a minute and 30 one and a half, so that more than these take minutes."""


_TELLING = 10
"""Rows from which on equal columns are no accident."""

_ROUNDING = 1e-12
"""Distance from 1 of a correlation that is 1 but for rounding."""


class Learner(NamedTuple):
    """One row of the table of learners."""

    estimator: str
    """Name of the class."""
    chunked: bool
    """Whether statistics are enough, so that files of any size can be learned from."""
    options: tuple[str, ...]
    """What it takes of the options on the command line."""
    classifies: bool = False
    """Whether the target is a class."""
    raw: bool = False
    """Whether it takes columns as they are: in any unit and direction, with values missing."""
    size: Callable[[Any], int] = lambda model: len(model.measure_.sources)
    """How many numbers a fitted model holds."""


_SHAPE = ("monotone", "normal", "fit_intercept")

_TREE = ("max_leaves", "l2", "prune", "merge")

_TERMS = ("monotone", "max_terms", "max_order")


def _values(model: Any) -> int:
    """Values of a measure that are free, or coefficients where it has few, for each measure."""
    n, k = len(model.measure_.sources), getattr(model, "k_additive", None)
    each = 2**n - 2 if k is None else sum(comb(n, j) for j in range(1, k + 1)) - 1
    return each * len(getattr(model, "measures_", (0,)))


def _weights(model: Any) -> int:
    parts = getattr(model, "decompositions_", None) or [model.decomposition_]
    return sum(part.n_operators * (len(part.sources) + 1) for part in parts)


def _numbers(model: Any) -> int:
    return int(model.n_numbers_)


LEARNERS: dict[str, Learner] = {
    "choquet": Learner(
        "ChoquetRegressor", True,
        (*_SHAPE, "penalty", "alpha", "prior", "prior_alpha", "k_additive", "fill"),
        size=_values,
    ),
    "additive": Learner("ChoquetAdditiveRegressor", False, _TERMS, raw=True, size=_numbers),
    "additive-classifier": Learner(
        "ChoquetAdditiveClassifier", False, (*_TERMS, "ordinal"), True, raw=True, size=_numbers
    ),
    "cv": Learner("ChoquetRegressorCV", False, _SHAPE, size=_values),
    "classifier": Learner(
        "ChoquetClassifier", False, ("monotone", "ordinal", "alpha"), True, size=_values
    ),
    "contextual": Learner("ContextualRegressor", False, ("convex", *_TREE), size=_weights),
    "contextual-classifier": Learner("ContextualClassifier", False, _TREE, True, size=_weights),
    "owa": Learner("OWARegressor", True, ()),
    "linear": Learner("LinearConvexSumRegressor", True, ()),
    "lambda": Learner("LambdaRegressor", True, ()),
    "gradient": Learner("GradientDescentRegressor", True, ()),
}  # fmt: skip
"""Learners by the name they have on the command line."""


@dataclass(frozen=True)
class FitOptions:
    """What the user asked of `fit`; options of the learner that were not given are left out."""

    target: str | None
    sources: Sequence[str]
    scaling: str
    directions: str
    lower: Sequence[str]
    learner: str
    folds: int
    missing: Missing
    delimiter: str | None
    learning: dict[str, Any]
    categories: Sequence[str] = ()
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """Sources that are found to hold categories: "nominal", or their levels from low to high."""
    words: frozenset[str] = frozenset()
    """Those of them that are words, not numbers."""


@dataclass
class _Look:
    """What a first pass over the table sees: moments of the columns, the target last, and rows."""

    rng: np.random.Generator
    n: int = 0
    low: Any = np.inf
    high: Any = -np.inf
    mean: Any = 0.0
    square: Any = 0.0
    """Sum of squared differences from the mean."""
    rows: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None
    scaling: str | None = None
    """What "auto" came to mean, for learners that are tried one after the other."""

    def join(self, X: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> None:
        if X.dtype == object:  # words have no moments, and who learns from them asks for none
            self._keep(X, labels)
            self.n += len(X)
            return
        n, mean = len(X), X.mean(axis=0)
        total, away = self.n + n, mean - self.mean
        self.low, self.high = np.minimum(self.low, X.min(axis=0)), np.maximum(self.high, X.max(0))
        self.square = self.square + ((X - mean) ** 2).sum(axis=0) + away**2 * (self.n * n / total)
        self.mean = self.mean + away * (n / total)
        self._keep(X, labels)
        self.n = total

    def _keep(self, X: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> None:
        """Keep some rows, each with the same chance, however many come."""
        here = np.arange(self.n, self.n + len(X))
        place = np.where(here < _KEPT, here, (self.rng.random(len(X)) * (here + 1)).astype(int))
        kept = place < _KEPT
        if self.rows is None:
            self.rows = np.empty((0, X.shape[1]), dtype=X.dtype)
            self.labels = None if labels is None else np.empty(0, dtype=object)
        more = max(0, min(_KEPT, self.n + len(X)) - len(self.rows))
        self.rows = np.concatenate([self.rows, np.empty((more, X.shape[1]), dtype=X.dtype)])
        self.rows[place[kept]] = X[kept]
        if labels is not None and self.labels is not None:
            self.labels = np.concatenate([self.labels, np.empty(more, dtype=object)])
            self.labels[place[kept]] = labels[kept]


class Job:
    """One fit: two passes over a table, the first for scales, the second to learn."""

    def __init__(
        self, table: Table, sources: tuple[str, ...], target: str, options: FitOptions
    ) -> None:
        self.table, self.sources, self.target, self.options = table, sources, target, options
        self.learner = LEARNERS[options.learner]
        self.classify = self.learner.classifies
        self.n_rows = self.n_dropped = 0
        self.scaling, self.note = options.scaling, None  # type: str, str | None
        self.directions: Mapping[str, Any] = {}
        self._room: Any = import_module("choquet.estimators")
        given: dict[str, Any] = {"n_jobs": None} if options.learner == "classifier" else {}
        given |= options.learning
        if self.learner.raw:
            given.pop("monotone", None)  # directions are not known yet
            given |= {"ordered": given.pop("ordinal")} if "ordinal" in given else {}
        if options.kinds:
            given["categories"] = {sources.index(a): b for a, b in options.kinds.items()}
        self.estimator = getattr(self._room, self.learner.estimator)(**given)
        if "random_state" in self.estimator.get_params():
            self.estimator.set_params(random_state=0)  # the same file gives the same model

    def fit(self, look: _Look | None = None) -> Any:
        """The model, in the units of the data; a first look is taken if none is given."""
        self.prepared(self.looked() if look is None else look)
        if self.learner.raw:
            learned = self._learn([IDENTITY] * len(self.sources), IDENTITY)
            self.model = learned.rename(self.sources, self.target)
            return self.model
        scales, target = self.scales
        self._tell_against(scales)
        if self._target_scale == "fitted" and hasattr(self.estimator, "free_target_"):
            self.estimator.free_target_ = True
        learned = self._learn(scales, target)
        self.model = self._room.InUnits.from_parts(
            learned, scales, sources=self.sources, target=target, target_name=self.target,
            like=self.whole(),
        )  # fmt: skip
        return self.model

    def _tell_against(self, scales: list[Scale]) -> None:
        """Which sources run against the target where they were not to be turned round."""
        if self.classify or not getattr(self.estimator, "monotone", False):
            return
        X, y = self.kept()
        whole = ~np.isnan(X).any(axis=1)
        Z = np.stack([one(X[whole, k]) for k, one in enumerate(scales)], axis=1)
        against = against_target(Z, y[whole], self.sources)
        turned = [name for name in against if name in self.options.lower]
        if against:
            verb = "falls" if len(against) == 1 else "fall"
            told = f"leave {','.join(turned)} out of" if turned else "try"
            named = "" if turned else f" {','.join(against)}"
            warn(
                f"note: {', '.join(against)} {verb} where {self.target} rises, which this learner "
                f"cannot follow; {told} --lower-is-better{named}"
            )

    def prepared(self, look: _Look) -> Job:
        """The job when it has looked at the columns: scales and directions are known."""
        self.look = look
        if look.n < _FEWEST:
            rows = "one row is" if look.n == 1 else "two rows are"
            raise DataError(
                f"{rows} too few to learn from: ranges of columns and a measure need {_FEWEST}"
            )
        if self.classify:
            self._check_classes()
        if not self.learner.raw:
            self.scales = self._scales()
            return self
        self.scaling = "none"
        if self.options.learning.get("monotone"):
            self.directions = self._directions()
            signs = {"higher": 1, "lower": -1}
            found = {
                k: signs[self.directions[name]]
                for k, name in enumerate(self.sources)
                if self.options.kinds.get(name) != "nominal"
            }
            self.estimator.set_params(monotonic_cst=found)
        return self

    def _check_classes(self) -> None:
        """Refuse a target with fewer than two rows a class, or with more classes than time."""
        assert self.look.labels is not None
        counts = Counter(self.look.labels.tolist())
        n = len(self.look.labels)
        slow = self.learner.raw and not self.options.learning.get("ordinal")
        if len(counts) > _FEW_CLASSES and 2 * len(counts) > n:
            why, else_ = "are too many to learn", "choose another --target"
        elif slow and len(counts) > _MOST_CLASSES:
            why = f"are too many for an additive model: more than {_MOST_CLASSES} take very long"
            else_ = "put rare ones together, or add --ordinal if they have an order"
        else:
            return
        shown = next(iter(counts))
        told = advice(shown)
        if told is None and all(map(is_number, counts)):
            told = "these are numbers: use --learner additive"
        raise DataError(
            f"{self.table.name}, column {self.target!r}: {len(counts):,} classes in {n:,} rows, "
            f"such as {shown!r}, {why}; {told or else_}"
        )

    def looked(self) -> _Look:
        """What a first pass over the table sees."""
        look = _Look(np.random.default_rng(0))
        for chunk in self._chunks("looking at the columns"):
            if len(chunk.X):
                look.join(chunk.X, chunk.labels)
        return look

    # -- rows --------------------------------------------------------------------------------------

    def _chunks(self, title: str) -> Iterator[Chunk]:
        columns = self.sources if self.classify else (*self.sources, self.target)
        text = self.target if self.classify else None
        self.n_rows = self.n_dropped = 0
        with steps(title, self.table.n_bytes) as advance:
            chunks = self.table.chunks(
                columns, words=self.options.words, text=text, missing=self.options.missing
            )
            for chunk in naming_keep(chunks) if self.learner.raw else chunks:
                self._check_levels(chunk)
                if not self.classify and self.options.missing == "keep":
                    chunk = with_target(chunk)
                self.n_rows += len(chunk.X)
                self.n_dropped += chunk.n_dropped
                advance(chunk.n_bytes)
                yield chunk
        if not self.n_rows:
            raise DataError(f"{self.table.name} has no rows with all values; nothing to learn from")

    def _check_levels(self, chunk: Chunk) -> None:
        """Refuse words that are not among the levels that were given."""
        for name, levels in self.options.kinds.items():
            if levels == "nominal":
                continue
            met = {cell for cell in chunk.X[:, self.sources.index(name)].tolist() if cell == cell}
            if strange := sorted(map(str, met - {None, *levels})):
                raise DataError(
                    f"{self.table.name}, column {name!r} holds {strange[0]!r}, which is not among "
                    f"its levels; say where it stands: --levels '{name}={' < '.join(levels)} < ...'"
                )

    def _targets(self, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = labels.astype(str)
        return _levels(found) if self.options.learning.get("ordinal") else found

    def kept(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The rows that were kept, and their targets."""
        assert self.look.rows is not None
        rows, n = self.look.rows, len(self.sources)
        if self.classify:
            assert self.look.labels is not None
            return rows[:, :n], self._targets(self.look.labels)
        return rows[:, :n], rows[:, n].astype(np.float64)

    # -- scales ------------------------------------------------------------------------------------

    def _scales(self) -> tuple[list[Scale], Scale]:
        """Of the sources, and of the target."""
        look, n = self.look, len(self.sources)
        flat = [self.sources[k] for k in np.flatnonzero(look.high[:n] <= look.low[:n])]
        if flat:
            warn(f"note: {', '.join(map(repr, flat))} never changes; leave it out of --sources")
        self.directions = self._directions()
        if self.scaling == "auto":
            if look.scaling is None:
                look.scaling = self._best_scaling()
            self.scaling = look.scaling
        scales = [self._scale(k, self.directions[name]) for k, name in enumerate(self.sources)]
        if self.classify or self._target_scale != "fitted":
            return scales, IDENTITY if self.classify else self._scale(n, "higher")
        X, y = self.kept()
        Z = np.stack([one(X[:, k]) for k, one in enumerate(scales)], axis=1)
        return scales, import_module("choquet.estimators.commensurate").fit_target(Z, y)

    @property
    def _target_scale(self) -> str:
        """How the target is scaled: as the sources are, but its range is learned."""
        return self.scaling if self.scaling in ("none", "standard") else "fitted"

    def _best_scaling(self) -> str:
        """Columns as they are, in one range for all, or each in its own: as held-out rows say.

        Scores between 0 and 1 that all have much the same range are taken as they are. Of other
        columns three integrals are tried: of the columns as they are, of columns in one unit and a
        target in another, and one that scales each column. The first is taken that predicts as well
        as the best, within one standard error of the difference. Which comes first is a matter of
        ranges: columns of one unit have much the same, so that the simplest comes first; columns
        whose ranges differ are in units of their own, unless rows say clearly that they are not.
        """
        n, low, high = len(self.sources), self.look.low, self.look.high
        if not self.classify and low[n] == high[n]:
            return "minmax"  # so that the scale of the target can say that it is constant
        scores = low.min() >= 0 and high.max() <= 1
        if scores and _alike(low, high):
            return "none"
        turned = any(one != "higher" for one in self.directions.values())
        if self.classify or turned or self.options.missing == "keep":
            return "minmax"
        room = self._room
        tries = [("none", "none"), ("common", "fitted"), ("minmax", "fitted")]
        if not _alike(low[:n], high[:n]):
            tries.reverse()
        models = [
            room.InUnits(
                room.ChoquetRegressor(), scale=room.Commensurate(method=method), target=target
            )
            for method, target in tries
        ]
        compare = import_module("choquet.estimators.held_out").compare
        found = compare(models, *self.tried_on(), folds=_SCALING_FOLDS)
        known = [(one.lost, how) for one, (how, _) in zip(found, tries, strict=True) if one]
        if not known:
            return "minmax"
        best = min((lost for lost, _ in known), key=lambda lost: float(lost.mean()))
        return next(how for lost, how in known if _hardly_worse(lost, best))

    def notes(self) -> list[str]:
        """Sources that one seldom means to learn from: row numbers, copies, the target itself."""
        X, y = self.kept()
        found, first = [], {}  # type: list[str], dict[bytes, str]
        counters = self._counters()
        if counters:
            rest = ",".join(name for name in self.sources if name not in counters)
            named = ", ".join(map(repr, counters))
            verb = "counts" if len(counters) == 1 else "count"
            found.append(f"{named} only {verb} the rows; keep the others with --sources {rest}")
        if len(X) < _TELLING:
            return found
        if not self.classify:
            rows = np.column_stack([*(column for _, column in self._numbers(X)), y])
            often = np.unique(rows, axis=0, return_counts=True)[1]
            if len(often) >= _TELLING and often.min() > 1:
                found.append(
                    f"every row comes {often.min()} times or more, and intervals take each as an "
                    "observation of its own; if they are copies, keep one of each"
                )
        for name, column in self._numbers(X):
            like = first.setdefault(column.tobytes(), name)
            flat = (column == column[0]).all()
            if like != name and not flat:
                found.append(f"{name!r} is a copy of {like!r}; one of them is enough")
            if not flat and len(self.sources) > 1 and name not in counters and _tells(column, y):
                found.append(
                    f"{name!r} gives {self.target!r} exactly; leave it out if it is known only "
                    "with the target"
                )
        return found

    def _numbers(self, X: npt.NDArray[Any]) -> list[tuple[str, FloatArray]]:
        """The sources that are numbers, each with its values in rows."""
        return [
            (name, X[:, k].astype(np.float64) + 0.0)
            for k, name in enumerate(self.sources)
            if name not in self.options.words
        ]

    def _counters(self) -> list[str]:
        """Sources that number the rows one by one, as names of samples do."""
        X, n = self.kept()[0], self.look.n
        if n > _KEPT or n < 3:
            return []
        return [name for name, column in self._numbers(X) if (np.diff(column) == 1).all()]

    def _scale(self, k: int, direction: Any) -> Scale:
        """From the whole table where moments are enough, else from the rows kept."""
        look, how = self.look, self.scaling
        column = np.array([look.low[k], look.high[k]])
        if how == "common":
            n = len(self.sources)
            column = np.array([look.low[:n].min(), look.high[:n].max()])
        if how == "standard":
            deviation = np.sqrt(look.square[k] / look.n)
            column = look.mean[k] + deviation * np.array([-1.0, 1.0])
        elif how == "quantiles":
            column = self.kept()[0][:, k]
        name = self.sources[k] if k < len(self.sources) else "the target"
        return fit_scale(column, direction=direction, method=how, name=name)

    def _directions(self) -> Mapping[str, Any]:
        given = dict.fromkeys(self.options.lower, "lower")
        if self.options.directions != "auto":
            return dict.fromkeys(self.sources, self.options.directions) | given
        X, y = self.kept()
        X = self._in_order(X)
        level = _order(y, ordered=bool(self.options.learning.get("ordinal")))
        given |= {a: "higher" for a, b in self.options.kinds.items() if b == "nominal"}
        # Data that are to be taken as they are point the way they do.
        usual = "higher" if self.options.scaling == "none" else "auto"
        asked = [given.get(name, usual) for name in self.sources]
        whole = ~np.isnan(X).any(axis=1)
        level = np.zeros(len(X)) if level is None else level
        chosen, self.note = choose_directions(asked, X[whole], level[whole], names=self.sources)
        return dict(zip(self.sources, chosen, strict=True))

    def _in_order(self, X: npt.NDArray[Any]) -> FloatArray:
        """Rows as numbers: of a category the place among its levels, or zero if they have none."""
        X = X.copy()
        for name, levels in self.options.kinds.items():
            k = self.sources.index(name)
            place = {} if levels == "nominal" else {level: i for i, level in enumerate(levels)}
            X[:, k] = [place.get(cell, np.nan if place else 0.0) for cell in X[:, k].tolist()]
        return X.astype(np.float64)

    # -- learning ----------------------------------------------------------------------------------

    def _learn(self, scales: list[Scale], target: Scale) -> Any:
        n = len(self.sources)

        def scaled() -> Iterator[tuple[FloatArray, npt.NDArray[Any]]]:
            for chunk in self._chunks("learning"):
                inputs = chunk.X[:, :n]
                if not self.learner.raw:
                    inputs = np.stack([one(inputs[:, k]) for k, one in enumerate(scales)], axis=1)
                y = chunk.labels
                yield inputs, target(chunk.X[:, n].astype(np.float64)) if y is None else y

        if self.learner.chunked:
            from choquet.estimators.chunks import fit_chunks

            return fit_chunks(self.estimator, scaled(), sources=self.sources)
        held: list[tuple[FloatArray, npt.NDArray[Any]]] = []
        cells = 0
        for X, y in scaled():
            cells += X.size
            few = self.classify or self.options.kinds
            if cells > _MAX_CELLS and self.learner.raw and not few:
                from choquet.estimators import fit_additive_chunks

                return fit_additive_chunks(self.estimator, scaled, sources=self.sources)
            if cells > _MAX_CELLS:
                raise TooLargeError(
                    f"the learner {self.options.learner} needs all rows at once, and "
                    f"{self.table.name} holds more than {_MAX_CELLS:,} numbers; "
                    "use --learner choquet, which takes any number of rows"
                )
            held.append((X, y))
        X, y = (np.concatenate(parts) for parts in zip(*held, strict=True))
        return self.estimator.fit(X, self._targets(y) if self.classify else y)

    # -- quality -----------------------------------------------------------------------------------

    def quality(self) -> dict[str, Any]:
        """Errors on rows learned from and on rows held out, beside the mean and a linear model."""
        X, y = self.kept()
        answers = self._answers(X)
        if self.classify:
            found: dict[str, Any] = {"accuracy": float(np.mean(answers == y))}
        else:
            error, spread = float(np.mean((answers - y) ** 2)), float(np.var(y))
            found = {"rmse": error**0.5, "r2": 1 - error / spread if spread > 0 else None}
        if not self.options.folds:
            return {**found, "held_out": None}
        tried = import_module("choquet.estimators.held_out").held_out(
            self.whole(), *self.tried_on(), folds=self.options.folds, **self._told_others()
        )
        if tried is None:
            return {**found, "held_out": None}
        errors = {name: score.error for name, score in tried.scores.items()}
        if self.classify:
            classes, counts = np.unique(self.tried_on()[1], return_counts=True)
            more: dict[str, Any] = {"rarest": str(classes[np.argmin(counts)])}
        else:
            more = {"r2": tried.r2(), "linear_r2": tried.r2("linear")}
        return {**found, "held_out": {**tried.to_dict(), **errors, **more}}

    def _told_others(self) -> dict[str, Any]:
        """What simple answers take: numbers, and their names."""
        if not self.options.kinds:
            return {"sources": self.sources}
        room = import_module("choquet.estimators.additive.columns")
        columns = self.model.columns_
        numbers, names = room.indicators(room.encode(self.tried_on()[0], columns), columns)
        return {"numbers": numbers, "sources": names}

    def _answers(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.learner.raw:
            return np.asarray(self.model.nameless().predict(X))
        units = self.model.units_
        answers = self.model.estimator_.predict(units.scaled(X))
        return np.asarray(answers if self.classify else units.output(answers))

    def tried_on(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The rows, not too many, that are held out in turn, and their targets."""
        X, y = self.kept()
        step = max(1, -(-len(X) // _HELD_OUT))
        return X[::step], y[::step]

    def whole(self) -> Any:
        """The learner with all that it does to the columns, not fitted."""
        if self.learner.raw:
            return self.estimator
        scale = self._room.Commensurate(directions=self._given(), method=self.scaling)
        return self._room.InUnits(self.estimator, scale=scale, target=self._target_scale)

    def _given(self) -> Any:
        """Directions as they are to be found again in each fold."""
        places = {name: k for k, name in enumerate(self.sources)}
        asked = self.options.directions
        asked = "higher" if asked == "auto" and self.options.scaling == "none" else asked
        found: dict[int, Any] = dict.fromkeys(places.values(), asked)
        found |= {places[name]: "lower" for name in self.options.lower}
        return found if self.options.lower else asked


def _alike(low: FloatArray, high: FloatArray) -> bool:
    """Whether each range covers half of what all of them cover together, as in one unit."""
    # By halves: the whole may be more than the largest number.
    return bool((high / 2 - low / 2 >= (high.max() / 2 - low.min() / 2) / 2).all())


def _hardly_worse(lost: FloatArray, best: FloatArray) -> bool:
    """Whether losses are above the best, row by row, by at most one standard error."""
    more = lost - best
    return bool(more.mean() <= more.std() / np.sqrt(len(more)))


def _order(y: npt.NDArray[Any], *, ordered: bool) -> FloatArray | None:
    """Targets as numbers that have an order; None for classes that have none."""
    from choquet.scales.directions import levels_of

    return np.unique(y, return_inverse=True)[1].astype(float) if ordered else levels_of(y)


def _tells(column: FloatArray, y: npt.NDArray[Any]) -> bool:
    """Whether a column is the target in other units, or under other names of the classes."""
    there = ~np.isnan(column)
    if y.dtype.kind != "f":
        pairs = set(zip(column[there].tolist(), y[there].tolist(), strict=True))
        sizes = len({a for a, _ in pairs}), len({b for _, b in pairs})
        return sizes == (len(pairs), len(pairs)) and 1 < len(pairs) <= len(column) / 2
    if not there.all() or (y == y[0]).all():
        return False
    return bool(abs(np.corrcoef(column, y)[0, 1]) > 1 - _ROUNDING)


def _levels(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels that are all numbers as numbers, so that 10 comes after 9; others as they are."""
    try:
        numbers = np.array([as_number(str(label)) for label in labels])
    except ValueError:
        return labels
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers
