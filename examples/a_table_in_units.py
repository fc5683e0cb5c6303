"""
A table in different units
==========================

An integral compares its inputs, so they must be on one scale and point the same way. ``InUnits``
puts every column and the target on one scale, finds which columns run against the target, and
answers in the units of the data.
"""

from sklearn.model_selection import KFold, cross_val_score

import choquet

cars = choquet.datasets.load_auto_mpg()
X, y = cars.frame[list(cars.feature_names)], cars.frame[cars.target_name]
model = choquet.InUnits(choquet.ChoquetRegressorCV())
folds = KFold(5, shuffle=True, random_state=0)
print(f"R² over five folds: {cross_val_score(model, X, y, cv=folds).mean():.2f}")

# %%
# Which columns were turned round, because less of them goes with more of the target?
model.fit(X, y)
print(model.scale_.note_)

# %%
# What the model does, in the units of the table.
print(choquet.explain_model(choquet.decompose(model, X, y)).text())
