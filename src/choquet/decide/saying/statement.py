"""What all statements share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from choquet.decide.saying.setting import Row, Setting
from choquet.errors import SourceError


@dataclass(frozen=True)
class Statement:
    """Something that was said.

    Parameters
    ----------
    firm : float, default 1
        How firmly: what is said less firmly is given up first.
    """

    firm: float = field(default=1.0, kw_only=True, repr=False)
    about: ClassVar[str] = "criteria"

    def rows(self, setting: Setting) -> list[Row]:
        """Rows on measures."""
        return self._rows(setting)

    def names(self) -> tuple[str, ...]:
        """Alternatives that it names."""
        return self._names()

    def _rows(self, setting: Setting) -> list[Row]:
        raise NotImplementedError

    def _names(self) -> tuple[str, ...]:
        return ()

    def to_rows(self, sources: Sequence[str]) -> Any:
        """Rows for ``ChoquetRegressor(expert=…)``, by the names of its sources.

        Examples
        --------
        >>> from choquet.decide import Importance
        >>> rows = Importance("safety", "comfort").to_rows(["safety", "comfort"])
        >>> rows.matrix.toarray().tolist(), rows.lower.tolist()
        ([[0.0, 1.0, -1.0, 0.0]], [1e-06])
        """
        import scipy.sparse as sp

        from choquet.learning.problem import Rows

        if self.names():
            raise SourceError(
                f"{self.names()[0]!r} is an alternative, and rows of data have no names: give its "
                "scores, as in Prefer((0.9, 0.2), (0.1, 0.8))"
            )
        setting = Setting(tuple(sources))
        rows = self.rows(setting)
        lower = [row.bound + (STRICT if row.strict else 0.0) for row in rows]
        upper = [row.bound if row.equal else np.inf for row in rows]
        table = np.array([row.functional.values(setting.n) for row in rows])
        matrix = sp.csr_array(table.reshape(len(rows), 1 << setting.n))
        return Rows(matrix, np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64))


STRICT = 1e-6
"""By how much "more" is more, where a learner keeps what was said: above what solvers miss."""
