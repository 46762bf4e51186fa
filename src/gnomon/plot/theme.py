"""Colours and letters of figures on a light or a dark ground, and the widths that journals print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon._palette import with_lightness
from gnomon._validation import message

__all__ = ["COLUMNS", "DARK", "LIGHT", "Style", "Theme", "style_of"]

COLUMNS = {"single": 3.5, "middle": 4.72, "double": 7.2}
"""Widths of a figure in one, one and a half and two columns of a journal: 89, 120 and 183 millimetres, in inches."""
_PRINTED = 7.0  # points: letters of a figure of a column
_USUAL = 10.0
_TEXT = 0.45  # lightness of coloured text on white, at most


@dataclass(frozen=True)
class Theme:
    """What is drawn in which colour on a ground.

    Attributes
    ----------
    name : {"light", "dark"}
    ground : str
        Behind everything.
    ink, soft : str
        Text, and text that stands back.
    line, faint : str
        Lines to compare with, and lines of a grid.
    plain : str
        Points without classes or values.
    missing : str
        Points whose value is not known.
    """

    name: str
    ground: str
    ink: str
    soft: str
    line: str
    faint: str
    plain: str
    missing: str

    def mark(self, color: str) -> str:
        """Return a colour as it is seen on the ground: on a dark one its lightness lies in the upper part."""
        return color if self.name == "light" else with_lightness(color, lambda light: 0.3 + 0.7 * light)

    def standing_out(self, color: str) -> str:
        """Return a colour of a scale that is dark where to look: on a dark ground it is bright there."""
        return color if self.name == "light" else with_lightness(color, lambda light: 1.12 - 0.85 * light)

    def text(self, color: str) -> str:
        """Return the colour of words about what has a colour, which can be read on the ground."""
        if self.name == "light":
            return with_lightness(color, lambda light: min(light, _TEXT))
        return with_lightness(color, lambda light: max(0.3 + 0.7 * light, 0.8))

    def settings(self, font_size: float) -> dict[str, Any]:
        """Return matplotlib's settings for this ground."""
        ground = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), self.ground)
        inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), self.ink)
        softer = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color", "hatch.color"), self.soft)
        sizes = {"legend.fontsize": "small", "axes.titlesize": "medium", "axes.labelsize": "small"}
        rest = {"font.size": font_size, "grid.color": self.faint, "grid.linewidth": 0.6, "legend.frameon": False}
        return {**ground, **inks, **softer, **sizes, **rest, "axes.axisbelow": True}


LIGHT = Theme("light", "#ffffff", "#16191d", "#555c64", "#8f969e", "#e4e6e9", "#40709e", "0.75")
DARK = Theme("dark", "#14171c", "#eceff2", "#a9b1ba", "#7f8790", "#2c3138", "#7fb2e3", "0.34")
_THEMES = {one.name: one for one in (LIGHT, DARK)}


@dataclass(frozen=True)
class Style:
    """How a figure is drawn.

    Attributes
    ----------
    theme : Theme
    font_size : float
        Of ordinary text, in points; other text is larger or smaller in proportion.
    width : float or None
        Of a new figure, in inches; None takes that of the figure.
    point_size, opacity : float or None
        Area of a mark in square points, and its opacity; None chooses by their number and where they lie.
    rasterized : bool or None
        Whether points are a picture in a vector file; None decides by their number.
    """

    theme: Theme
    font_size: float
    width: float | None = None
    point_size: float | None = None
    opacity: float | None = None
    rasterized: bool | None = None

    @property
    def scale(self) -> float:
        """Size of letters over the usual size."""
        return self.font_size / _USUAL

    def settings(self) -> dict[str, Any]:
        """Return matplotlib's settings."""
        return self.theme.settings(self.font_size)

    def dress(self, ax: Any) -> None:
        """Give the ground, the rims and the ticks of axes their colours, whatever the settings when they are drawn."""
        theme, small = self.theme, 0.833 * self.font_size
        ax.set_facecolor(theme.ground)
        for spine in ax.spines.values():
            spine.set_edgecolor(theme.soft)
        ax.tick_params(color=theme.soft, labelcolor=theme.ink, labelsize=small)
        for label in (ax.xaxis.label, ax.yaxis.label):
            label.set_color(theme.ink)
            label.set_fontsize(small)
        ax.set_axisbelow(True)


def style_of(
    ax: Any,
    theme: str | None,
    width: float | str | None,
    font_size: float | None,
    point_size: float | None,
    opacity: float | None,
    rasterized: bool | None,
) -> Style:
    """Return the style that is asked for, or refuse it; see `Display.plot`."""
    if theme is not None and theme not in _THEMES:
        raise ValueError(message(f"theme={theme!r}", f"one of {', '.join(map(repr, _THEMES))} or None"))
    if isinstance(width, str):
        if width not in COLUMNS:
            rule = f"a number of inches or one of {', '.join(map(repr, COLUMNS))}"
            raise ValueError(message(f"width={width!r}", rule))
        inches: float | None = COLUMNS[width]
    else:
        inches = width
    for name, value, most in (
        ("width", inches, 100.0),
        ("font_size", font_size, 100.0),
        ("point_size", point_size, 1e6),
        ("opacity", opacity, 1.0),
    ):
        if value is not None and not 0.0 < value <= most:
            raise ValueError(message(f"{name}={value}", f"in (0, {most:g}]"))
    if ax is not None and inches is not None:
        raise ValueError(message(f"width={width!r}", "None where ax is given", fact="its figure has a width"))
    size = font_size or (_USUAL if inches is None else _PRINTED)
    chosen = _theme_behind(ax) if theme is None else _THEMES[theme]
    return Style(chosen, size, inches, point_size, opacity, rasterized)


def _theme_behind(ax: Any) -> Theme:
    """Return the theme that is read on the axes given; light for a new figure."""
    if ax is None:
        return LIGHT
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    return DARK if alpha > 0.5 and 0.3 * red + 0.59 * green + 0.11 * blue < 0.4 else LIGHT
