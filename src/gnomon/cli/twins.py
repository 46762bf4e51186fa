"""`gnomon blind-spots` and `gnomon proves`: what a map alone can show, whatever its data say."""

from __future__ import annotations

import shlex
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, given, json_text
from gnomon.cli.options import map_file, open_map, with_json, with_threads
from gnomon.cli.outputs import check_outputs, destination, tell, tell_files

__all__ = ["blind_spots", "check_claims", "proves"]

_KINDS = {"apart": 2, "empty": 2, "nearer": 3, "denser": 2, "wider": 2, "near": 2}  # and how many each is about
_SAVE = "Write the map with the answer, which `gnomon show` then tells; the name may be that of MAP."
_SEEDS = "Further seeds whose maps say which count as the same, 9 by default."


@click.command("blind-spots")
@map_file
@click.option("--save", metavar="FILE", help=_SAVE)
@click.option("-o", "--output", metavar="FILE", help="Write a page of the first two tables with the same map.")
@click.option("--seeds", type=click.IntRange(1), help=_SEEDS)
@click.option("--shifts", type=click.IntRange(0), help="Features of each group that are raised, 2 by default.")
@with_threads
@with_json
@entrance("gnomon blind-spots")
def blind_spots(
    map_path: str,
    save: str | None,
    output: str | None,
    seeds: int | None,
    shifts: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Search for changes of the data that MAP does not show: another table, the same map.

    Groups, which are labels or else clusters, are made wider and narrower, moved and shifted, and folds laid flat; the
    method of the map, a file that `gnomon map --save` wrote, maps each changed table again.
    """
    paths = given(map=save, html=output)
    check_outputs(paths, as_json=as_json)
    result = open_map(map_path, threads)
    with collect_warnings([]):
        found = result.blind_spots(**given(n_seeds=seeds, n_shifts=shifts))
        if output is not None:
            with destination("html", output) as file:
                found.to_html(file)
    _end(result, paths, json_text(found.to_dict()) if as_json else found.summary(), as_json=as_json)


@click.command("proves")
@map_file
@click.argument("kind", type=click.Choice(list(_KINDS)))
@click.argument("about", nargs=-1, metavar="GROUPS|ROWS")
@click.option("--save", metavar="FILE", help=_SAVE)
@click.option("--budget", type=click.IntRange(1), help="Changed tables tried at most, 12 by default.")
@click.option("--seeds", type=click.IntRange(1), help=_SEEDS)
@click.option("--random", type=click.IntRange(0), help="Random changes that say what chance gives, 4 by default.")
@with_threads
@with_json
@entrance("gnomon proves")
def proves(
    map_path: str,
    kind: str,
    about: tuple[str, ...],
    save: str | None,
    budget: int | None,
    seeds: int | None,
    random: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Search for a table with the same map of which a claim is false: can the claim be read from MAP?

    Claims: A and B are "apart", the gap between A and B is "empty", A is "nearer" to B than to C, A is "denser" or
    "wider" than B, row y is "near" row x. Groups are labels, or without labels "cluster 0" and so on. `gnomon verdict`
    asks the data whether something is true; this asks whether the map could show it.
    """
    claim = _claim(kind, about)
    paths = given(map=save)
    check_outputs(paths, as_json=as_json)
    result = open_map(map_path, threads)
    with collect_warnings([]):
        proof = result.proves(claim, **given(budget=budget, n_seeds=seeds, n_random=random))
    _end(result, paths, json_text(proof.to_dict()) if as_json else proof.summary(), as_json=as_json)


def check_claims(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[tuple[Any, ...]] | None:
    """Turn claims such as "nearer A B C" into what `Map.proves` takes; quotes hold names with spaces together."""
    found = []
    for text in values:
        try:
            kind, *about = shlex.split(text) or [""]
        except ValueError as error:
            raise click.BadParameter(f"{text!r}: {error}.") from error
        if kind not in _KINDS:
            raise click.BadParameter(f"{text!r} must begin with one of {', '.join(_KINDS)}, such as 'apart A B'.")
        found.append(_claim(kind, tuple(about)))
    return found or None


def _claim(kind: str, about: tuple[str, ...]) -> tuple[Any, ...]:
    count = _KINDS[kind]
    if len(about) != count:
        raise click.UsageError(f"{kind} is about {count} {'rows' if kind == 'near' else 'groups'}, not {len(about)}.")
    return (kind, *(_row(one) for one in about)) if kind == "near" else (kind, *about)


def _row(text: str) -> int:
    if not text.isdecimal():
        raise click.UsageError(f"near is about numbers of rows, counted from 0, not {text!r}.")
    return int(text)


def _end(result: Any, paths: dict[str, str], text: str, *, as_json: bool) -> None:
    """Write the map with the answer, and tell it."""
    if "map" in paths:
        with destination("map", paths["map"]) as file:
            result.save(file)
    tell(text, paths)
    if not as_json:
        tell_files(paths)
