"""What every study shares: its command line, the folder it writes to, figures as JSON and pictures as PNG."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["dress", "make_figure", "parse", "parser", "write_json", "write_png"]


def parser(name: str, question: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all studies have.

    Parameters
    ----------
    name : str
        Of the module in `studies`.
    question : str
        What the study asks; the head of the help.
    """
    made = argparse.ArgumentParser(
        prog=f"python -m studies.{name}", description=question, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--data", type=Path, help="folder of the .npz data sets; GNOMON_DATA by default")
    made.add_argument("--out", type=Path, default=Path("build/studies"), help="folder for figures and pictures")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--jobs", type=int, help="threads; all by default, the same result with any")
    return made


def parse(made: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line, make the folder to write to and point gnomon to the data."""
    options = made.parse_args(arguments)
    if options.data is not None:
        os.environ["GNOMON_DATA"] = str(options.data)
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else None
    return value


def write_json(folder: Path, name: str, figures: dict[str, Any]) -> Path:
    """Write figures, arrays as lists, six digits after the point; return the path."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(_plain(figures), indent=1) + "\n")
    print(f"wrote {path}")
    return path


def make_figure(width: float, height: float) -> Any:
    """Return an empty matplotlib figure of so many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def dress(ax: Any) -> None:
    """Take the frame off a plot of curves and leave its two axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("0.7")
    ax.tick_params(color="0.7", labelsize=9)


def write_png(folder: Path, name: str, figure: Any, dpi: int = 130, small: bool = False) -> Path:
    """Write a matplotlib figure, small: with a palette of 256 colours; return the path."""
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=dpi, facecolor="white")
    if small:
        from PIL import Image

        with Image.open(path) as picture:
            reduced = picture.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)
    print(f"wrote {path}")
    return path
