"""Fused classifiers: scores in any form, probabilities, and simpler ways beside them."""
