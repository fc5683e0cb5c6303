"""The report in a real browser: what people see is what Python computes."""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas
import pytest

import choquet
from choquet.decide import cars
from choquet.decide.summary import summarise_conflict, summarise_start
from choquet.errors import SupportWarning
from choquet.report.deciding import decision_page
from choquet.scales import IDENTITY, fit_scale
from tests.clustered import clustered
from tests.test_reading import NUMBERS

SIZES = (3, 5, 8)
STARTS = 60  # seconds that a loaded machine may need


def browser_paths() -> tuple[str, str]:
    """Chromium and its driver, or a skip that says what is missing."""
    for package in ("selenium", "axe_core_python"):
        if find_spec(package) is None:
            pytest.skip(f"no {package}: pip install 'choquet[test]'")
    browser = os.environ.get("CHOQUET_CHROMIUM") or next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no browser: install the system packages chromium and chromium-driver")
    return browser, driver


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program, driver = browser_paths()
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = program
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1280,1200",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        started = webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        pytest.skip(f"no browser starts here: {str(error).splitlines()[0]}")
    started.set_page_load_timeout(STARTS)
    started.set_script_timeout(STARTS)
    yield started
    started.quit()


def subject(n: int) -> tuple[choquet.Decomposition, np.ndarray]:
    """A decomposition with unsupported walks, and its samples."""
    rng = np.random.default_rng(n)
    if n == 3:
        measure = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
        X = np.array([[0.9, 0.4, 0.2], [0.2, 0.6, 0.5], [0.3, 0.7, 0.1], [0.1, 0.25, 0.5]])
    else:
        measure = choquet.Measure.random(n, rng=n)
        X = rng.random((30, n)).round(3)
    support = choquet.DataSupport.from_data(X)
    if n == 3:
        return choquet.decompose(measure, support=support), X
    # Most of a walk may lack support, so that several operators are left.
    return clustered(measure, support=support, epsilon=0.8, method="single_linkage", k=3), X


@pytest.fixture(scope="module", params=SIZES)
def opened(request, browser, tmp_path_factory):
    decomposition, X = subject(request.param)
    path = tmp_path_factory.mktemp("report") / "report.html"
    choquet.Report(decomposition, X, X.mean(axis=1)).write_html(path)
    browser.get_log("performance")
    browser.get(path.as_uri())
    return browser, decomposition, X


def open_all(browser) -> None:
    """Open the parts of a page that are closed at first."""
    browser.execute_script("for (const e of document.querySelectorAll('details')) e.open = true")


def value_of(browser, element: str, key: str = "value") -> str:
    script = "return document.getElementById(arguments[0]).dataset[arguments[1]]"
    return browser.execute_script(script, element, key)


def check_against_python(browser, decomposition) -> None:
    n = decomposition.measure.n_sources
    script = "return [...document.querySelectorAll('input[type=number]')].map(e => e.value)"
    x = [float(text) for text in browser.execute_script(script)]
    why = choquet.explain_sample(decomposition, x)
    assert value_of(browser, "out-sort") == ",".join(map(str, why.sort))
    assert int(value_of(browser, "out-operator")) == why.operator
    assert float(value_of(browser, "out-output")) == pytest.approx(why.output, abs=1e-9)
    assert float(value_of(browser, "out-integral")) == pytest.approx(why.integral, abs=1e-9)
    assert float(value_of(browser, "out-interval")) == pytest.approx(why.interval[0], abs=1e-9)
    assert float(value_of(browser, "out-interval", "high")) == pytest.approx(
        why.interval[1], abs=1e-9
    )
    assert float(value_of(browser, "out-support")) == pytest.approx(why.phi, abs=1e-12)
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#walk tr')].map(r => "
        "[r.querySelector('th').textContent, r.querySelector('[data-value]').dataset.value])"
    )
    assert [row[0] for row in rows] == [why.sources[i] for i in why.sort]
    np.testing.assert_allclose(
        [float(row[1]) for row in rows], why.contributions[why.sort], atol=1e-9
    )
    if n <= 6:
        lit = browser.execute_script(
            "return [...document.querySelectorAll('.hasse .on')].map(e => e.id)"
        )
        masks = [0, *np.cumsum(1 << why.sort).tolist()]
        steps = pairwise(masks)
        assert set(lit) == {f"n{m}" for m in masks} | {f"e{a}-{b}" for a, b in steps}


