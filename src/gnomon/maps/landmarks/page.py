"""The page of a map with landmarks: a sample of its rows before the density of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon._validation import Integer, check_parameters
from gnomon.geometry.check import has_place
from gnomon.neighbors import draw_landmarks
from gnomon.viewer import PageContent

if TYPE_CHECKING:
    from gnomon.maps.landmarks.result import LandmarkMap

__all__ = ["page_of"]

_STREAM = 4
_FEWEST = 100


def page_of(result: LandmarkMap, n_shown: int) -> PageContent:
    """Return what the page of a map shows; see `gnomon.LandmarkMap.write_html`."""
    count = check_parameters({"n_shown": Integer(_FEWEST)}, {"n_shown": n_shown})["n_shown"]
    placed = np.flatnonzero(has_place(result.embedding)).astype(np.int64)
    rows = placed[draw_landmarks(len(placed), min(count, len(placed)), seed=result.random_state, stream=_STREAM)]
    content = PageContent.of(result._map_of(rows))
    loss = result.landmark_loss()
    info = {
        **(content.info or {}),
        "rows": f"{result.n_samples:,}",
        "landmarks": f"{len(result.landmarks):,}",
        "loss of trust by placing": f"{loss.value:+.4f} ± {loss.standard_error:.4f}" if loss.n_anchors else "none",
    }
    more = {"row": rows, **(content.metadata or {})}
    return replace(content, info=info, metadata=more, all_positions=result.embedding)
