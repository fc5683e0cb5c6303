"""The example that the package carries: twelve cars, five criteria, eight statements."""

from __future__ import annotations

from importlib.resources import files

from choquet.decide.decision import Decision


def cars(*, statements: bool = True) -> Decision:
    """Twelve made-up cars with scales, and what the buyers said.

    Parameters
    ----------
    statements : bool, default True
        Whether to say it; the scales are given either way.

    Returns
    -------
    Decision
        To go on with.

    Examples
    --------
    >>> problem = cars()
    >>> problem
    <Decision: 12 alternatives, 5 criteria, 8 statements>
    >>> problem.check().ok
    True
    """
    folder = files("choquet.decide") / "data"
    problem = Decision(str(folder / "cars.csv")).read(str(folder / "statements.txt"))
    if not statements:
        problem.drop(*range(len(problem.statements)))
    return problem
