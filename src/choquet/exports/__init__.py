"""Models in other languages: one plan of formulas, and a printer for each language."""

from choquet.exports.export import TARGETS, export
from choquet.exports.models import plan_of
from choquet.exports.plan import Plan

__all__ = ["TARGETS", "Plan", "export", "plan_of"]
