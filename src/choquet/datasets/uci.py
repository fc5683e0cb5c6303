"""Data sets that the package carries: UCI, CC BY 4.0, credits beside the files."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from choquet.datasets.bunch import Bunch

_LICENCE = "UCI Machine Learning Repository, licence CC BY 4.0"


def load_yacht() -> Bunch:
    """Resistance of sailing yachts from the shape of the hull and the speed: 308 × 6.

    Returns
    -------
    Bunch
        With `data`, `target`, `feature_names` and `description`.

    References
    ----------
    Gerritsma, Onnink, Versluis (1981). Geometry, resistance and stability of the Delft Systematic
    Yacht Hull Series. doi:10.24432/C5XG7R.

    Examples
    --------
    >>> yacht = load_yacht()
    >>> yacht.data.shape, yacht.target.max()
    ((308, 6), np.float64(62.42))
    """
    return _bunch(
        [line.split() for line in _lines("yacht_hydrodynamics.data")],
        "buoyancy_position prismatic_coefficient length_displacement beam_draught length_beam "
        "froude_number residuary_resistance",
        "Yacht Hydrodynamics: longitudinal position of the centre of buoyancy, prismatic "
        "coefficient, three ratios of lengths and the Froude number (all without unit) to the "
        "residuary resistance per unit weight of displacement. "
        "J. Gerritsma, R. Onnink, A. Versluis (1981), doi 10.24432/C5XG7R",
    )


def load_airfoil() -> Bunch:
    """Noise of airfoils in a wind tunnel: 1,503 × 5.

    Returns
    -------
    Bunch
        With `data`, `target`, `feature_names` and `description`.

    References
    ----------
    Brooks, Pope, Marcolini (1989). Airfoil self-noise and prediction. NASA RP-1218.
    doi:10.24432/C5VW2C.

    Examples
    --------
    >>> load_airfoil().feature_names
    ('frequency', 'angle_of_attack', 'chord', 'velocity', 'displacement_thickness')
    """
    return _bunch(
        [line.split() for line in _lines("airfoil_self_noise.dat")],
        "frequency angle_of_attack chord velocity displacement_thickness sound_pressure",
        "Airfoil Self-Noise: frequency (Hz), angle of attack (degrees), chord length (m), "
        "free-stream velocity (m/s) and displacement thickness of the suction side (m) to the "
        "scaled sound pressure level (dB). "
        "T. Brooks, D. Pope, M. Marcolini (1989), doi 10.24432/C5VW2C",
    )


def load_cpu() -> Bunch:
    """Relative performance of computers from their parts: 209 × 6.

    Vendor and model are left out, and so is ERP: it is another model's estimate of the target.

    Returns
    -------
    Bunch
        With `data`, `target`, `feature_names` and `description`.

    References
    ----------
    Ein-Dor, Feldmesser (1987). Attributes of the performance of central processing units. CACM 30,
    308-317. doi:10.24432/C5830D.

    Examples
    --------
    >>> cpu = load_cpu()
    >>> cpu.feature_names, cpu.target_name
    (('MYCT', 'MMIN', 'MMAX', 'CACH', 'CHMIN', 'CHMAX'), 'PRP')
    """
    return _bunch(
        [line.split(",")[2:9] for line in _lines("machine.data")],
        "MYCT MMIN MMAX CACH CHMIN CHMAX PRP",
        "Computer Hardware: cycle time (MYCT, ns), smallest and largest main memory (MMIN, "
        "MMAX, kB), cache (CACH, kB), fewest and most channels (CHMIN, CHMAX) to the published "
        "relative performance (PRP). "
        "J. Feldmesser, P. Ein-Dor (1987), doi 10.24432/C5830D",
    )


def load_auto_mpg() -> Bunch:
    """Fuel consumption of cars: the 392 complete rows × 7; the name of the car is left out.

    Returns
    -------
    Bunch
        With `data`, `target`, `feature_names` and `description`.

    References
    ----------
    Quinlan (1993). Combining instance-based and model-based learning. ICML, 236-243.
    doi:10.24432/C5859H.

    Examples
    --------
    >>> cars = load_auto_mpg()
    >>> dict(zip(cars.feature_names[:3], cars.data[0].tolist()))
    {'cylinders': 8.0, 'displacement': 307.0, 'horsepower': 130.0}
    """
    lines = (line.split(",") for line in _lines("auto_mpg.csv"))
    header, *rows = ([*cells[1:8], cells[0]] for cells in lines)  # the target comes first there
    return _bunch(
        rows,
        " ".join(header),
        "Auto MPG: cylinders, displacement (cubic inches), horsepower, weight (lb), "
        "acceleration (s to 60 mph), model year and origin (1 America, 2 Europe, 3 Japan: a "
        "code, not a quantity) to miles per gallon. "
        "R. Quinlan (1993), doi 10.24432/C5859H",
    )


_CAR_LEVELS = {
    "buying": ("vhigh", "high", "med", "low"),
    "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
"""Levels of each feature, worst for the buyer first."""

_CAR_CLASSES = ("unacc", "acc", "good", "vgood")
"""Worst first; the file's header lists the last two the other way round."""


def load_car() -> Bunch:
    """Acceptability of cars, an ordinal task: 1,728 × 6.

    Levels are numbered from the worst for the buyer (0) upwards, classes likewise, as a monotone
    measure wants it. A step up never makes a car worse, but for 18 small two-door cars that are
    rated lower for more than four persons than for four.

    Returns
    -------
    Bunch
        With `data`, `target`, `feature_names` and `description`.

    References
    ----------
    Bohanec, Rajkovič (1988). Knowledge acquisition and explanation for multi-attribute decision
    making. Avignon. doi:10.24432/C5JP48.

    Examples
    --------
    >>> car = load_car()
    >>> car.data[0], car.classes[int(car.target[0])]
    (array([0., 0., 0., 0., 0., 0.]), 'unacc')
    """
    rows = [line.split(",") for line in _lines("car.dat") if not line.startswith("@")]
    levels = {**_CAR_LEVELS, "acceptability": _CAR_CLASSES}
    listed = "; ".join(f"{name}: {' < '.join(known)}" for name, known in levels.items())
    return _bunch(
        [[k.index(cell) for k, cell in zip(levels.values(), row, strict=True)] for row in rows],
        " ".join(levels),
        f"Car Evaluation, levels numbered from 0, worst for the buyer first. {listed}. "
        "M. Bohanec (1988), doi 10.24432/C5JP48",
        _CAR_CLASSES,
    )


def _lines(name: str) -> list[str]:
    text = (files("choquet.datasets") / "data" / name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _bunch(rows: Any, names: str, about: str, classes: tuple[str, ...] = ()) -> Bunch:
    """The bunch of a table whose last column is the target."""
    *features, target = names.split()
    table = np.array(rows, dtype=np.float64)
    return Bunch(
        data=table[:, :-1].copy(),
        target=table[:, -1].copy(),
        feature_names=tuple(features),
        target_name=target,
        description=f"{about}; {_LICENCE}.",
        classes=classes,
    )
