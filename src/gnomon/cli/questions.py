"""The commands that ask questions of a saved map, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gnomon._entrance import entrance
from gnomon.cli.console import as_options, collect_warnings, given, json_text
from gnomon.cli.options import map_file, open_map, with_json, with_threads
from gnomon.cli.outputs import check_outputs, destination, tell, tell_files
from gnomon.cli.record import write_records

if TYPE_CHECKING:
    from gnomon.explanations import AnswersByLabel, Caption

__all__ = [
    "axis",
    "contrast",
    "counterfactual",
    "importance",
    "neighbors",
    "outliers",
    "points",
    "profile",
    "saliency",
    "suspects",
    "why",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _n_top(default: int, what: str = "Features") -> Callable[[_Command], _Command]:
    """Add the option for the number of features or of something else."""
    text = f"{what} to list."
    return click.option("-n", "--top", type=click.IntRange(1), default=default, show_default=True, help=text)


def _grouped(command: _Command) -> _Command:
    """Add the option that takes collinear features together: the command gets `groups`, "auto" or None."""

    def named(ctx: click.Context, param: click.Parameter, value: bool) -> str | None:
        return "auto" if value else None

    text = "Take features that are collinear along the map together."
    return click.option("--groups", is_flag=True, callback=named, help=text)(command)


def _between_units(command: _Command) -> _Command:
    """Add the option for what was drawn independently: the command gets `units`, the name of metadata or None."""
    text = (
        "Metadata that say what was drawn independently, such as the donor of each cell: features are judged between "
    )
    return click.option("--units", metavar="COL", help=f"{text}these.")(command)


def _coordinates(text: str) -> list[float]:
    """Turn X,Y into numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} must be numbers with commas between them, such as -1.5,2.") from None


def _print_answer(ask: Callable[[], Any], json: bool, paths: Mapping[str, str] = MappingProxyType({})) -> None:
    """Ask, and print the answer: an object with ``to_dict`` and ``__str__``, or a dict of label to such objects."""
    with collect_warnings([]):
        answer = ask()
    several = isinstance(answer, dict)
    if json:
        document = {str(label): one and one.to_dict() for label, one in answer.items()} if several else answer.to_dict()
        tell(json_text(document), paths)
    else:
        caution = getattr(answer, "caution", "")
        parts = [f"{label}\n{one}" for label, one in answer.items()] if several else [str(answer)]
        parts += [caution] if caution and several else []
        text = "\n\n".join(parts)
        tell(text.replace(caution, as_options(caution)) if caution else text, paths)


