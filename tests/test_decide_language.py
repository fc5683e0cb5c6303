"""The language of statements: what it understands, what it refuses, and how it says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet.decide import (
    Cautious,
    Decision,
    Importance,
    ImportanceBetween,
    InClass,
    Indifferent,
    Intensity,
    Interaction,
    InteractionOrder,
    Irrelevant,
    Must,
    OnlyIf,
    Prefer,
    SameImportance,
    Score,
    Sufficient,
    Undecided,
    Vocabulary,
    describe,
    parse,
)
from choquet.errors import FileError, StatementError

CARS = ["Bolt", "Faro", "Žluť 5", "rock and roll", "Juno", "A-1", "x > y"]
CRITERIA = ["price", "running_cost", "safety", "comfort"]


def words():
    return Vocabulary(CARS, CRITERIA)


def meaning(text: str):
    return [said.statement for said in parse(text, words()).said]


UNDERSTOOD = {
    "Bolt > Faro": [Prefer("Bolt", "Faro")],
    "bolt<FARO": [Prefer("Faro", "Bolt")],
    "Bolt >= Faro": [Prefer("Bolt", "Faro", strict=False)],
    "Bolt ≥ Faro": [Prefer("Bolt", "Faro", strict=False)],
    "Bolt >> Faro": [Prefer("Bolt", "Faro", 0.1)],
    "Bolt > Faro by 10%": [Prefer("Bolt", "Faro", 0.1)],
    "Bolt > Faro > Juno": [Prefer("Bolt", "Faro"), Prefer("Faro", "Juno")],
    "Bolt, Faro > Juno": [Prefer("Bolt", "Juno"), Prefer("Faro", "Juno")],
    "Bolt beats Faro by at least 0.2": [Prefer("Bolt", "Faro", 0.2)],
    "Bolt is worse than Faro": [Prefer("Faro", "Bolt")],
    "Bolt ~ žluť_5": [Indifferent("Bolt", "Žluť 5")],
    "Bolt > 'rock and roll'": [Prefer("Bolt", "rock and roll")],
    'Bolt > "x > y"': [Prefer("Bolt", "x > y")],
    "Bolt about 0.8": [Score("Bolt", 0.75, 0.8500000000000001)],
    "Bolt between 0.3 and 0.5": [Score("Bolt", 0.3, 0.5)],
    "Bolt at most 40%": [Score("Bolt", None, 0.4)],
    "Bolt, Faro good": [InClass("Bolt", 3, "good"), InClass("Faro", 3, "good")],
    "A-1 - Bolt > Faro - Juno": [Intensity("A-1", "Bolt", "Faro", "Juno")],
    "Bolt over Faro more than Juno over A-1": [Intensity("Bolt", "Faro", "Juno", "A-1")],
    "safety matters more than Running Cost": [Importance("safety", "running_cost")],
    "safety matters much more than price": [Importance("safety", "price", 0.1)],
    "price matters slightly less than safety": [Importance("safety", "price", at_most=0.05)],
    "price and safety matter equally": [SameImportance("price", "safety")],
    "importance of price between 20% and 40%": [ImportanceBetween("price", 0.2, 0.4)],
    "the importance of price is at least 0.1": [ImportanceBetween("price", 0.1, None)],
    "price and safety overlap": [Interaction(("price", "safety"), -1)],
    "price and safety complement each other": [Interaction(("price", "safety"), 1)],
    "price and safety are independent": [Interaction(("price", "safety"), 0)],
    "price and safety interact more than price and comfort": [
        InteractionOrder(("price", "safety"), ("price", "comfort"))
    ],
    "safety is a must": [Must("safety")],
    "safety is sufficient": [Sufficient("safety")],
    "comfort does not matter": [Irrelevant("comfort")],
    "comfort counts only if safety is good": [OnlyIf("comfort", "safety")],
    "be strict": [Cautious(None, 0.5)],
    "orness at most 0.4": [Cautious(None, 0.4)],
    "cannot say Bolt or Faro": [Undecided("Bolt", "Faro")],
    "cannot say: price or safety": [Undecided("price", "safety")],
}  # fmt: skip


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_understood(text):
    assert meaning(text) == UNDERSTOOD[text]


@pytest.mark.parametrize("text", [t for t in UNDERSTOOD if len(UNDERSTOOD[t]) == 1])
def test_what_is_said_can_be_read_back(text):
    (statement,) = UNDERSTOOD[text]
    if isinstance(statement, InteractionOrder) or text.startswith(("cannot", "the importance")):
        return
    again = meaning(describe(statement))
    assert [type(one) for one in again] == [type(statement)]
    assert again[0].names() == statement.names()


REFUSED = {
    "price matters more than confort": "no criterion is called 'confort'; did you mean comfort?",
    "price > Bolt": "price is a criterion, and an alternative is needed here",
    "Bolt matters more than price": "Bolt is an alternative, and a criterion is needed here",
    "Bolt > Bolt": "compared with itself",
    "Bolt >": "something is missing beside '>'",
    "Bolt is nice": "not understood",
    "safety matters more": "not understood",
    "safety mattters more than price": "not understood",
    "[maybe] Bolt > Faro": "write [sure] or [perhaps]",
    "Bolt between 0.5 and 0.3": "0.5 is above 0.3",
    "price and price overlap": "named twice",
    "price: poor 10, good 10": "given twice",
    "price: poor 10": "poor and good",
    "price: poor 10, 20 is 0.9, 30 is 0.1, good 40": "go up and down",
    "price: poor 10, nice 20": "is not understood; write price: poor",
    "scores from 20 to 0": "is not below",
    "classes: only": "two classes or more",
    "group cost: price": "two different criteria",
    "group safety: price, comfort": "is a name already",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(StatementError) as raised:
        parse(text, words())
    assert REFUSED[text] in str(raised.value)
    assert str(raised.value).startswith("line 1: ")


def test_all_errors_come_at_once_with_their_lines():
    text = "Bolt > Faro\nBolt > Foro   # a slip\n\nprise is a must; Juno > Bolt"
    with pytest.raises(StatementError) as raised:
        parse(text, words())
    assert raised.value.problems == (
        "line 2: 'Bolt > Foro': no alternative is called 'Foro'; did you mean Faro?",
        "line 4: 'prise is a must': no criterion is called 'prise'; did you mean price?",
    )


def test_lines_comments_firmness_and_scales():
    text = (
        "# cars\n[sure] Bolt > Faro  # said on Monday\nprice: poor 34000, 20000 is 0.8, good 14000"
    )
    found = parse(text, words())
    assert [(said.line, said.statement.firm) for said in found.said] == [(2, 2.0)]
    assert str(found.said[0]) == "line 2 “[sure] Bolt > Faro”"
    assert found.scales["price"].points == ((14000.0, 1.0), (20000.0, 0.8), (34000.0, 0.0))


def test_classes_of_the_user():
    assert meaning("classes: reject < maybe < accept\nBolt accept; Faro reject") == [
        InClass("Bolt", 2, "accept"), InClass("Faro", 0, "reject"),
    ]  # fmt: skip
    with pytest.raises(StatementError, match="not understood"):
        meaning("classes: reject < accept\nBolt good")


def test_ambiguous_names_are_refused():
    with pytest.raises(StatementError, match="case and blanks"):
        Vocabulary(["Bolt", "BOLT"], ["price"])
    with pytest.raises(StatementError, match="both an alternative and a criterion"):
        Vocabulary(["price"], ["Price"])


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(text):
    problems: tuple[str, ...] = ("not refused",)
    try:
        parse(text, words())
    except StatementError as error:
        problems = error.problems
    assert problems


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"],
                                      exclude_characters='"“”'), min_size=1, max_size=12),
                min_size=2, max_size=2))  # fmt: skip
def test_any_name_can_be_quoted(names):
    try:
        vocabulary = Vocabulary(names, ["price"])
    except StatementError:
        return
    (said,) = parse(f'"{names[0]}" > "{names[1]}"', vocabulary).said
    assert said.statement == Prefer(names[0], names[1])


def test_a_spreadsheet_and_a_file(tmp_path):
    table = {"car": ["Bolt", "Faro"], "price": [0.1, 0.2], "safety": [0.9, 0.3]}
    sheet = tmp_path / "said.csv"
    sheet.write_text("who,statement\nAnn,Bolt > Faro; be strict\nBob,safety is a must\n")
    problem = Decision(table).read(sheet)
    assert [(said.line, said.text) for said in problem.statements] == [
        (2, "Bolt > Faro"), (2, "be strict"), (3, "safety is a must"),
    ]  # fmt: skip
    with pytest.raises(FileError, match="cannot be read"):
        problem.read(tmp_path / "absent.txt")
    assert len(problem.statements) == 3


def test_nothing_is_added_if_something_is_wrong():
    table = {"car": ["Bolt", "Faro"], "price": [0.1, 0.2], "safety": [0.9, 0.3]}
    problem = Decision(table)
    with pytest.raises(StatementError):
        problem.say("Bolt > Faro", "Bolt > Foro", "price: poor 0, good 2")
    assert problem.statements == ()
    assert problem.levels.scales == {}


@pytest.mark.parametrize(
    "name", ["Joe's car", 'The "Big" one', "“Ärger”", "A > B", "x, y", "Tom and Jerry", "3", "Été"]
)
def test_names_are_quoted_so_that_they_are_read_back(name):
    from choquet.decide.saying.describing import quote

    known = Vocabulary([name, "other"], ["price"])
    for line in (f"{quote(name)} > other", f"other > {quote(name)} by 0.1"):
        (said,) = parse(line, known).said
        assert set(said.statement.names()) == {name, "other"}
