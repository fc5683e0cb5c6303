"""Everything that is worth knowing of a measure at a glance, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.frames import FrameLibrary, to_frame
from choquet.indices.distribution import uniform_distribution
from choquet.indices.global_indices import (
    distance_to_operators,
    entropy,
    favour,
    nearest_order_statistic,
    nonadditivity,
    nonmodularity,
    veto,
)
from choquet.indices.power import banzhaf, interaction, shapley
from choquet.measures import AbstractMeasure, check_measure
from choquet.operators import OrderStatistic


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Indices of a measure; printing it shows them as tables.

    Attributes
    ----------
    sources : tuple of str
        Names.
    shapley, banzhaf, veto, favour : arrays of N floats
        By source.
    interaction : array of N × N floats
        By pair, Shapley values on the diagonal.
    orness, entropy, nonadditivity, nonmodularity : float
        Of the integral as a whole.
    mean, sd : float
        Of the integral under independent uniform inputs.
    nearest : OrderStatistic
        The order statistic nearest to the integral.
    distances : dict of str to float
        To each familiar operator.
    """

    sources: tuple[str, ...]
    shapley: FloatArray
    banzhaf: FloatArray
    veto: FloatArray
    favour: FloatArray
    interaction: FloatArray
    orness: float
    entropy: float
    nonadditivity: float
    nonmodularity: float
    mean: float
    sd: float
    nearest: OrderStatistic
    distances: dict[str, float]

    def __str__(self) -> str:
        width = max(8, *(len(name) for name in self.sources))
        lines = [f"{'source':<{width}}  Shapley  Banzhaf     veto   favour"]
        columns = (self.shapley, self.banzhaf, self.veto, self.favour)
        lines += [
            f"{name:<{width}}" + "".join(f"  {column[i]:7.4f}" for column in columns)
            for i, name in enumerate(self.sources)
        ]
        lines += ["", f"{'interaction':<{width}}" + "".join(f"  {s[:7]:>7}" for s in self.sources)]
        for i, name in enumerate(self.sources):
            cells = (
                "        ·" if i == j else f"  {self.interaction[i, j]:7.4f}"
                for j in range(len(self.sources))
            )
            lines.append(f"{name:<{width}}" + "".join(cells))
        near, far = min(self.distances.items(), key=lambda item: item[1])
        lines += [
            "",
            f"orness           {self.orness:8.4f}   (1 max, 0.5 mean, 0 min)",
            f"entropy          {self.entropy:8.4f}   (0 one input decides, 1 mean)",
            f"non-additivity   {self.nonadditivity:8.4f}   (0 weighted mean)",
            f"non-modularity   {self.nonmodularity:8.4f}   (largest interaction anywhere)",
            f"uniform inputs   {self.mean:8.4f} ± {self.sd:.4f}",
            f"nearest operator {near} (distance {far:.4f}); nearest order statistic "
            + "("
            + ", ".join(f"{w:.3f}" for w in self.nearest.weights)
            + ")",
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of the indices by source, with the interactions of each pair.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame it is; the first of them that is installed by default.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from choquet import Measure
        >>> table = summary(Measure([0, 0.2, 0.3, 1], sources=["ir", "emi"])).to_frame()
        >>> table["shapley"].round(2).tolist(), table["interaction with emi"].round(2).tolist()
        ([0.45, 0.55], [0.5, nan])
        """
        pairs = self.interaction.copy()
        np.fill_diagonal(pairs, np.nan)
        columns: dict[str, Any] = {"source": list(self.sources)}
        for name in ("shapley", "banzhaf", "veto", "favour"):
            columns[name] = getattr(self, name)
        columns |= {f"interaction with {s}": pairs[:, j] for j, s in enumerate(self.sources)}
        return to_frame(columns, library)


def summary(measure: AbstractMeasure) -> Summary:
    """Indices of a measure in one object.

    Examples
    --------
    >>> from choquet import Measure
    >>> print(summary(Measure([0, 0.2, 0.3, 1], sources=["ir", "emi"])))
    source    Shapley  Banzhaf     veto   favour
    ir         0.4500   0.4500   0.7000   0.2000
    emi        0.5500   0.5500   0.8000   0.3000
    <BLANKLINE>
    interaction       ir      emi
    ir              ·   0.5000
    emi        0.5000        ·
    <BLANKLINE>
    orness             0.2500   (1 max, 0.5 mean, 0 min)
    ...
    """
    measure = check_measure(measure).to_measure()
    distribution = uniform_distribution(measure)
    nearest = nearest_order_statistic(measure)
    return Summary(
        sources=measure.sources,
        shapley=shapley(measure),
        banzhaf=banzhaf(measure),
        veto=veto(measure),
        favour=favour(measure),
        interaction=interaction(measure),
        orness=nearest.orness,
        entropy=entropy(measure),
        nonadditivity=nonadditivity(measure),
        nonmodularity=nonmodularity(measure),
        mean=distribution.mean,
        sd=distribution.sd,
        nearest=nearest,
        distances=distance_to_operators(measure),
    )
