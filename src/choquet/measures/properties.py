"""What kind of measure it is, and measures made simpler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choquet.errors import MeasureError, OptionError
from choquet.lattice import mobius, subset_sizes, zeta

if TYPE_CHECKING:
    from choquet.arrays import FloatArray
    from choquet.measures.measure import Measure

_ROUNDING = 1e-9
"""Differences up to this are rounding."""


class Properties:
    """Questions to ask of a measure that is held by all its values."""

    values: FloatArray
    sources: tuple[str, ...]

    def is_additive(self, tolerance: float = _ROUNDING) -> bool:
        """Whether it is a plain set of weights: no sources interact.

        Parameters
        ----------
        tolerance : float
            Differences up to this are rounding.

        Returns
        -------
        bool
            Whether all values are sums of those of single sources.

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure.additive([0.4, 0.6]).is_additive(), Measure([0, 0, 0, 1]).is_additive()
        (True, False)
        """
        return self.is_k_additive(1, tolerance)

    def is_k_additive(self, k: int, tolerance: float = _ROUNDING) -> bool:
        """Whether no more than k sources interact: larger Möbius coefficients vanish.

        Parameters
        ----------
        k : int
            Largest number of sources that may interact.
        tolerance : float
            Differences up to this are rounding.

        Returns
        -------
        bool
            Whether all Möbius coefficients of larger sets are 0.

        Examples
        --------
        >>> from choquet import Measure
        >>> g = Measure([0, 0.2, 0.3, 1])
        >>> g.is_k_additive(1), g.is_k_additive(2)
        (False, True)
        """
        beyond = mobius(self.values)[subset_sizes(len(self.sources)) > k]
        return bool(np.abs(beyond).max(initial=0.0) <= tolerance)

    def is_symmetric(self, tolerance: float = _ROUNDING) -> bool:
        """Whether only the number of sources counts: its integral weighs by rank alone.

        Parameters
        ----------
        tolerance : float
            Differences up to this are rounding.

        Returns
        -------
        bool
            Whether sets of one size have one value.

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure.symmetric([0.2, 0.8]).is_symmetric(), Measure([0, 0.2, 0.3, 1]).is_symmetric()
        (True, False)
        """
        sizes = subset_sizes(len(self.sources))
        return all(
            float(np.ptp(self.values[sizes == size])) <= tolerance
            for size in range(len(self.sources) + 1)
        )

    def is_normalised(self, tolerance: float = _ROUNDING) -> bool:
        """Whether all sources together have the value 1.

        Parameters
        ----------
        tolerance : float
            Differences up to this are rounding.

        Returns
        -------
        bool
            Whether g(X) = 1.

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 1, 2, 4], normal=False).is_normalised()
        False
        """
        return abs(float(self.values[-1]) - 1) <= tolerance

    def normalised(self) -> Measure:
        """The same measure, divided by the value of all sources together.

        Returns
        -------
        Measure
            With g(X) = 1.

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 1, 2, 4], normal=False).normalised().values
        array([0.  , 0.25, 0.5 , 1.  ])
        """
        from choquet.measures.measure import Measure

        total = float(self.values[-1])
        if total <= 0:
            raise MeasureError(f"g(X) is {total:g}: only a positive one can be made 1")
        monotone = bool(getattr(self, "monotone", True))
        return Measure(self.values / total, self.sources, monotone=monotone)

    def k_truncate(self, k: int) -> Measure:
        """The set function whose Möbius coefficients beyond k sources are set to 0.

        Parameters
        ----------
        k : int
            Largest number of sources that may interact.

        Returns
        -------
        Measure
            It need be neither monotone nor normal, and is marked so.

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 0.2, 0.3, 1]).k_truncate(1).values
        array([0. , 0.2, 0.3, 0.5])
        """
        from choquet.measures.measure import Measure

        if not 1 <= k <= len(self.sources):
            raise OptionError(f"k={k!r} must lie between 1 and {len(self.sources)}")
        kept = np.where(subset_sizes(len(self.sources)) <= k, mobius(self.values), 0.0)
        return Measure(zeta(kept), self.sources, monotone=False, normal=False)
