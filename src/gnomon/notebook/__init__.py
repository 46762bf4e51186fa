"""Maps in notebooks: the page where a map is displayed, and a widget that Python and the page share."""

from typing import Any

from gnomon._optional import import_optional
from gnomon.notebook.embedded import embed, map_html

__all__ = ["embed", "map_html"]


def __getattr__(name: str) -> Any:
    if name == "MapWidget":
        import_optional("anywidget", package="anywidget", extra="widget")
        from gnomon.notebook.widget import MapWidget

        return MapWidget
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
