"""The paper's remote-sensing data: soft-max scores of seven networks on the AID images.

The origin keeps one text file for each network fold, split and class. They are read straight from
the folder or archive (archives in memory: nothing is unpacked to disk) into one array.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray, check_option
from choquet.datasets.bunch import Bunch
from choquet.datasets.download import Progress, cache_folder, download, show_progress
from choquet.errors import DamagedFileError, DataError, FileError
from choquet.files import write_whole

AID_URL = (
    "https://github.com/aminb99/remote-sensing-nn-datasets/archive/"
    "7cdf735533521d75d788f1f984a4358330b33e8b.tar.gz"
)
"""The public origin at one commit, so that it cannot change under us."""

AID_DIGEST = "26f5be6ff6b0b9a31edfbc82ec1b43dd78161e74c9a158fe8dca8408750a2e18"
"""SHA-256 of the numbers themselves (see `_digest`): archives of one commit may differ in bytes."""

_SPLITS = ("training", "test")
_NETWORKS: tuple[str, ...] = (
    *("CaffeNet", "GoogleNet", "ResNet50", "ResNet101"),
    *("DenseNet", "InceptionResNetV2", "Xception"),
)
_CLASSES = (
    *("Airport", "BareLand", "BaseballField", "Beach", "Bridge", "Center", "Church"),
    *("Commercial", "DenseResidential", "Desert", "Farmland", "Forest", "Industrial", "Meadow"),
    *("MediumResidential", "Mountain", "Park", "Parking", "Playground", "Pond", "Port"),
    *("RailwayStation", "Resort", "River", "School", "SparseResidential", "Square", "Stadium"),
    *("StorageTanks", "Viaduct"),
)
_MEMBER = re.compile(r"(?:^|/)AID_dataset/NNFold_(\d+)/Fold_1/(training|test)/(\d\d)\.txt$")
_MAX_MEMBER = 10_000_000
"""Bytes of the largest text file that is read; the real ones have 50,000."""
_CACHED = "aid_7_networks.npz"
_ADVICE = (
    "try again later, or get the archive of github aminb99/remote-sensing-nn-datasets yourself and "
    "pass its name as path="
)


@dataclass(frozen=True, eq=False, repr=False)
class AIDScores:
    """Scores of the networks for every fold, split, class and image.

    Attributes
    ----------
    scores : array of shape (n_folds, 2, n_classes, n_images, N)
        By network fold, split (training, test), class asked about, image and network.
    labels : array of ints of shape (n_folds, 2, n_images)
        True class of each image, from 0.
    networks : tuple of N str
        Names of the networks (sources); their order is inferred from the paper.
    classes : tuple of str
        Names of the classes.

    Examples
    --------
    >>> scores = AIDScores(np.zeros((1, 2, 1, 3, 2)), np.zeros((1, 2, 3), int), ("a", "b"), ("",))
    >>> scores.bunch().feature_names
    ('a', 'b')
    """

    scores: FloatArray
    labels: IntArray
    networks: tuple[str, ...]
    classes: tuple[str, ...]

    def bunch(
        self,
        network_fold: int = 0,
        split: Literal["training", "test"] = "training",
        label: int = 0,
        *,
        fusion_fold: Literal[1, 2] = 1,
    ) -> Bunch:
        """Scores for one class, with the target "it is of this class" (1 or 0).

        Parameters
        ----------
        network_fold : int, default 0
            Counted from 0.
        split : {"training", "test"}, default "training"
            Which half of the images.
        label : int, default 0
            The class asked about, counted from 0.
        fusion_fold : {1, 2}, default 1
            Fold 2 is fold 1 with training and test exchanged.

        Raises
        ------
        DataError
            For a fold or a class that is not there.
        """
        half = _SPLITS.index(check_option("split", split, _SPLITS))
        if fusion_fold not in (1, 2):
            raise DataError(f"fusion_fold={fusion_fold} must be 1 or 2")
        n_folds, _, n_classes = self.scores.shape[:3]
        for name, value, size in (
            ("network_fold", network_fold, n_folds),
            ("label", label, n_classes),
        ):
            if not 0 <= value < size:
                raise DataError(f"{name}={value} must lie in 0..{size - 1}")
        half = half if fusion_fold == 1 else 1 - half
        return Bunch(
            data=self.scores[network_fold, half, label].copy(),
            target=(self.labels[network_fold, half] == label).astype(np.float64),
            feature_names=self.networks,
            target_name=self.classes[label],
            description=(
                f"AID, soft-max scores for the class {self.classes[label]}, network fold "
                f"{network_fold + 1}, {split} half of fusion fold {fusion_fold}. Github "
                "aminb99/remote-sensing-nn-datasets, licence MIT."
            ),
        )

    def __repr__(self) -> str:
        n_folds, _, n_classes, n_images, n_networks = self.scores.shape
        return (
            f"<AIDScores: {n_folds} network folds × training, test × {n_classes} classes × "
            f"{n_images:,} images × {n_networks} networks>"
        )


def fetch_aid(
    path: str | os.PathLike[str] | None = None,
    *,
    url: str = AID_URL,
    verify: bool = True,
    timeout: float = 30.0,
    progress: Progress | None = show_progress,
) -> AIDScores:
    """Scores of seven networks on the AID images, read from disk or downloaded once.

    Parameters
    ----------
    path : path, optional
        A folder that holds ``AID_dataset``, or a tar archive of it. Without it the data come from
        the cache, or else from the public origin (then they are kept in the cache).
    url : str
        The archive to download.
    verify : bool, default True
        Require that the numbers have the checksum of those that this library was tested with.
    timeout : float, default 30
        Seconds without an answer after which to give up.
    progress : callable, optional
        Called with the bytes so far and in all; by default a bar, if there is a terminal.

    Returns
    -------
    AIDScores
        Scores of all folds; `AIDScores.bunch` makes a table for one class.

    Raises
    ------
    FileError
        If the path is not there, or the origin cannot be reached: the message says what to do.
    DamagedFileError
        If files are missing or malformed, or the checksum differs.

    Notes
    -----
    The cache is the folder CHOQUET_CACHE if that variable is set, or the platform's usual place.

    References
    ----------
    Xia et al. (2017). AID: a benchmark data set for performance evaluation of aerial scene
    classification. IEEE TGRS 55, 3965-3981. Scores: github aminb99/remote-sensing-nn-datasets, MIT.

    Examples
    --------
    >>> fetch_aid("no/such/folder")
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: no/such/folder is not there; give a folder that holds AID_dataset, ...
    """
    if path is not None:
        found = _assemble(_files_at(Path(path)), str(path))
        _check(found, verify, str(path))
        return found
    cached = cache_folder() / _CACHED
    kept = _read_cache(cached)
    if kept is not None and (not verify or _digest(kept) == AID_DIGEST):
        return kept
    return _download_aid(url, cached, verify, timeout, progress)


def _download_aid(
    url: str, cached: Path, verify: bool, timeout: float, progress: Progress | None
) -> AIDScores:
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot make the cache folder {cached.parent} ({error.strerror}); "
            "set the variable CHOQUET_CACHE to a folder that can be written"
        ) from None
    with tempfile.TemporaryFile(dir=cached.parent) as stream:
        download(url, stream, timeout=timeout, progress=progress, advice=_ADVICE)
        stream.seek(0)
        found = _assemble(_members_of(stream, url), url)
    _check(found, verify, url)
    content = io.BytesIO()
    np.savez_compressed(content, scores=found.scores, labels=found.labels)
    write_whole(cached, content.getvalue(), overwrite=True)
    return found


def _read_cache(cached: Path) -> AIDScores | None:
    """What an earlier download left, or None; damaged leftovers are fetched again."""
    try:
        with np.load(cached, allow_pickle=False) as arrays:
            scores, labels = arrays["scores"], arrays["labels"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None
    return _named(scores, labels)


def _named(scores: FloatArray, labels: IntArray) -> AIDScores:
    n_classes, n_networks = scores.shape[2], scores.shape[4]
    networks, classes = _NETWORKS, _CLASSES[:n_classes]
    if n_networks != len(networks):
        networks = tuple(f"network{i + 1}" for i in range(n_networks))
    if n_classes > len(classes):
        classes = tuple(f"class{i}" for i in range(n_classes))
    return AIDScores(scores, labels, networks, classes)


def _digest(found: AIDScores) -> str:
    """SHA-256 of the scores and labels as little-endian numbers."""
    digest = hashlib.sha256(found.scores.astype("<f8").tobytes())
    digest.update(found.labels.astype("<i8").tobytes())
    return digest.hexdigest()


def _check(found: AIDScores, verify: bool, where: str) -> None:
    if verify and _digest(found) != AID_DIGEST:
        raise DamagedFileError(
            f"the numbers in {where} have the checksum {_digest(found)}, not {AID_DIGEST}; "
            "get the original files, or pass verify=False to use these"
        )


# -- files -----------------------------------------------------------------------------------------


def _files_at(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the text files in a folder or archive."""
    if path.is_dir():
        top = path if path.name == "AID_dataset" else path / "AID_dataset"
        for file in sorted(top.glob("NNFold_*/Fold_1/*/*.txt")):
            yield (Path("AID_dataset") / file.relative_to(top)).as_posix(), file.read_bytes()
    elif path.is_file():
        with path.open("rb") as stream:
            yield from _members_of(stream, str(path))
    else:
        raise FileError(
            f"{path} is not there; give a folder that holds AID_dataset, a tar archive of it, or "
            "no path to download it"
        )