@click.command("why", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point")
@_grouped
@_n_top(5)
@with_threads
@with_json
def why(map_path: str, point: str, groups: str | None, top: int, threads: int | None, as_json: bool) -> None:
    """Say which features move POINT in MAP, how far, and how sure that is.

    MAP is a file that `gnomon map --save` wrote. POINT is a row number, counted from 0, or a point's name.
    """
    result = open_map(map_path, threads)
    _print_answer(lambda: result.why(result.find(point), top, groups=groups), as_json)


def _places(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[list[float]]:
    """Turn X,Y texts into places."""
    places = [_coordinates(text) for text in values]
    if len({len(place) for place in places}) != 1:
        raise click.BadParameter("all places must have the same number of coordinates.")
    return places


@click.command("axis", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("places", metavar="X1,Y1 X2,Y2 ...", nargs=-1, required=True, callback=_places)
@click.option("--width", type=float, help="How far from the line points count; by default it follows their density.")
@click.option("--sort", "sort_by", type=click.Choice(["change", "push", "rho"]), help="What to sort by.")
@_n_top(10)
@with_threads
@with_json
def axis(
    map_path: str,
    places: list[list[float]],
    width: float | None,
    sort_by: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what changes along the line through the places X1,Y1 X2,Y2 ... of MAP.

    MAP is a file that `gnomon map --save` wrote; the places are in its coordinates.
    """
    result = open_map(map_path, threads)
    _print_answer(lambda: result.axis(places, **given(width=width, sort_by=sort_by)).head(top), as_json)


@click.command("contrast")
@map_file
@click.option("--select", metavar="CONDITION", required=True, help="The rows, such as label=3, age>40 or rows=0:100.")
@click.option("--rest", metavar="CONDITION", help="The rows to compare with, all others by default.")
@_between_units
@_grouped
@click.option("--differences", is_flag=True, help="List differences of means in units of the features, with intervals.")
@click.option("--log2", is_flag=True, help="Features are logarithms to base 2: differences are then called log2 fold.")
@click.option("-o", "--output", metavar="FILE", help="Write the whole table (.csv or .parquet); - is standard output.")
@_n_top(10)
@with_threads
@with_json
@entrance("gnomon contrast")
def contrast(
    map_path: str,
    select: str,
    rest: str | None,
    units: str | None,
    groups: str | None,
    differences: bool,
    log2: bool,
    output: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what sets some rows of MAP apart from the rest.

    MAP is a file that `gnomon map --save` wrote. A CONDITION compares the label, a column of metadata or a feature by
    =, !=, <, <=, > or >=, or lists rows; " & " joins several. A value that holds " & " is in quotes: "dept='A & B'".
    """
    import numpy as np

    from gnomon.data.writers import write_columns

    paths = given(columns=output)
    check_outputs(paths, as_json=as_json)
    result = open_map(map_path, threads)
    chosen = result.select(select)
    others = None if rest is None else result.select(rest)
    with collect_warnings([]):
        found = result.contrast(chosen, others, groups=groups, units=units)
    for kind, path in paths.items():
        with destination(kind, path) as file:
            write_columns(file, {name: np.asarray(one) for name, one in found.columns().items()})
    write_records(paths, made=result, source=map_path)
    if (differences or log2) and not as_json:
        text = found.table(top, log2=log2)
        tell(text.replace(found.caution, as_options(found.caution)) if found.caution else text, paths)
    else:
        _print_answer(lambda: found.head(top), as_json, paths)
    if not as_json:
        tell_files(paths)


@click.command("profile")
@map_file
@click.option("--captions", is_flag=True, help="Only a caption for each label.")
@_between_units
@_grouped
@_n_top(5)
@with_threads
@with_json
def profile(
    map_path: str,
    captions: bool,
    units: str | None,
    groups: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say for each label of MAP what sets its rows apart.

    The features compare a label with all other rows; a caption tells it from each other label. MAP is a file that
    `gnomon map --save` wrote.
    """
    result = open_map(map_path, threads)
    if captions and as_json:
        _print_answer(lambda: result.captions(groups=groups, units=units), as_json)
    elif captions:
        _print_answer(lambda: _caption_table(result.captions(groups=groups, units=units)), False)
    else:
        answers = result.profiles(groups=groups, units=units) or result.captions(
            groups=groups
        )  # which tells what labels are lacking
        _print_answer(lambda: _headed(answers, top), as_json)


def _headed(answers: AnswersByLabel[Any], top: int) -> AnswersByLabel[Any]:
    """Return the first features of every answer, and what is said of all."""
    from gnomon.explanations import AnswersByLabel

    shown = AnswersByLabel((label, one.head(top)) for label, one in answers.items())
    shown.caution = answers.caution
    return shown


def _caption_table(captions: AnswersByLabel[Caption]) -> str:
    """Return one line a label: its caption, and the labels that it does not tell it from, if there are any."""
    from gnomon.explanations.answer import format_table

    texts = {str(label): caption.text for label, caption in captions.items()}
    width = max(len(text) for text in texts.values())
    rows = [
        [label, text.ljust(width), ", ".join(_hardly_apart(caption))]
        for (label, text), caption in zip(texts.items(), captions.values(), strict=True)
    ]
    caution = f"\n{as_options(captions.caution)}" if captions.caution else ""
    if any(row[2] for row in rows):
        longest = max(len(row[2]) for row in rows)
        header = ["label", "caption".ljust(width), "hardly apart from".ljust(longest)]
        table = format_table(header, [[*row[:2], row[2].ljust(max(longest, len(header[2])))] for row in rows])
        return f"{table}{caution}"
    return f"{format_table(['label', 'caption'.ljust(width)], [row[:2] for row in rows])}{caution}"


def _hardly_apart(caption: Caption) -> list[str]:
    """Return the labels that a caption does not tell its own from; of some there are too few units to know."""
    return [f"{label} (too few units)" if label in caption.untold else str(label) for label in caption.unseparated]


@click.command("importance")
@map_file
@click.option("--select", metavar="CONDITION", help="Only these rows, such as label=3.")
@click.option("--by-label", is_flag=True, help="For each label by itself.")
@_grouped
@_n_top(10)
@with_threads
@with_json
def importance(
    map_path: str, select: str | None, by_label: bool, groups: str | None, top: int, threads: int | None, as_json: bool
) -> None:
    """Say which features move the points of MAP most, on average.

    MAP is a file that `gnomon map --save` wrote.
    """
    if select is not None and by_label:
        raise click.UsageError("--select and --by-label cannot be used together.")
    result = open_map(map_path, threads)
    if by_label:
        answers = result.importance_by_label(groups=groups)
        _print_answer(lambda: {label: answer and answer.head(top) for label, answer in answers.items()}, as_json)
    else:
        rows = None if select is None else result.select(select)
        _print_answer(lambda: result.importance(rows, groups=groups).head(top), as_json)


@click.command("saliency", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point", required=False)
@click.option("--select", metavar="CONDITION", help="Instead of POINT: the mean over these rows, such as label=3.")
@click.option("--toward", metavar="CONDITION", help="Give effects a sign: towards these rows, such as label=8.")
@click.option("-o", "--output", metavar="FILE", help="Write the figure (png, pdf, svg, jpg).")
@_n_top(10)
@with_threads
@with_json
@entrance("gnomon saliency")
def saliency(
    map_path: str,
    point: str | None,
    select: str | None,
    toward: str | None,
    output: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say which pixels move POINT in MAP, and draw them as a picture.

    MAP is a file that `gnomon map --save` wrote of data whose rows are pictures.
    """
    if (point is None) == (select is None):
        raise click.UsageError("give POINT or --select, one of the two.")
    paths = given(png=output)
    check_outputs(paths, as_json=as_json)
    result = open_map(map_path, threads)
    of = result.find(point) if point is not None else result.select(select)
    target = None if toward is None else result.select(toward)
    found = result.saliency(of, toward=target)
    for kind, path in paths.items():
        with destination(kind, path) as file:
            result.plot_saliency(file, found, of)
    write_records(paths, made=result, source=map_path)
    _print_answer(lambda: found.head(top), as_json, paths)
    if not as_json:
        tell_files(paths)


@click.command("counterfactual", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point")
@click.option("--target", metavar="CONDITION", help="Where it should lie: among these rows, such as label=3.")
@click.option("--position", metavar="X,Y", help="Where it should lie: at this place of the map.")
@_n_top(10)
@with_threads
@with_json
def counterfactual(
    map_path: str,
    point: str,
    target: str | None,
    position: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what would have to change in POINT for it to lie elsewhere in MAP, and where the changed row truly lands.

    MAP is a file that `gnomon map --save` wrote. POINT is a row number, counted from 0, or a point's name.
    """
    if (target is None) == (position is None):
        raise click.UsageError("give --target or --position, one of the two.")
    result = open_map(map_path, threads)
    rows = None if target is None else result.select(target)
    place = None if position is None else _coordinates(position)
    _print_answer(lambda: result.counterfactual(result.find(point), rows, position=place).head(top), as_json)


@click.command("suspects")
@map_file
@_n_top(20, "Rows")
@with_threads
@with_json
def suspects(map_path: str, top: int, threads: int | None, as_json: bool) -> None:
    """List rows of MAP whose neighbours in the data vote for another label than theirs.

    MAP is a file that `gnomon map --save` wrote, with labels.
    """
    result = open_map(map_path, threads)
    _print_answer(lambda: result.suspects(top), as_json)


@click.command("outliers")
@map_file
@_n_top(20, "Rows")
@with_threads
@with_json
def outliers(map_path: str, top: int, threads: int | None, as_json: bool) -> None:
    """List rows of MAP that lie far from the data, by the local outlier factor and off what columns have in common.

    MAP is a file that `gnomon map --save` wrote.
    """
    result = open_map(map_path, threads)
    _print_answer(lambda: result.outliers(top), as_json)


@click.command("points")
@map_file
@with_threads
@with_json
def points(map_path: str, threads: int | None, as_json: bool) -> None:
    """Say how every diagnostic of single points is distributed over MAP: trust, false neighbours, stretch and others.

    MAP is a file that `gnomon map --save` wrote. `gnomon export` writes the columns themselves.
    """
    result = open_map(map_path, threads)
    _print_answer(result.point_scores, as_json)


@click.command("neighbors", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point")
@with_threads
@with_json
def neighbors(map_path: str, point: str, threads: int | None, as_json: bool) -> None:
    """List the neighbours of POINT that are near on MAP alone (false), and those near in the data alone (missing).

    MAP is a file that `gnomon map --save` wrote; POINT is a row number or a name.
    """
    result = open_map(map_path, threads)
    i = result.find(point)
    _print_answer(lambda: {"false": result.false_neighbors(i), "missing": result.missing_neighbors(i)}, as_json)
