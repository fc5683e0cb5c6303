"""Fuzzy integrals as a handful of contextual linear order statistics."""
