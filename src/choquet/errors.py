"""Every error and warning the library raises on purpose.

::

    ChoquetError
    ├── DataError (ValueError)              inputs: shape, NaN, infinities, no rows
    ├── SourceError (ValueError)            unknown, repeated or too few source names
    ├── MeasureError (ValueError)           values that are no measure
    │   └── NotMonotoneError                  … with the pair of subsets as witness
    ├── TooLargeError (ValueError)          what was asked for does not fit: says how much it needs
    ├── StatementError (ValueError)         lines that cannot be understood: all of them at once
    ├── InconsistentError (ValueError)      statements that exclude each other: says which
    ├── OptionError (ValueError)            an unknown or contradictory option: lists the known ones
    ├── SolverError (RuntimeError)          a solver gave no usable answer
    ├── ClusterError (RuntimeError)         a cluster went away: says what to do
    ├── MissingDependencyError (ImportError)  an optional library is absent: names the extra
    └── FileError (OSError)
        ├── DamagedFileError                  not a file of ours, cut short, or changed
        └── NewerFileError                    written by a newer version of the format

    ChoquetWarning (UserWarning)
    ├── SolverWarning                       the solver stopped early; says how good the answer is
    └── SupportWarning                      the data do not determine what was asked for
"""

from __future__ import annotations

__all__ = [
    "ChoquetError",
    "ChoquetWarning",
    "ClusterError",
    "DamagedFileError",
    "DataError",
    "FileError",
    "InconsistentError",
    "MeasureError",
    "MissingDependencyError",
    "NewerFileError",
    "NotMonotoneError",
    "OptionError",
    "SolverError",
    "SolverWarning",
    "SourceError",
    "StatementError",
    "SupportWarning",
    "TooLargeError",
]


class ChoquetError(Exception):
    """Base of every error that the library raises on purpose."""


class DataError(ChoquetError, ValueError):
    """Input data of the wrong shape, without rows, or with NaN or infinite values."""


class SourceError(ChoquetError, ValueError):
    """A source that is unknown, named twice, or missing."""


class MeasureError(ChoquetError, ValueError):
    """Values that do not make a measure."""


class NotMonotoneError(MeasureError):
    """A measure that decreases somewhere.

    Attributes
    ----------
    smaller, larger : int
        Bit masks of two subsets, the first contained in the second, with the larger value on the
        first.
    """

    def __init__(self, message: str, smaller: int, larger: int) -> None:
        super().__init__(message)
        self.smaller = smaller
        self.larger = larger


class TooLargeError(ChoquetError, ValueError):
    """What was asked for would not fit; the message says how much it needs and what to use."""


class StatementError(ChoquetError, ValueError):
    """Statements that cannot be understood.

    Attributes
    ----------
    problems : tuple of str
        One sentence for each, with line, text, reason and the nearest name.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class InconsistentError(ChoquetError, ValueError):
    """Statements that cannot hold together.

    Attributes
    ----------
    conflicts, repairs : tuples of frozensets of int
        Numbers of the statements that exclude each other, and of those to drop.
    """

    def __init__(
        self,
        message: str,
        conflicts: tuple[frozenset[int], ...] = (),
        repairs: tuple[frozenset[int], ...] = (),
    ) -> None:
        super().__init__(message)
        self.conflicts = conflicts
        self.repairs = repairs


class OptionError(ChoquetError, ValueError):
    """An option that is unknown, out of its range, or at odds with another."""


class SolverError(ChoquetError, RuntimeError):
    """A solver that returned no usable answer."""


class ClusterError(ChoquetError, RuntimeError):
    """A cluster was lost, or could not finish a partition."""


class MissingDependencyError(ChoquetError, ImportError):
    """An optional library that is not installed."""


class FileError(ChoquetError, OSError):
    """A file that cannot be read or written as asked."""


class DamagedFileError(FileError):
    """A file that is cut short, altered, or not one of ours."""


class NewerFileError(FileError):
    """A file written in a newer version of the format than this library knows."""


class ChoquetWarning(UserWarning):
    """Base of every warning that the library gives on purpose."""


class SolverWarning(ChoquetWarning):
    """A solver stopped before it reached the accuracy asked for."""


class SupportWarning(ChoquetWarning):
    """The data do not determine what was asked for."""
