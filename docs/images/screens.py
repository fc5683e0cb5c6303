"""Photograph the first screens of reports again: python docs/images/screens.py [kind ...].

It needs selenium, Chromium and its driver. The networks need the data of `fetch_aid`.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

import choquet
from choquet.decide import cars
from choquet.decide.summary import summarise_conflict
from choquet.report.deciding import decision_page

HERE = Path(__file__).parent / "report"
SIZES = {1280: 900, 400: 800}


def sensors() -> str:
    """Three sensors: the largest counts where the first is above the second."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.random((400, 3)), columns=["ir", "gpr", "emi"])
    y = np.where(X.ir > X.gpr, X.max(axis=1), X.median(axis=1)) + 0.1 * rng.standard_normal(400)
    model = choquet.ChoquetRegressor().fit(X[:300], y[:300])
    return choquet.Report(model, X[300:], y[300:]).html()


def table() -> str:
    """A table of seven columns, of which four run against the target: a bad model."""
    frame, mpg = _cars_by_mpg()
    model = choquet.InUnits(scale=choquet.Commensurate(directions="higher"))
    return choquet.Report(model.fit(frame[:250], mpg[:250]), frame[250:], mpg[250:]).html()


def additive() -> str:
    """The same table, and a model that suits it."""
    frame, mpg = _cars_by_mpg()
    model = choquet.ChoquetAdditiveRegressor(max_order=2, link="add")
    model.fit(frame[:250], mpg[:250])
    return choquet.Report(model, frame[250:], mpg[250:]).html()


def aid() -> str:
    """Seven networks on AID: learned from one half, tried on the other."""
    data = choquet.datasets.fetch_aid()
    (X, y), (Z, truth) = (
        (data.scores[0, half].transpose(1, 0, 2), np.asarray(data.classes)[data.labels[0, half]])
        for half in (0, 1)
    )
    model = choquet.FusionClassifier(sources=data.networks).fit(X, y)
    return choquet.Report(model, Z, truth).html()


def stations() -> str:
    """Thirty stations, two contexts, and a little noise."""
    rng = np.random.default_rng(0)
    names = [f"station_{k:02d}" for k in range(1, 31)]
    X = pandas.DataFrame(rng.random((1500, 30)), columns=names)
    y = np.where(X.station_03 > X.station_11, X.max(axis=1), X.median(axis=1))
    y += 0.03 * rng.standard_normal(len(y))
    model = choquet.ContextualRegressor(max_leaves=6).fit(X[:1000], y[:1000])
    return choquet.Report(model, X[1000:], y[1000:]).html()


def decision() -> str:
    """Eleven cars, and what somebody said of them: it does not settle which is best."""
    return decision_page(cars().solve(samples=500, rng=0).to_dict())


def decided() -> str:
    """The same after one more answer, which settles it."""
    answer = cars().solve(samples=500, rng=0)
    return decision_page(answer.answered("Faro").solve(samples=500, rng=0).to_dict())


def conflict() -> str:
    """The same with two statements that exclude each other."""
    problem = cars().say("safety is a must", "Cito > Faro")
    return decision_page(summarise_conflict(problem, problem.check()))


def _cars_by_mpg() -> tuple[pandas.DataFrame, pandas.Series]:
    data = choquet.datasets.load_auto_mpg()
    order = np.random.default_rng(0).permutation(len(data.target))
    frame = pandas.DataFrame(data.data, columns=list(data.feature_names))
    mpg = pandas.Series(data.target, name="mpg")
    return frame.iloc[order].reset_index(drop=True), mpg.iloc[order].reset_index(drop=True)


KINDS = {
    one.__name__: one
    for one in (sensors, table, additive, aid, stations, decision, decided, conflict)
}


def main(kinds: list[str]) -> None:
    """Write each page to a folder that is thrown away, and photograph it four times."""
    options = Options()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in kinds or KINDS:
            page = Path(folder) / f"{kind}.html"
            page.write_text(KINDS[kind](), encoding="utf-8")
            for width, height in SIZES.items():
                for scheme in ("light", "dark"):
                    shot = _photograph(browser, page, width, height, scheme)
                    (HERE / f"{kind}_{width}_{scheme}.png").write_bytes(shot)
    browser.quit()


def _photograph(browser: Any, page: Path, width: int, height: int, scheme: str) -> bytes:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(page.as_uri())
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    return base64.b64decode(taken["data"])


if __name__ == "__main__":
    main(sys.argv[1:])
