"""What is fuzzed: functions that read one file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

__all__ = [
    "read_aligned",
    "read_arrow_inside",
    "read_h5ad_inside",
    "read_journal",
    "read_landmark_map",
    "read_map",
    "read_picture",
    "read_run",
    "read_saved",
    "read_table",
]


def read_table(path: Path) -> None:
    """The public door."""
    from gnomon.data import read_table as read

    read(path)


def read_picture(path: Path) -> None:
    """A picture alone in a folder."""
    from gnomon.data import read_table as read

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "picture.png")
        read(folder)


def read_arrow_inside(path: Path) -> None:
    """What the reading process does with Parquet and Feather files."""
    from gnomon.data.arrow import read_arrow

    read_arrow(path)


def read_h5ad_inside(path: Path) -> None:
    """What the reading process does with h5ad files."""
    from gnomon.data.h5ad import read_h5ad

    read_h5ad(path)


def read_journal(path: Path) -> None:
    """A stage that an earlier run left in a folder: read as it was or computed again."""
    import numpy as np

    from gnomon.scale import Journal

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "stage.npz")
        found = Journal(folder, {"seed": 0}).stage("stage", lambda: {"again": np.arange(3)})
        if not all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in found.values()):
            raise AssertionError(f"a stage of {found!r:.100}")


def read_run(path: Path) -> None:
    """What an earlier run wrote of itself in a folder: it is the same run, or refused."""
    from gnomon.scale import Journal

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "run.json")
        Journal(folder, {"seed": 0, "version": "1.0", "table": "aé"})


def read_map(path: Path) -> None:
    """A saved map, the explanation of what was loaded, and places by the method that was."""
    from gnomon.maps import Map

    loaded = Map.load(path)
    loaded.explain()
    loaded.transform(loaded.X[:3])


def read_landmark_map(path: Path) -> None:
    """A saved map of landmarks, the landmarks as a map, and places of new rows among them."""
    import numpy as np

    from gnomon.maps import LandmarkMap

    loaded = LandmarkMap.load(path)
    loaded.summary(loss=False)
    loaded.place(np.ones((2, loaded.n_features)))


def read_aligned(path: Path) -> None:
    """Saved aligned maps, a page's sequence of them and places of new rows in each."""
    import numpy as np

    import gnomon

    loaded = gnomon.load(path)
    loaded.sequence()
    for one in loaded.estimators_:
        one.transform(np.ones((2, one.n_features_in_)))


def read_saved(path: Path) -> None:
    """A saved estimator or atlas, and places of new rows by it."""
    import numpy as np

    import gnomon

    loaded = gnomon.load(path)
    loaded.transform(np.ones((2, loaded.n_features_in_)))
