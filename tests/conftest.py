"""What all tests share: hypothesis settings, strategies, and where the data lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import hypothesis
import pytest

# One profile for everywhere: compiled kernels make a first call slow, so no deadline.
hypothesis.settings.register_profile(
    "choquet", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI"))
)
hypothesis.settings.load_profile("choquet")


def pytest_runtest_teardown() -> None:
    """End the worker processes of joblib with the test that used them.

    They would go on to the next one otherwise. When one of them has grown, joblib replaces it, and
    a test of a long run was seen to wait for such a replacement for ever.
    """
    workers = sys.modules.get("joblib.externals.loky.reusable_executor")
    used = getattr(workers, "_executor", None)
    if used is not None and not used._flags.shutdown:
        used.shutdown(wait=True, kill_workers=True)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of data that the package does not carry; tests that need it are skipped without it."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CHOQUET_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}; set CHOQUET_DATA")
    return folder
