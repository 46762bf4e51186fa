"""Arguments and options that several commands share."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gnomon._validation import message
from gnomon.cli.console import picture_shape
from gnomon.cli.inputs import with_all_rows
from gnomon.cli.names import split_names
from gnomon.methods.registry import METHODS

__all__ = [
    "OF_LANDMARKS",
    "map_file",
    "open_map",
    "option_name",
    "scale_given",
    "with_columns",
    "with_data",
    "with_filling",
    "with_forgetting",
    "with_json",
    "with_method",
    "with_missing",
    "with_page",
    "with_scale",
    "with_table",
    "with_threads",
    "without_forgotten",
]

_IMAGES = "Each row is a picture of this size, such as 28x28."
_METADATA = "Table (.csv, .tsv) of labels and columns beside the data, or one column (.npy), called as the file is."
_OBSM = (
    "Coordinates of an h5ad file that the map is made of, such as X_pca; genes explain it, unless the file is read in "
    "blocks. X for the genes themselves."
)
_FEATURE_NAMES = (
    "Column of var of an h5ad file that names the genes, such as symbol; or text file with a name on each line for the "
    "columns of a .npy or .npz table, such as words of texts."
)
_FORGET = "Metadata to leave out of what is written."
_MISSING = (
    "Missing values: filled in so that neighbours stay (distance, the default) or by the median; their rows left out; "
    "or refused."
)

_FILLING = (
    "What new rows lack is filled in by the rows of a map whose table lacked nothing: so that neighbours stay "
    "(distance) or by the median. Without it such rows are refused."
)
OF_LANDMARKS = "gnomon.of_landmarks"
"""In the context of a command that opened a map of landmarks."""

_TABLE = "gnomon.table"  # where the context of a command keeps its option --table

_Command = TypeVar("_Command", bound=Callable[..., Any])


def map_file(command: _Command) -> _Command:
    """Add the argument MAP, and the option for the table of a map that does not hold it."""
    return with_table(click.argument("map_path", metavar="MAP")(command))


def with_table(command: _Command) -> _Command:
    """Add the option for the table of a map of landmarks, whose file holds the positions alone; see `open_map`."""

    def keep(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        ctx.meta[_TABLE] = value

    text = "Table of a map that was made by --n-fitted and does not hold it."
    return click.option("--table", metavar="FILE", expose_value=False, callback=keep, help=text)(command)


def with_data(command: _Command) -> _Command:
    """Add the options that say how data are read."""
    for option in (
        click.option("--feature-names", metavar="COL|FILE", help=_FEATURE_NAMES),
        click.option("--obsm", metavar="KEY", help=_OBSM),
        click.option("--layer", metavar="NAME", help="Layer of an h5ad file to read instead of X, or raw."),
        click.option("--images", metavar="WxH", callback=picture_shape, help=_IMAGES),
        click.option("--metadata", metavar="FILE", help=_METADATA),
        click.option(
            "--labels",
            metavar="COL|FILE",
            help="Column that holds labels and is no feature, or a file of one (.npy, .csv).",
        ),
    ):
        command = option(command)
    return command


def with_columns(command: _Command) -> _Command:
    """Add the options that name the columns to use, and those to leave out."""
    for option in (
        click.option(
            "--drop",
            metavar="COLS",
            callback=split_names,
            help="Columns to leave out of the features; pages and files have them all the same, see --forget.",
        ),
        click.option("--features", metavar="COLS", callback=split_names, help="Columns to use, such as age,income."),
    ):
        command = option(command)
    return command


def with_forgetting(command: _Command, *, made: bool = False) -> _Command:
    """Add the options that say which columns and metadata are not in what is written; of a map that is `made` at all.

    `without_forgotten` applies them to a map.
    """
    what = "Columns that the map knows nothing of: no features, and in no page or file." if made else _FORGET
    for option in (
        click.option("--no-metadata", is_flag=True, default=None, help="Write no metadata and no names of rows."),
        click.option("--forget", metavar="COLS", callback=split_names, help=what),
    ):
        command = option(command)
    return command


def without_forgotten(result: Any, forget: list[str] | None, no_metadata: bool | None) -> Any:
    """Return a map without the metadata that are not to be written."""
    if forget:
        try:
            result = result.without_metadata(forget)
        except ValueError as error:
            raise ValueError(f"--forget {str(error).partition('columns=')[2] or error}") from error
    return result.without_metadata() if no_metadata else result


def with_missing(command: _Command) -> _Command:
    """Add the option that says what is done about missing values."""
    kinds = click.Choice(["distance", "median", "drop", "error"])
    return click.option("--missing", type=kinds, help=_MISSING)(command)


def with_filling(command: _Command) -> _Command:
    """Add the option that says how a map of a table without gaps fills in what new rows lack."""
    kinds = click.Choice(["distance", "median"])
    return click.option("--missing", type=kinds, help=_FILLING)(command)


def with_scale(command: _Command) -> _Command:
    """Add the option that says whether columns are standardised."""
    return click.option(
        "--scale",
        type=click.Choice(["auto", "standard", "robust", "none"]),
        help="Standardise the columns; auto, the default, does so where they have unlike units.",
    )(command)


def scale_given(scale: str | None) -> dict[str, str | None]:
    """Return what the option says as the argument `scale` of the library, nothing if it was not given."""
    return {} if scale is None else {"scale": None if scale == "none" else scale}


def with_method(command: _Command) -> _Command:
    """Add the options that say which method, and with which parameters."""
    for option in (
        click.option(
            "-p",
            "--parameter",
            "extra",
            metavar="NAME=VALUE",
            multiple=True,
            callback=_parameters,
            help="Any other parameter of the method, such as repulsion_strength=2; may be repeated.",
        ),
        click.option(
            "--method",
            type=click.Choice([card.name for card in METHODS]),
            default="umap",
            show_default=True,
            metavar="NAME",
            help="A method that `gnomon methods` lists.",
        ),
    ):
        command = option(command)
    return command


def _parameters(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Turn NAME=VALUE into a number, True, False, None or a text."""
    found: dict[str, Any] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"{text!r} must be NAME=VALUE, such as repulsion_strength=2.")
        if name == "method":
            raise click.BadParameter(f"{text!r} must be given as --method; how repulsions are summed is evaluation.")
        try:
            found[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            found[name] = value
    return found


def with_json(command: _Command) -> _Command:
    """Add the option for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command)


def with_threads(command: _Command) -> _Command:
    """Add the option for threads."""
    text = "Threads to use, all by default; the answer does not depend on it."
    return click.option("--threads", type=int, help=text)(command)


def with_page(command: _Command) -> _Command:
    """Add the options that say what the page of a map holds."""
    beside = "Write what the page leaves out to FILE.data beside it, to be opened in the page."
    most = "Most bytes of the page, such as 25000000; over it the page rounds, leaves out, and says so."
    command = click.option("--side-file", is_flag=True, help=beside)(command)
    return click.option("--byte-budget", metavar="BYTES", type=click.IntRange(1_000_000), help=most)(command)


def option_name(param: click.Parameter) -> str:
    """Return the long name of an option without its dashes, or the name of an argument."""
    return max(param.opts, key=len).removeprefix("--")


def open_map(path: str, n_jobs: int | None = None, *, of_landmarks: bool = False) -> Any:
    """Read a map that `gnomon map --save` wrote; of one with landmarks the map of these if that will do.

    Else it becomes a map of all rows, with the table that the option --table names.
    """
    from gnomon.maps import LandmarkMap, Map, load

    result, table = load(path), click.get_current_context().meta.get(_TABLE)
    if isinstance(result, LandmarkMap):
        if not of_landmarks and table is None:
            fact, rule = "it was made by --n-fitted", "a map that holds its table"
            remedy = "Name the table: --table FILE. `gnomon transform` needs none."
            raise ValueError(message(f"file {path!r}", rule, fact=fact, remedy=remedy))
        result.landmark_map.n_jobs = n_jobs
        click.get_current_context().meta[OF_LANDMARKS] = True
        result = result.landmark_map if of_landmarks else with_all_rows(result, str(table))
    elif table is not None:
        raise click.UsageError(f"--table is for a map made by --n-fitted; {path!r} holds its table.")
    elif not isinstance(result, Map):
        rule = "one that `gnomon map --save` wrote"
        raise ValueError(message(f"file {path!r}", rule, fact=f"it holds a fitted {type(result).__name__}"))
    result.n_jobs = n_jobs
    return result
