"""Fuse different classifiers, take the fusion apart, and set it beside simpler ways.

python examples/fuse_classifiers.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import choquet

CLASSIFIERS = {
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(9)),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=3)

    fusion = choquet.FusionClassifier(list(CLASSIFIERS.items()))
    fusion.fit(X_train, y_train)

    # Each classifier alone, and two fusions that need no learning, on the same test rows.
    alone = [c.fit(X_train, y_train).predict_proba(X_test) for c in CLASSIFIERS.values()]
    table = {name: p.argmax(axis=1) for name, p in zip(CLASSIFIERS, alone, strict=True)}
    table["mean"] = np.mean(alone, axis=0).argmax(axis=1)
    table["largest"] = np.max(alone, axis=0).argmax(axis=1)
    table["choquet"] = fusion.predict(X_test)
    for name, predicted in table.items():
        print(f"{name:>10}  {np.mean(predicted == y_test):.1%}")

    print("\nWhat the fusion does:")
    print(choquet.explain_model(choquet.decompose(fusion)).text())


if __name__ == "__main__":
    main()
