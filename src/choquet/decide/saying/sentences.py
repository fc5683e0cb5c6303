"""The sentences that are understood: patterns, each with what it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from choquet.decide.saying import statements as s
from choquet.decide.saying.reading import KNOWN, Build, Reader, ScaleLine
from choquet.decide.saying.vocabulary import key
from choquet.decide.steps import STEPS, judged_points
from choquet.errors import StatementError

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?"

# -- scales, classes, groups -----------------------------------------------------------------------


def _classes(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    parts = tuple(reader.unquoted(part).strip() for part in m[1].split("<"))
    if len(parts) < 2 or not all(parts) or len({key(part) for part in parts}) < len(parts):
        raise StatementError(
            "write two classes or more, the worst first: classes: no < maybe < yes"
        )
    reader.classes = reader.found.classes = parts
    return ()


def _group(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    name = reader.unquoted(m[1]).strip()
    parts = tuple(reader.criterion(part) for part in re.split(r"\s*,\s*", m[2]))
    if len(parts) < 2 or len(set(parts)) < len(parts):
        raise StatementError("a group needs two different criteria or more")
    reader.names.add_group(name)
    reader.found.groups[name] = parts
    return ()


def _common(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    low, high = reader.number(m[1]), reader.number(m[2])
    if not low < high:
        raise StatementError(f"{low:g} is not below {high:g}: give the worst score first")
    if reader.found.common not in (None, (low, high)):
        raise StatementError("another line gives another scale for all scores: keep one of them")
    reader.found.common = (low, high)
    reader.origin, reader.width = low, high - low
    return ()


def _better(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    sign = -1 if m[2].lower() in ("lower", "less") else 1
    criterion = reader.criterion(m[1])
    if reader.found.better.get(criterion, sign) != sign:
        raise StatementError(f"another line says the reverse of {criterion}: keep one of them")
    scale = reader.found.scales.get(criterion)
    if scale is not None and scale.rises != (sign > 0):
        raise StatementError(f"poor and good of {criterion} say the reverse in another line")
    reader.found.better[criterion] = sign
    return ()


def _scale(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    criterion = reader.criterion(m[1])
    level = re.compile(rf"(poor|good)\s+(?:at\s+|is\s+)?({_NUMBER})", re.IGNORECASE)
    between = re.compile(rf"({_NUMBER})\s+is\s+({_NUMBER})", re.IGNORECASE)
    judged = re.compile(
        rf"({_NUMBER})\s+to\s+({_NUMBER})\s+is\s+({'|'.join(STEPS)})", re.IGNORECASE
    )
    points: dict[float, float] = {}
    steps: list[tuple[float, float, str]] = []
    seen: set[str] = set()
    for part in re.split(r"\s*,\s*|\s+and\s+", m[2]):
        step = judged.fullmatch(part)
        if step:
            steps.append((float(step[1]), float(step[2]), " ".join(step[3].lower().split())))
            continue
        found = level.fullmatch(part)
        if found:
            at, value = float(found[2]), 0.0 if found[1].lower() == "poor" else 1.0
            seen.add(found[1].lower())
        else:
            found = between.fullmatch(part)
            if not found:
                raise StatementError(
                    f"{part!r} is not understood; write {criterion}: poor 10, 30 is 0.8, good 50"
                )
            at, value = float(found[1]), reader.number(found[2])
        if at in points:
            raise StatementError(f"the level {at:g} is given twice: poor and good must differ")
        points[at] = value
    if seen != {"poor", "good"}:
        raise StatementError("a scale needs two levels: poor and good")
    line = ScaleLine(tuple(sorted(points.items())))
    _check_scale(line)
    if steps:
        line = ScaleLine(judged_points(points, steps))
    if reader.found.scales.get(criterion, line) != line:
        raise StatementError(f"another line gives {criterion} another scale: keep one of them")
    if reader.found.better.get(criterion, 0) == (-1 if line.rises else 1):
        more = "lower" if line.rises else "higher"
        raise StatementError(f"another line says that {more} is better; this is the reverse")
    reader.found.scales[criterion] = line
    return ()


def _check_scale(line: ScaleLine) -> None:
    values = [value for _, value in line.points]
    rises = [b - a for a, b in pairwise(values)]
    if not (all(rise > 0 for rise in rises) or all(rise < 0 for rise in rises)):
        shown = ", ".join(f"{at:g} is {value:g}" for at, value in line.points)
        raise StatementError(f"the levels go up and down ({shown}): they must run one way")


# -- criteria --------------------------------------------------------------------------------------


def _importance(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    more, less = reader.pair(m[1], m[4])
    if m[3].lower() == "less":
        more, less = less, more
    how = (m[2] or "").strip().lower()
    return [s.Importance(more, less, 0.1 if how == "much" else 0.0,
                         at_most=0.05 if how == "slightly" else None)]  # fmt: skip


def _ends(
    reader: Reader, m: re.Match[str], read: Callable[[str], float]
) -> tuple[float | None, float | None]:
    """What lies between two numbers, or is at most or at least one."""
    if m[2].lower() not in ("most", "least"):
        return reader.ordered(read(m[2]), read(m[3]))
    return (None, read(m[3])) if m[2].lower() == "most" else (read(m[3]), None)


def _importance_between(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    ends = _ends(reader, m, reader.number)
    return [s.ImportanceBetween(reader.criterion(m[1]), *ends)]


_SIGNS = {
    "overlap": -1, "are redundant": -1, "say the same": -1, "complement": 1,
    "complement each other": 1, "are complementary": 1, "need each other": 1, "are independent": 0,
    "do not interact": 0,
}  # fmt: skip


def _interaction(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    return [s.Interaction(reader.pair(m[1], m[2]), _SIGNS[m[3].lower()])]


def _interaction_order(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    return [s.InteractionOrder(reader.pair(m[1], m[2]), reader.pair(m[3], m[4]))]


def _undecided(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    of_criteria = key(reader.unquoted(m[1])) in reader.names.criteria
    find = reader.criterion if of_criteria else reader.alternative
    return [s.Undecided(find(m[1]), find(m[2]))]


# -- alternatives ----------------------------------------------------------------------------------


def _step_larger(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    return [s.Intensity(*(reader.alternative(m[k]) for k in (1, 2, 3, 4)))]


def _chain(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    parts = re.split(r"\s*(>>|<<|>=|<=|≥|≤|>|<|~|≈|=)\s*", m[1])
    return _compared(reader, parts[::2], parts[1::2], m[2])


def _compared(
    reader: Reader, names: Sequence[str], signs: Sequence[str], by: str | None
) -> list[s.Statement]:
    found: list[s.Statement] = []
    step = reader.step(by) if by else 0.0
    if step < 0:
        raise StatementError(f"by {by} is below 0: name the better one first")
    for left, sign, right in zip(names[:-1], signs, names[1:], strict=True):
        if not left.strip() or not right.strip():
            raise StatementError(f"something is missing beside {sign!r}")
        for a in reader.several(left):
            for b in reader.several(right):
                if a == b:
                    raise StatementError(f"{a} is compared with itself")
                found.append(_one_comparison(a, sign, b, step, reader.width))
    return found


def _one_comparison(a: str, sign: str, b: str, step: float, width: float) -> s.Statement:
    if sign in "~≈=":
        return s.Indifferent(a, b, max(step, 0.02 * width))
    if sign[0] in "<≤":
        a, b = b, a
    much = 0.1 * width if sign in (">>", "<<") else 0.0
    return s.Prefer(a, b, max(step, much), strict=sign not in (">=", "<=", "≥", "≤"))


def _about(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    room = reader.step(m[3]) if m[3] else 0.05 * reader.width
    value = reader.score(m[2])
    if room < 0:
        raise StatementError(f"{m[3]} is below 0: after ± stands how far the score may be off")
    return [s.Score(reader.alternative(m[1]), value - room, value + room)]


def _between(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    ends = _ends(reader, m, reader.score)
    return [s.Score(reader.alternative(m[1]), *ends)]


def _in_class(reader: Reader, m: re.Match[str]) -> Sequence[s.Statement]:
    labels = {key(label): k for k, label in enumerate(reader.classes)}
    label = key(reader.unquoted(m[2]))
    if label not in labels:
        raise StatementError(f"this is not understood; try one of: {KNOWN}")
    shown = reader.classes[labels[label]]
    return [s.InClass(name, labels[label], shown) for name in reader.several(m[1])]


# -- all of them -----------------------------------------------------------------------------------


def _of_one(kind: Callable[[str], s.Statement]) -> Build:
    return lambda reader, m: [kind(reader.criterion(m[1]))]


def _of_two(kind: Callable[[str, str], s.Statement]) -> Build:
    return lambda reader, m: [kind(*reader.pair(m[1], m[2]))]


_TABLE: tuple[tuple[str, Build], ...] = (
    (r"classes\s*:\s*(.+)", _classes),
    (r"group\s+(.+?)\s*:\s*(.+)", _group),
    (r"scores\s+(?:are\s+|go\s+)?from\s+NUMBER\s+to\s+NUMBER", _common),
    (r"(.+?)\s*:\s*(lower|less|higher|more) is better", _better),
    (r"(.+?)\s*:\s*((?:poor|good)\b.+)", _scale),
    (r"(.+?) (?:matters|counts|weighs) (much |slightly )?(more|less) than (.+)", _importance),
    (
        r"(.+?) and (.+?) (?:matter|count|weigh) (?:about )?(?:the same|equally)(?: much)?",
        _of_two(s.SameImportance),
    ),
    (
        r"(?:the )?importance of (.+?) (?:is )?(?:between|from) NUMBER (?:and|to) NUMBER",
        _importance_between,
    ),
    (r"(?:the )?importance of (.+?) (?:is )?at (most|least) NUMBER", _importance_between),
    (rf"(.+?) and (.+?) ({'|'.join(sorted(_SIGNS, key=len, reverse=True))})", _interaction),
    (r"(.+?) and (.+?) interact more than (.+?) and (.+)", _interaction_order),
    (r"(.+?) is (?:a )?(?:must|veto|necessary)", _of_one(s.Must)),
    (r"(.+?) (?:is (?:sufficient|enough)|suffices)", _of_one(s.Sufficient)),
    (r"(.+?) (?:is irrelevant|does not (?:matter|count))", _of_one(s.Irrelevant)),
    (r"(.+?) (?:matters|counts) only (?:if|when|where) (.+?) is good", _of_two(s.OnlyIf)),
    (
        r"(?:be (?:strict|demanding)|a weak criterion must not be made up for)",
        lambda *_: [s.Cautious(None, 0.5)],
    ),
    (r"be (?:lenient|tolerant)", lambda *_: [s.Cautious(0.5, None)]),
    (
        r"(orness|tolerance)(?: is)? at (most|least) NUMBER",
        lambda reader, m: [s.Cautious(*_ends(reader, m, reader.number))],
    ),
    (r"cannot say:? (.+?) or (.+)", _undecided),
    (r"(.+?) - (.+?) > (.+?) - (.+)", _step_larger),
    (r"(.+?) over (.+?) more than (.+?) over (.+)", _step_larger),
    (
        r"(.+?) (?:beats|is better than|is preferred to) (.+?)(?: by (?:at least )?NUMBER)?",
        lambda reader, m: _compared(reader, [m[1], m[2]], [">"], m[3]),
    ),
    (
        r"(.+?) is worse than (.+?)(?: by (?:at least )?NUMBER)?",
        lambda reader, m: _compared(reader, [m[1], m[2]], ["<"], m[3]),
    ),
    (r"(.*?(?:>|<|≥|≤|~|=|≈).*?)(?: by (?:at least )?NUMBER)?", _chain),
    (r"(.+?) (?:is )?(?:about|around) NUMBER(?: ?(?:±|\+/?-) ?NUMBER)?", _about),
    (r"(.+?) (?:is )?(?:between|from) NUMBER (?:and|to) NUMBER", _between),
    (r"(.+?) (?:is )?at (most|least) NUMBER", _between),
    (r"(.+?) (?:is |are )?(\S+)", _in_class),
)
PATTERNS = [
    (re.compile(text.replace("NUMBER", f"({_NUMBER})"), re.IGNORECASE), build)
    for text, build in _TABLE
]
"""Tried in this order; each must fit the whole sentence."""
