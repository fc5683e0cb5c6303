"""Data sets: carried in the package, fetched once, or made by rule."""

from choquet.datasets.aid import AIDScores, fetch_aid
from choquet.datasets.authors import AuthorsFile, read_authors
from choquet.datasets.bunch import Bunch
from choquet.datasets.synthetic import make_demining, make_fusion, make_noise_measure
from choquet.datasets.uci import load_airfoil, load_auto_mpg, load_car, load_cpu, load_yacht

__all__ = [
    "AIDScores",
    "AuthorsFile",
    "Bunch",
    "fetch_aid",
    "load_airfoil",
    "load_auto_mpg",
    "load_car",
    "load_cpu",
    "load_yacht",
    "make_demining",
    "make_fusion",
    "make_noise_measure",
    "read_authors",
]
