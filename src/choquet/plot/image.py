"""iVAT images: one with its clusters, or several on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from choquet.arrays import FloatArray, IntArray
from choquet.errors import DataError, OptionError
from choquet.plot.style import GREY, axes_or_new, percent, points_of, short_name, spread, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 500
"""Pixels a side when not told: more than most pictures show."""


class _Image(Protocol):
    """What is asked of an iVAT image."""

    order: IntArray
    heights: FloatArray
    counts: IntArray
    metric: str

    def image(self, size: int | None = None) -> FloatArray: ...


class _Block(NamedTuple):
    label: int
    start: float
    end: float


def ivat(
    thing: Any,
    *,
    labels: npt.ArrayLike | None = None,
    boxes: bool = True,
    size: int | None = None,
    scale: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The iVAT image, dark where operators are alike, with a box for every cluster.

    Parameters
    ----------
    thing : IVAT or ClusterDecomposition
        A decomposition brings its clusters, and the names and shares of their operators.
    labels : array-like of n ints, optional
        Cluster of each point; by default those of the decomposition. Negative ones get no box.
    boxes : bool, default True
        Draw boxes and names.
    size : int, optional
        Pixels a side; one for each row by default, but at most 500.
    scale : float, optional
        Dissimilarity shown as white; the largest of the image by default. Give the same to
        pictures that are to be compared, or use `compare`; ``scale=decomposition.scale`` shows how
        little the operators may differ at all.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Havens, Bezdek (2012). An efficient formulation of the improved visual assessment of cluster
    tendency (iVAT) algorithm. IEEE TKDE 24, 813-822.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import OperatorGraph, datasets, plot
    >>> from choquet.clustering import ivat
    >>> graph = OperatorGraph(datasets.make_noise_measure())
    >>> picture = ivat(graph.weights(), counts=graph.walk_counts)
    >>> ax = plot.ivat(picture, labels=picture.cut(k=2), ax=Figure().subplots())
    >>> len(ax.images), len(ax.patches)
    (1, 2)
    """
    thing = _clustered(thing)
    picture = _picture_of(thing)
    ax = axes_or_new(ax, (6.5, 6.0))
    image = _draw(ax, picture, size, _scale_of([picture], scale))
    ax.set_xlabel("share of walks, in iVAT order")
    ax.set_ylabel("share of walks, in iVAT order")
    # Inside the axes' own space: a bar that takes room from others would move the user's layout.
    below = ax.inset_axes((0.15, -0.2, 0.7, 0.03))
    bar = ax.figure.colorbar(image, cax=below, orientation="horizontal")
    bar.set_label(f"iVAT dissimilarity ({picture.metric})")
    if boxes:
        found = getattr(thing, "labels", None) if labels is None else labels
        if found is not None:
            blocks = _blocks(picture, np.asarray(found))
            _draw_boxes(ax, blocks)
            _draw_names(ax, blocks, _names(thing, blocks))
    return ax


