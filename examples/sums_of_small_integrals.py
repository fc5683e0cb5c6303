"""
A sum of small Choquet integrals
================================

``ChoquetAdditiveRegressor`` adds a curve for each column and a few small Choquet integrals of two
to four columns. Every curve has a band, and every term can be drawn.
"""

import matplotlib.pyplot as plt

import choquet

yacht = choquet.datasets.load_yacht()
X, y = yacht.frame[list(yacht.feature_names)], yacht.frame[yacht.target_name]
model = choquet.ChoquetAdditiveRegressor(max_terms=3).fit(X, y)
print(f"R² on the training rows: {model.score(X, y):.3f}")
for term in model.terms_:
    print(term)

# %%
# The curve of the column that matters most (the Froude number, a speed), with its band.
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
choquet.plot.utility(model, "froude_number", X=X, ax=ax)
