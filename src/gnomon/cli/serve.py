"""`gnomon serve`: the page of a saved map with exact answers, for the browser of this machine."""

from __future__ import annotations

import webbrowser

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings
from gnomon.cli.options import map_file, open_map, with_threads

__all__ = ["serve"]


@click.command("serve")
@map_file
@click.option("--port", type=int, default=0, show_default=True, help="Where to listen; 0 takes a free port.")
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@click.option("--title", help="Title; by default the name of the map.")
@with_threads
@entrance("gnomon serve")
def serve(map_path: str, port: int, no_browser: bool, title: str | None, threads: int | None) -> None:
    """Show MAP in the browser, with exact answers from all of its rows; Ctrl-C ends it.

    MAP is a file that `gnomon map --save` wrote. Beside what the page of `gnomon show` does, it says where a point
    would go if values of its row were others, compares a selection over all rows, and lists exact values and
    neighbours. Only programs of this machine that know the address are answered.
    """
    from gnomon.server import MapServer

    with collect_warnings([]):
        server = MapServer(open_map(map_path, threads), port=port, title=title)
    click.echo(f"Serving {map_path} at {server.url} (Ctrl-C ends it)")
    if not no_browser:
        webbrowser.open(server.url)
    try:
        server.run()
    except KeyboardInterrupt:
        click.echo("Stopped.")
