"""Benchmarks, and no part of the installed package: see README.md."""