def test_sliders_move_everything_by_keyboard(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser, decomposition, _ = opened
    check_against_python(browser, decomposition)
    seen = {value_of(browser, "out-sort")}
    for source, keys in ((0, Keys.HOME), (1, Keys.END), (2, Keys.ARROW_RIGHT * 7), (0, Keys.END)):
        browser.find_element(By.ID, f"slider-{source}").send_keys(keys)
        check_against_python(browser, decomposition)
        seen.add(value_of(browser, "out-sort"))
    assert len(seen) > 1
    number = browser.find_element(By.ID, "number-1")
    number.clear()
    number.send_keys("0.123456789")
    check_against_python(browser, decomposition)


def test_samples_can_be_clicked_through(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser, decomposition, X = opened
    open_all(browser)
    for k in (1, len(X) - 1):
        browser.find_element(By.CSS_SELECTOR, f"button[data-sample='{k}']").send_keys(Keys.ENTER)
        assert float(value_of(browser, "out-output")) == pytest.approx(
            decomposition.predict(X[k : k + 1])[0], abs=1e-9
        )
        check_against_python(browser, decomposition)


def check_page_keeps_to_itself(browser) -> None:
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    # Icons of the browser's own controls come from inside it.
    inside = ("data:", "chrome:", "chrome-untrusted:", "file:")
    assert [name for name in fetched if not name.startswith(inside)] == []
    sent = [
        message["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert [url for url in sent if not url.startswith(inside)] == []


def test_page_keeps_to_itself(opened):
    check_page_keeps_to_itself(opened[0])


def check_accessibility(browser, scheme: str) -> None:
    import axe_core_python

    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    script = next(Path(axe_core_python.__file__).parent.glob("axe*.js"))
    browser.execute_script(script.read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    broken = [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]]
    assert broken == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules_pass(opened, scheme):
    check_accessibility(opened[0], scheme)


# -- contextual models, and units of the data ------------------------------------------------------


NAMES = ["gpr", "ir", "emi", "<b>radar</b>", "hum"]


def scaled_model(kind: str) -> tuple[choquet.InUnits, np.ndarray]:
    """A model of sources in units of their own, and its samples in these."""
    rng = np.random.default_rng(6)
    scaled = rng.random((200, 5)).round(3)
    offsets, widths = np.array([10.0, -5, 0, 900, 0]), np.array([2.0, 100, 0.5, 200, 1])
    X = scaled * widths + offsets
    y = np.where(scaled[:, 0] > scaled[:, 3], scaled.max(axis=1), scaled.min(axis=1))
    if kind == "bent":
        # Quantiles, one column of which less is better, and one with a peak.
        scale = choquet.Commensurate(
            directions={"ir": "lower", "hum": 0.4}, method={"gpr": "quantiles", "ir": "quantiles"}
        )
        model = choquet.InUnits(choquet.ContextualRegressor(max_leaves=4), scale=scale)
        return model.fit(pandas.DataFrame(X, columns=NAMES), y), X
    made = {
        "measure": choquet.ChoquetRegressor(),
        "regressor": choquet.ContextualRegressor(max_leaves=5, prune="none"),
        "classifier": choquet.ContextualClassifier(max_leaves=3, prune="none"),
    }
    label = kind == "classifier"
    with warnings.catch_warnings():
        # The fourth source runs against the target, which a monotone measure says it cannot follow.
        warnings.simplefilter("ignore", SupportWarning)
        inner = made[kind].fit(scaled, np.where(y > 0.5, "yes", "no") if label else y)
    scales = [fit_scale([low, low + size]) for low, size in zip(offsets, widths, strict=True)]
    target = IDENTITY if label else fit_scale([7.0, 10.0])
    model = choquet.InUnits.from_parts(
        inner, scales, sources=NAMES, target=target, target_name="height"
    )
    return model, X


@pytest.fixture(scope="module", params=["measure", "regressor", "classifier", "bent"])
def in_units(request, browser, tmp_path_factory):
    model, X = scaled_model(request.param)
    path = tmp_path_factory.mktemp("units") / "report.html"
    choquet.Report(model, X).write_html(path)
    browser.get_log("performance")
    browser.get(path.as_uri())
    return browser, model, X


def check_in_units(browser, model) -> tuple[str, int]:
    """What the page shows is what Python says of the same inputs, in the same units."""
    script = "return [...document.querySelectorAll('input[type=number]')].map(e => e.value)"
    x = [float(text) for text in browser.execute_script(script)]
    why = choquet.explain_sample(model, x)
    assert value_of(browser, "out-sort") == ",".join(map(str, why.sort))
    assert int(value_of(browser, "out-operator")) == why.operator
    assert float(value_of(browser, "out-output")) == pytest.approx(why.output, abs=1e-9)
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#walk tr')].map(r => "
        "[r.querySelector('th').textContent, r.querySelector('[data-value]').dataset.value])"
    )
    assert [row[0] for row in rows] == [why.sources[i] for i in why.sort]
    np.testing.assert_allclose(
        [float(row[1]) for row in rows], why.contributions[why.sort], atol=1e-9
    )
    shown = browser.execute_script("return document.getElementById('out-rule').textContent")
    if why.leaf is not None:
        assert int(value_of(browser, "out-rule")) == why.leaf
        assert shown in (why.rule, f"if {why.rule}")
        if browser.execute_script("return document.getElementById('out-trust')"):
            assert float(value_of(browser, "out-trust")) == pytest.approx(why.trust)
        lit = browser.execute_script(
            "return [...document.querySelectorAll('.tree .on')].map(e => e.id)"
        )
        assert lit[0] == "t0"
        assert lit[-1] == f"t{why.leaf}"
        if why.label is not None:
            probability = float(value_of(browser, "out-probability"))
            assert probability == pytest.approx(why.probability, abs=1e-9)
    else:
        by_operators = float(value_of(browser, "out-operators"))
        assert by_operators == pytest.approx(why.operator_output, abs=1e-9)
        assert float(value_of(browser, "out-interval")) == pytest.approx(why.interval[0], abs=1e-9)
    return value_of(browser, "out-sort"), why.operator


def test_sliders_in_units_move_everything(in_units):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser, model, X = in_units
    seen = {check_in_units(browser, model)}
    moves = ((0, Keys.HOME), (3, Keys.END), (0, Keys.END), (3, Keys.HOME), (2, Keys.ARROW_LEFT * 9))
    for source, keys in moves:
        browser.find_element(By.ID, f"slider-{source}").send_keys(keys)
        seen.add(check_in_units(browser, model))
    assert len({sort for sort, _ in seen}) > 1
    assert len({operator for _, operator in seen}) > 1
    slider = browser.find_element(By.ID, "slider-3")
    ends = [float(slider.get_attribute(end)) for end in ("min", "max")]
    assert ends == pytest.approx([900, 1100], abs=3)
    open_all(browser)
    browser.find_element(By.CSS_SELECTOR, "button[data-sample='7']").send_keys(Keys.ENTER)
    check_in_units(browser, model)
    shown = browser.find_element(By.ID, "number-1").get_attribute("value")
    assert float(shown) == pytest.approx(X[7, 1])


@pytest.mark.parametrize("kind", ["orders", "values", "clusters"])
def test_ties_and_values_are_seen_as_in_python(browser, tmp_path, kind):
    """0.1 * 3 and 0.3 are a tie on the page too, and conditions ask for values."""
    X = np.random.default_rng(2).random((300, 3))
    if kind == "clusters":
        support = choquet.DataSupport.from_data(X[:4])
        model = choquet.decompose(choquet.Measure.random(3, rng=5), support=support, method="clodd")
    else:
        # A gap of the last digit jumps; so does the value of the third source.
        above = X[:, 0] > X[:, 1] if kind == "orders" else X[:, 2] > 0.5
        model = choquet.ContextualRegressor(prune="bic", n_cuts=0 if kind == "orders" else 6)
        model.fit(X, np.where(above, X[:, 2], 4 - X.max(axis=1)))
    choquet.Report(model, X[:20]).write_html(tmp_path / "report.html")
    browser.get((tmp_path / "report.html").as_uri())
    rows = [[0.3, 0.3, 0.1], [0.3, 0.1 * 3, 0.1], [0.1 * 3, 0.3, 0.9], [0.3, 0.2, 0.1 * 3]]
    script = (
        "arguments[0].forEach((text, i) => { const e = document.getElementById(`number-${i}`);"
        "e.value = text; e.dispatchEvent(new Event('input')); })"
    )
    for row in rows:
        browser.execute_script(script, [repr(x) for x in row])
        why = choquet.explain_sample(model, row)
        assert value_of(browser, "out-sort") == ",".join(map(str, why.sort))
        assert int(value_of(browser, "out-operator")) == why.operator
        assert float(value_of(browser, "out-output")) == pytest.approx(why.output, abs=1e-9)
        if kind == "clusters":
            assert float(value_of(browser, "out-support")) == pytest.approx(why.phi)
        else:
            assert int(value_of(browser, "out-rule")) == why.leaf


def test_contextual_pages_keep_to_themselves_and_are_accessible(in_units):
    browser, model, _ = in_units
    check_page_keeps_to_itself(browser)
    if isinstance(model.estimator_, choquet.ContextualRegressor):
        check_accessibility(browser, "light")


# -- the first screen ------------------------------------------------------------------------------


PAGES = ("bad table", "fusion", "contextual", "sum", "sum of classes")


def page_of(kind: str) -> choquet.Report:
    """A page with warnings, one of fused classifiers, and one of many sources."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "bad table":
            names = [f"a_rather_long_name_of_column_{k}" for k in range(7)]
            X = pandas.DataFrame(rng.random((90, 7)), columns=names)
            y = 100 - 90 * X.mean(axis=1)
            return choquet.Report(choquet.ChoquetRegressor().fit(X[:60], y[:60]), X[60:], y[60:])
        if kind == "fusion":
            y = rng.integers(0, 3, 120)
            scores = np.eye(3)[y][:, :, None] * [0.5, 0.3, 0.2] + 0.5 * rng.random((120, 3, 3))
            model = choquet.FusionClassifier(sources=["resnet", "vgg", "caffe"], shared=False)
            return choquet.Report(model.fit(scores[:80], y[:80]), scores[80:], y[80:])
        if kind.startswith("sum"):
            names = [f"a_rather_long_name_of_column_{k}" for k in range(3)]
            X = pandas.DataFrame(rng.random((150, 3)) * [1e4, 1, 5], columns=names)
            y = X[names[0]] / 1e4 + 2 * X[names[1]] * X[names[2]]
            if kind == "sum":
                model = choquet.ChoquetAdditiveRegressor(link="add", max_order=2)
            else:
                y = np.array(["low", "medium", "high"])[np.digitize(y, [1.5, 3.5])]
                model = choquet.ChoquetAdditiveClassifier(max_order=1)
            return choquet.Report(model.fit(X[:90], y[:90]), X[90:], y[90:])
        X = pandas.DataFrame(rng.random((150, 13)), columns=[f"station_{k}" for k in range(13)])
        y = np.where(X.station_1 > X.station_2, X.max(axis=1), X.min(axis=1))
        return choquet.Report(choquet.ContextualRegressor(max_leaves=3).fit(X, y), X[:40], y[:40])


@pytest.fixture(scope="module", params=PAGES)
def small(request, browser, tmp_path_factory):
    report = page_of(request.param)
    path = tmp_path_factory.mktemp("small") / "report.html"
    report.write_html(path)
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance")
    browser.get(path.as_uri())
    yield browser, report, request.param
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_scrolls_sideways_on_a_phone(small):
    browser, _, kind = small
    # A phone widens what it shows to what overflows, so that the width asked for is compared.
    wide = "return document.documentElement.scrollWidth"
    assert browser.execute_script(wide) <= 400, kind
    open_all(browser)
    assert browser.execute_script(wide) <= 400, kind


def test_the_first_screen_answers(small):
    browser, report, kind = small
    first = report.data["first"]
    top = "return document.getElementById(arguments[0]).getBoundingClientRect().top + scrollY"
    assert browser.execute_script(top, "good") < 800
    text = browser.execute_script("return document.querySelector('main').innerText")
    place = [text.index(part) for part in ("How good", "How does", "Where not", "What to do")]
    assert place == sorted(place)
    assert "This model" in text
    words = {"fusion": "Mean of the scores", "sum of classes": "Always the most frequent class"}
    assert words.get(kind, "Always the mean") in text
    for warning in first["warnings"]:
        assert 0 < text.index(warning) < place[0]
    if kind == "bad table":
        assert any("worse than" in warning for warning in first["warnings"])


def test_errors_are_as_large_as_the_noise_of_the_inputs(browser, tmp_path):
    """Where one input makes the noise, the error that the page tells moves with it."""
    from selenium.webdriver.common.by import By

    rng = np.random.default_rng(0)
    X = pandas.DataFrame(100 * rng.random((200, 3)), columns=["ir", "emi", "gpr"])
    y = X.mean(axis=1) + 0.2 * X["ir"] * rng.standard_normal(200)
    model = choquet.InUnits().fit(X, y)
    choquet.Report(model, X, y).write_html(tmp_path / "uneven.html")
    browser.get((tmp_path / "uneven.html").as_uri())
    open_all(browser)
    errors, sizes = [], []
    for row in ((95, 60, 30), (50, 60, 30), (5, 60, 30)):
        for k, value in enumerate(row):
            number = browser.find_element(By.ID, f"number-{k}")
            script = (
                "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
            )
            browser.execute_script(script, number, value)
        errors.append(float(value_of(browser, "out-band")))
        sizes.append(model.relative_noise(pandas.DataFrame([row], columns=X.columns))[0])
    assert errors[0] > 3 * errors[2]
    np.testing.assert_allclose(np.divide(errors, errors[0]), np.divide(sizes, sizes[0]), rtol=1e-6)


def test_what_the_page_computes_is_written_for_people(small):
    browser, _, _ = small
    open_all(browser)
    text = browser.execute_script("return document.querySelector('main').innerText")
    for pattern in (*NUMBERS, r"\b0\.00000"):
        found = re.search(pattern, text)
        assert found is None, text[max(found.start() - 60, 0) : found.end() + 40]


def test_small_pages_keep_to_themselves_and_are_accessible(small):
    browser, _, _ = small
    check_page_keeps_to_itself(browser)
    check_accessibility(browser, "light")


def test_sums_are_computed_on_the_page(small):
    """The page opens on the sample with the largest error, and gives what Python gives there."""
    browser, report, kind = small
    if not kind.startswith("sum"):
        pytest.skip("the page is of another model")
    model, X, y = report._given
    opened = report.data["explorer"]["opened"]
    shown, row = float(value_of(browser, "out")), X.iloc[[opened]]
    if kind == "sum":
        assert opened == np.argmax(np.abs(model.predict(X) - y.to_numpy()))
        assert shown == pytest.approx(model.predict(row)[0], abs=1e-6)
        ends = browser.execute_script("return document.getElementById('out-band').textContent")
        low, high = (float(end.replace(",", "")) for end in ends.split(" to "))
        inner = model.predict_interval(row)[0]
        assert low <= inner[0] + 0.01 <= inner[1] <= high + 0.01
    else:
        # Without the uncertainty of the scores, which draws probabilities to the middle.
        odds = np.exp(model._scores(model._inputs(row))[:, 0])
        assert shown == pytest.approx(odds.max() / odds.sum(), abs=1e-6)
    bars = (
        "return [...document.querySelectorAll('#effects tr')].map(r => "
        "[r.children[1].textContent, r.querySelectorAll('rect').length])"
    )
    for text, drawn in browser.execute_script(bars):
        assert drawn == (text != "0")


def shares_in_python(data: dict, rows: np.ndarray, supposed: list) -> dict[str, tuple]:
    """What the explorer of a decision must show, from the draws that its page carries."""
    found = []
    for family in data["explorer"]:
        points, weights = np.array(family["points"]), np.array(family["importances"])
        if family["by_values"]:
            scores = [choquet.choquet_integral(choquet.Measure(one), rows) for one in points]
        else:
            least = np.array([[row[one].min() for one in family["sets"]] for row in rows])
            scores = points @ least.T
        scores = np.array(scores)
        kept = np.ones(len(points), dtype=bool)
        for about, a, b in supposed:
            values = weights if about == "criteria" else scores
            kept &= values[:, a] > values[:, b]
        best = scores[kept].argmax(axis=1)
        found.append(np.bincount(best, minlength=len(rows)) / len(best))
    ends = np.min(found, axis=0), np.max(found, axis=0)
    return dict(zip(data["alternatives"], zip(*ends, strict=True), strict=True))


def check_moved(browser, expected: dict[str, tuple]) -> None:
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#moved tbody tr')].map(r => "
        "[...r.children].slice(0, 3).map(c => c.textContent))"
    )
    assert len(rows) == min(len(expected), 8)
    for name, *shown in rows:
        for text, share in zip(shown, expected[name], strict=True):
            number = float(text.strip("<>% "))
            assert number == pytest.approx(100 * share, abs=1.0)


@pytest.mark.parametrize("about", ["alternatives", "criteria"])
def test_the_explorer_of_a_decision_answers_its_question(browser, tmp_path, about):
    from selenium.webdriver.common.by import By

    table = {"car": list("ABC"), "x": [0.9, 0.2, 0.5], "y": [0.1, 0.8, 0.5], "z": [0.4, 0.6, 0.5]}
    problem = choquet.Decision(table)
    if about == "criteria":
        problem.say("cannot say A or B; cannot say A or C; cannot say B or C")
    solved = problem.solve(samples=200, rng=0)
    data = solved.to_dict()
    asked = data["question"]
    assert asked["about"] == about
    path = tmp_path / "decision.html"
    path.write_text(decision_page(data), encoding="utf-8")
    browser.get(path.as_uri())
    rows = problem.levels.middle
    one, two = (data[about].index(asked[end]) for end in ("first", "second"))
    for answer, supposed in (
        ("first", [(about, one, two)]),
        ("second", [(about, two, one)]),
        ("none", []),
    ):
        browser.find_element(By.CSS_SELECTOR, f"[data-answer={answer}]").click()
        check_moved(browser, shares_in_python(data, rows, supposed))
        listed = browser.find_element(By.ID, "supposed").text
        words = "matters more than" if about == "criteria" else "is better than"
        assert (words in listed) == bool(supposed)
    amount = browser.find_element(By.ID, "amount")
    who = browser.execute_script("return Number(document.getElementById('who').value)")
    amount.clear()
    amount.send_keys("0.05")
    changed = rows.copy()
    changed[who, 0] = 0.05
    check_moved(browser, shares_in_python(data, changed, []))
    assert (
        f"x of {data['alternatives'][who]} is 0.05" in browser.find_element(By.ID, "supposed").text
    )


@pytest.mark.parametrize("state", ["open", "conflict", "start"])
def test_pages_of_decisions_fit_a_phone(browser, tmp_path, state):
    problem = cars()
    if state == "conflict":
        problem = problem.say("safety is a must", "Cito > Faro")
        data = summarise_conflict(problem, problem.check())
    elif state == "start":
        table = problem.table
        raw = choquet.Decision(table.lower, table.names, criteria=table.criteria)
        data = summarise_start(raw)
    else:
        data = problem.solve(samples=100, rng=0).to_dict()
    assert data["state"] == state
    path = tmp_path / "decision.html"
    path.write_text(decision_page(data), encoding="utf-8")
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance")
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    check_page_keeps_to_itself(browser)
    check_accessibility(browser, "dark")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_fused_classifiers_show_probabilities(small):
    browser, report, kind = small
    if kind != "fusion":
        pytest.skip("the page is of another model")
    model, X, _ = report._given
    rows = report.data["samples"]["rows"]
    for number in (0, 3):
        script = "document.querySelector(`button[data-sample='${arguments[0]}']`).click()"
        browser.execute_script(script, number)
        shown = float(value_of(browser, "out-probability"))
        proba = model.predict_proba(X[rows[number]["row"]][None])[0]
        assert shown == pytest.approx(proba.max(), abs=1e-5)
    bars = (
        "return [...document.querySelectorAll('#walk tr')].map(r => "
        "[r.children[4].dataset.value, r.querySelectorAll('rect').length])"
    )
    for value, drawn in browser.execute_script(bars):
        assert drawn == (abs(float(value)) > 1e-9)


def test_hostile_names_stay_text(browser, tmp_path):
    names = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>", "</script>🎈"]
    path = tmp_path / "hostile.html"
    measure = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=names)
    choquet.Report(measure, [[0.1, 0.5, 0.3]], title=names[0]).write_html(path)
    browser.get(path.as_uri())
    assert browser.title == names[0]
    assert browser.execute_script("return document.querySelectorAll('script').length") == 2
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#walk th')].map(e => e.textContent)"
    )
    assert shown == [names[1], names[2], names[0]]
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