def _members_of(stream: io.BufferedIOBase | object, where: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the wanted files of a tar archive, read in memory.

    Nothing is unpacked to disk, so no member can be written outside a folder.
    """
    try:
        with tarfile.open(fileobj=stream, mode="r:*") as archive:  # type: ignore[call-overload]
            for member in archive:
                if not member.isfile() or not _MEMBER.search(member.name):
                    continue
                if member.size > _MAX_MEMBER:
                    raise DamagedFileError(
                        f"{member.name} in {where} has {member.size:,} bytes: no file of AID"
                    )
                content = archive.extractfile(member)
                assert content is not None  # it is a file
                yield member.name, content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise DamagedFileError(f"{where} is no tar archive that can be read: {error}") from None


def _assemble(files: Iterator[tuple[str, bytes]], where: str) -> AIDScores:
    """One array of the tables of all files, which must form a full grid."""
    tables: dict[tuple[int, int, int], FloatArray] = {}
    for name, content in files:
        match = _MEMBER.search(name)
        if match is not None:
            fold, split, number = match.groups()
            tables[int(fold), _SPLITS.index(split), int(number)] = _table(content, name)
    if not tables:
        raise DamagedFileError(
            f"{where} holds no AID_dataset/NNFold_1/Fold_1/training/01.txt and the like; give the "
            "folder above AID_dataset, or an archive of it"
        )
    n_folds, n_classes = (max(key[axis] for key in tables) for axis in (0, 2))
    shape = next(iter(tables.values())).shape
    everything = np.empty((n_folds, 2, n_classes, *shape))
    for fold, half, number in np.ndindex(n_folds, 2, n_classes):
        name = f"AID_dataset/NNFold_{fold + 1}/Fold_1/{_SPLITS[half]}/{number + 1:02d}.txt"
        table = tables.get((fold + 1, half, number + 1))
        if table is None or table.shape != shape:
            state = "missing" if table is None else f"of shape {table.shape}, not {shape}"
            raise DamagedFileError(f"{name} in {where} is {state}; get the data again")
        everything[fold, half, number] = table
    labels = everything[..., -1]
    if (labels != labels[:, :, :1]).any():
        raise DamagedFileError(f"the files of one folder in {where} differ in their true classes")
    return _named(everything[..., :-1].copy(), labels[:, :, 0].astype(np.int64))


def _table(content: bytes, name: str) -> FloatArray:
    try:
        if b"_" in content:  # Python's own notation, 1_0 for 10, is nobody else's
            raise ValueError("it holds underscores")
        rows = [line.split(b",") for line in content.split()]
        return np.array(rows, dtype=np.bytes_).astype(np.float64).reshape(len(rows), -1)
    except ValueError as error:
        raise DamagedFileError(f"{name} is no table of numbers: {error}") from None
