"""A map where a notebook displays it: the page in a sandboxed frame, and a picture where frames are left out."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from gnomon._printed import preformatted
from gnomon.evaluation.words import title_of
from gnomon.viewer import PageContent
from gnomon.viewer.document import Document
from gnomon.viewer.packing import TEXT
from gnomon.viewer.write import compose, preview_png

__all__ = ["BYTE_BUDGET", "comparison_html", "embed", "map_html"]

BYTE_BUDGET = 4 << 20
"""Bytes that a displayed map may add to a notebook."""

_MOST_ROWS, _MOST_VALUES = 5_000, 1_000_000  # explained and scored on display, within a few seconds of one core
_BYTES_OF_POINT = 8  # at least, in any page
_ESCAPED = 100_000  # bytes that quotes and signs of the page take more within an attribute
_MOST_COMPONENTS = 3  # of a map that a page shows
_FITS = ("r2", "ellipses", "global_importance", "top_features", "feature_names", "distortion")
_SANDBOX = "allow-scripts allow-downloads"
_NOT_ASKED = (
    "What moves the points and how far to trust them is computed on display up to "
    f"{_MOST_ROWS:,} rows and {_MOST_VALUES:,} values. Call explain() and evaluate(), then show the map again."
)
_LEFT_OUT = "Feature values and pictures are left out to keep the notebook small: to_html writes all, widget shows all."


def map_html(map: Any, *, byte_budget: int = BYTE_BUDGET) -> str:
    """Return a map as HTML for the output of a notebook.

    A map of at most 5,000 rows and 1,000,000 values is explained and evaluated, unless it is already. A larger one
    shows what was asked of it before, and says so.

    Parameters
    ----------
    map : gnomon.Map
        What to show.
    byte_budget : int, default=4 MiB
        Bytes of the result at most. A page that takes more goes without feature values, pictures and local fits; if
        that still takes more, a picture with the scores is shown instead.

    Returns
    -------
    str
    """
    n_components = map.embedding.shape[1]
    if not 2 <= n_components <= _MOST_COMPONENTS:
        return preformatted(f"{map}\n\nA page shows maps of two or three components. This one has {n_components}.")
    asked = map._explanation is not None and map._evaluation is not None
    cheap = map.n_samples <= _MOST_ROWS and map.n_samples * map.n_features <= _MOST_VALUES
    content = PageContent.of(map) if cheap else PageContent.known(map)
    notes = [] if asked or cheap else [_NOT_ASKED]
    document = Document(content.embedding, content.labels, content.label_name)
    picture = preview_png(document.embedding, document.colors, width=560, height=420)
    facts = {"rows": f"{map.n_samples:,}", "features": f"{map.n_features:,}", "method": content.method}
    scores = {} if content.evaluation is None else content.evaluation.scores()
    facts |= {title_of(name): f"{value:.3f}" for name, value in scores.items()}
    room = byte_budget - _size(embed("", title=map.heading, picture=picture, facts=facts))
    if TEXT * _BYTES_OF_POINT * map.n_samples < room:
        for shown, more in ((content, []), (_light(content), [_LEFT_OUT])):
            page = "".join(compose(shown, byte_budget=max(1, room - _ESCAPED), notes=[*notes, *more]))
            if _size(_attribute(page)) <= room:
                return embed(page, title=map.heading, picture=picture, facts=facts)
    hint = f"The interactive page takes more than {byte_budget / 2**20:g} MiB: to_html writes it, widget shows it."
    return embed(None, title=map.heading, picture=picture, facts=facts, hint=hint)


def comparison_html(comparison: Any, *, byte_budget: int = BYTE_BUDGET) -> str:
    """Return maps side by side as HTML for the output of a notebook, or their scores where that takes more bytes.

    Parameters
    ----------
    comparison : gnomon.comparison.Comparison
        Its maps have two or three components; of others the scores are shown.
    byte_budget : int, default=4 MiB
        Bytes of the result at most.

    Returns
    -------
    str
    """
    summary, maps = preformatted(str(comparison)), list(comparison.maps.values())
    room = byte_budget - _size(summary)
    if any(one.shape[1] > _MOST_COMPONENTS for one in maps) or _BYTES_OF_POINT * sum(map(len, maps)) > room:
        return summary
    with TemporaryDirectory() as folder:
        path = Path(folder) / "maps.html"
        comparison.to_html(path)
        page = path.read_text(encoding="utf-8")
    document = Document(maps[0][:, :2], comparison.labels, "label")
    picture = preview_png(document.embedding, document.colors, width=560, height=420)
    whole = summary + embed(page, title="Maps side by side", picture=picture, facts={}, height=480)
    return whole if _size(whole) <= byte_budget else summary


def _light(content: PageContent) -> PageContent:
    """Return what a page shows without what grows with rows times features."""
    fits = content.explanation
    lean = None if fits is None else SimpleNamespace(**{name: getattr(fits, name, None) for name in _FITS})
    return replace(content, X=None, images=None, image_shape=None, explanation=lean, compares_neighbors=False)


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


def _attribute(page: str) -> str:
    """Return a page as the text of an attribute; the single quotes of its data stay, which double quotes enclose."""
    return html.escape(page, quote=False).replace('"', "&quot;")


def embed(
    page: str | None, *, title: str, picture: bytes, facts: Mapping[str, str], hint: str = "", height: int = 600
) -> str:
    """Return a page in a frame that may run its scripts and save files, and reach nothing of the notebook.

    Behind the frame, so visible where frames are left out, stand a picture and facts.

    Parameters
    ----------
    page : str or None
        A whole HTML page; None for the picture and the facts alone.
    title : str
        What it is of; escaped here, as are the facts.
    picture : bytes
        PNG.
    facts : mapping of str to str
        A table beside the picture.
    hint : str, default=""
        A sentence below them; by default how to see the page where frames are left out.
    height : int, default=600
        Of the frame, in pixels.

    Returns
    -------
    str
    """
    name = html.escape(title)
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
    source = base64.b64encode(picture).decode("ascii")
    told = hint or "This is a picture: trust the notebook, or open it where it was made, to see the interactive map."
    behind = (
        f'<p><b>{name}</b></p><div style="display:flex;gap:24px;align-items:flex-start"><img alt="Picture of {name}" '
        f'src="data:image/png;base64,{source}" style="max-width:60%"><table>{rows}</table></div>'
        f"<p>{html.escape(told)}</p>"
    )
    if page is None:
        return f"<div>{behind}</div>"
    frame = (
        f'<iframe title="{name}" sandbox="{_SANDBOX}" srcdoc="{_attribute(page)}" '
        'style="position:absolute;left:0;top:0;width:100%;height:100%;border:0;background:#fff"></iframe>'
    )
    return f'<div style="position:relative;min-height:{height}px">{behind}{frame}</div>'