def compare(
    decompositions: Mapping[str, Any] | Sequence[Any],
    *,
    size: int | None = None,
    scale: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Several iVAT images side by side on one scale, with the number of their operators.

    Parameters
    ----------
    decompositions : mapping from title to, or sequence of, ClusterDecomposition or IVAT
        What to compare; all must use the same dissimilarity.
    size : int, optional
        Pixels a side of each, as for `ivat`.
    scale : float, optional
        Dissimilarity shown as white; the largest of all images by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. The images lie inside, as its child axes.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Figures 7 and 8.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import plot
    >>> from choquet.clustering import ivat
    >>> one = ivat([[1, 0], [0.9, 0.1]], metric="l1")
    >>> two = ivat([[1, 0], [0, 1]], metric="l1")
    >>> ax = plot.compare({"alike": one, "apart": two}, ax=Figure().subplots())
    >>> [child.get_title() for child in ax.child_axes[:2]]
    ['alike', 'apart']
    """
    named = (
        dict(decompositions)
        if isinstance(decompositions, Mapping)
        else {f"({chr(97 + k % 26)})": thing for k, thing in enumerate(decompositions)}
    )
    if not named:
        raise DataError("nothing to compare: give at least one decomposition")
    pictures = {title: _picture_of(thing) for title, thing in named.items()}
    metrics = sorted({picture.metric for picture in pictures.values()})
    if len(metrics) > 1:
        raise OptionError(f"one scale needs one dissimilarity, not {', '.join(metrics)}")
    top = _scale_of(list(pictures.values()), scale)
    columns = len(named) if len(named) <= 4 else ceil(len(named) ** 0.5)
    rows = ceil(len(named) / columns)
    ax = axes_or_new(ax, (3.2 * columns, 3.4 * rows + 0.7))
    ax.set_axis_off()
    width, height = 1 / columns, 0.88 / rows
    image: Any = None
    for k, (title, thing) in enumerate(named.items()):
        row, column = divmod(k, columns)
        corner = (column * width + 0.06 * width, 1 - (row + 1) * height + 0.12 * height)
        inner = ax.inset_axes((*corner, 0.88 * width, 0.72 * height))
        image = _draw(inner, pictures[title], size, top)
        inner.set_xticks([])
        inner.set_yticks([])
        inner.set_title(title, fontsize=10, parse_math=False)
        inner.set_xlabel(_note(thing, pictures[title]), fontsize=8)
        found = getattr(_clustered(thing), "labels", None)
        if found is not None:
            _draw_boxes(inner, _blocks(pictures[title], np.asarray(found)))
    below = ax.inset_axes((0.2, 0.06, 0.6, 0.025))
    bar = ax.figure.colorbar(image, cax=below, orientation="horizontal")
    bar.set_label(f"iVAT dissimilarity ({metrics[0]}), one scale for all")
    return ax


def _clustered(thing: Any) -> Any:
    """A decomposition the way of the paper, which the picture is of; anything else as it is."""
    return getattr(thing, "clusters", thing)


def _picture_of(thing: Any) -> _Image:
    picture = getattr(_clustered(thing), "ivat", thing)
    if not all(hasattr(picture, name) for name in ("order", "heights", "counts", "image")):
        raise DataError(
            f"an iVAT image or a decomposition is needed, not {type(thing).__name__}; "
            "make one with choquet.ivat or choquet.decompose"
        )
    found: _Image = picture
    return found


def _scale_of(pictures: Sequence[_Image], scale: float | None) -> float:
    if scale is not None:
        if not scale > 0:
            raise OptionError(f"scale={scale} must be above 0")
        return float(scale)
    # A single operator has no dissimilarity at all: then everything is black, as in the paper.
    return max(float(np.max(picture.heights)) for picture in pictures) or 1.0


def _draw(ax: Axes, picture: _Image, size: int | None, top: float) -> Any:
    total = int(picture.counts.sum())
    pixels = picture.image(min(total, _SIZE) if size is None else size)
    look: dict[str, Any] = {"cmap": "gray", "interpolation": "nearest"}
    return ax.imshow(pixels, extent=(0, 1, 1, 0), vmin=0, vmax=top, **look)


def _note(thing: Any, picture: _Image) -> str:
    """Number of operators, and by how much the output is wrong at worst, where that is known."""
    operators = getattr(thing, "operators", None)
    if operators is None:
        return f"{len(picture.order):,} points"
    text = f"{len(operators)} operator{'s' if len(operators) != 1 else ''}"
    worst = getattr(getattr(thing, "error", None), "worst", None)
    return text if worst is None else f"{text}, worst error {worst:.2g}"


# -- clusters --------------------------------------------------------------------------------------


def _blocks(picture: _Image, labels: IntArray) -> list[_Block]:
    """Runs of equal labels along the order; a cluster that is not together has several."""
    if labels.shape != picture.order.shape:
        raise DataError(
            f"labels of shape {labels.shape} do not fit an image of {len(picture.order)} points"
        )
    along = labels[picture.order]
    ends = np.cumsum(picture.counts[picture.order], dtype=np.float64)
    ends /= ends[-1]
    last = np.flatnonzero(np.append(along[1:] != along[:-1], True))
    starts = np.concatenate([[0.0], ends[last[:-1]]])
    return [
        _Block(int(along[k]), float(a), float(ends[k]))
        for k, a in zip(last, starts, strict=True)
        if along[k] >= 0
    ]


def _draw_boxes(ax: Axes, blocks: Sequence[_Block]) -> None:
    for block in blocks:
        side, colour = block.end - block.start, style_of(block.label).colour
        box = Rectangle((block.start, block.start), side, side, fill=False, edgecolor=colour)
        # White around it, so that a dark box is seen on a dark block.
        white = [withStroke(linewidth=4.2, foreground="white")]
        box.set(linewidth=2.2, clip_on=False, path_effects=white)
        ax.add_patch(box)


def _names(thing: Any, blocks: Sequence[_Block]) -> dict[int, str]:
    """Text for each cluster: name and share of its operator, or its number."""
    operators = getattr(thing, "operators", None)
    names = {}
    for label in {block.label for block in blocks}:
        if operators is None or label >= len(operators):
            names[label] = f"cluster {label + 1}"
            continue
        share = getattr(operators[label], "share", None)
        part = "" if share is None else f"\n{percent(float(share))}"
        names[label] = f"{short_name(operators[label].name)}{part}"
    return names


def _draw_names(ax: Axes, blocks: Sequence[_Block], names: Mapping[int, str]) -> None:
    """Names beside the image, each with a line to the largest block of its cluster."""
    largest: dict[int, _Block] = {}
    for block in blocks:
        known = largest.get(block.label)
        if known is None or block.end - block.start > known.end - known.start:
            largest[block.label] = block
    shown = sorted(largest.values(), key=lambda block: block.start)
    middles = np.array([(block.start + block.end) / 2 for block in shown])
    lines = 1 + max((names[block.label].count("\n") for block in shown), default=0)
    font = 9.0
    # Lines of 1.2 em, and a third more because the layout may yet make room for these very names.
    gap = (1.33 * lines * 1.2 * font) / max(min(points_of(ax)), 1.0)
    if len(shown) * gap > 1:  # smaller letters before letters on top of each other
        font *= max(1 / (len(shown) * gap), 0.4)
        gap = 1 / len(shown)
    places = spread(middles, gap, gap / 2, 1 - gap / 2)
    side = ax.get_yaxis_transform()
    line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.8, "shrinkA": 0, "relpos": (0, 0.5)}
    for block, middle, place in zip(shown, middles, places, strict=True):
        ax.annotate(
            names[block.label], (1.0, middle), (1.05, place), side, side, line,
            annotation_clip=False, va="center", ha="left", fontsize=font, parse_math=False,
        )  # fmt: skip
