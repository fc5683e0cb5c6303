"""Sums of small Choquet integrals behind the scikit-learn interface."""
