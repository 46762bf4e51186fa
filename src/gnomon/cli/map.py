"""`gnomon map`: from a table to an explained map."""

from __future__ import annotations

import ast
import contextlib
import os
import sys
import time
from dataclasses import replace
from functools import partial
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.cli.config import with_config
from gnomon.cli.console import ProgressBar, collect_warnings, data_document, given, json_text
from gnomon.cli.inputs import empty_cells, open_data
from gnomon.cli.large import is_stored, open_large, refuse_options, require_readable, told, why_in_blocks, write_large
from gnomon.cli.names import split_names
from gnomon.cli.options import (
    scale_given,
    with_columns,
    with_data,
    with_forgetting,
    with_method,
    with_missing,
    with_page,
    with_scale,
    without_forgotten,
)
from gnomon.cli.outputs import check_outputs, page_options, tell, tell_files, tell_notes, write_map
from gnomon.cli.record import write_records
from gnomon.cli.twins import check_claims

__all__ = ["map"]


def _weights(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, float] | None:
    """Turn NAME=WEIGHT into numbers by name; a name may hold an equals sign."""
    found: dict[str, float] = {}
    for text in values:
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(f"{text!r} must be FEATURE=WEIGHT, such as age=2.")
    return found or None


def _is_of_all(values: tuple[str, ...]) -> bool:
    """Return whether "no" is given, which is for all columns, and nothing beside it."""
    if "no" in values and len(values) > 1:
        raise click.BadParameter("no is for all columns: give it alone, or COL=no for one column.")
    return "no" in values


def _orders(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any] | bool | None:
    """Turn COL=LOW,...,HIGH, COL=no and no into orders by column; None if there are none."""
    if not values:
        return None
    if _is_of_all(values):
        return False
    found: dict[str, Any] = {}
    for text in values:
        name, _, rest = text.partition("=")
        order = split_names(ctx, param, rest) or []
        if not name or (rest != "no" and len(order) < 2):
            raise click.BadParameter(f"{text!r} must be COL=LOW,...,HIGH, such as size=small,large, or COL=no, or no.")
        found[name] = False if rest == "no" else order
    return found


def _lists(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any] | bool | None:
    """Turn COL=SEPARATOR, COL=no and no into separators by column; None if there are none."""
    if not values:
        return None
    if _is_of_all(values):
        return False
    from gnomon.data.columns.answers import SEPARATORS

    found: dict[str, Any] = {}
    for text in values:
        name, _, separator = text.rpartition("=")
        if not name or separator not in (*SEPARATORS, "no"):
            raise click.BadParameter(f"{text!r} must be COL=SEPARATOR, such as 'tools=;', or COL=no, or no.")
        found[name] = False if separator == "no" else separator
    return found


def _blocks(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any] | None:
    """Turn NAME=COLUMNS[:METRIC[:WEIGHT]] into blocks; None if there are none."""
    from gnomon.data import Block

    found = {}
    for text in values:
        name, _, rest = text.partition("=")
        rest = ast.literal_eval(rest) if rest[:1] == rest[-1:] == "'" else rest  # from a file of options
        columns, *given = rest.split(":")
        if not name or not columns or len(given) > 2:
            raise click.BadParameter(
                f"{text!r} must be NAME=COLUMNS[:METRIC[:WEIGHT]], such as words=word_*:cosine:0.5."
            )
        metric, weight = [*given, "", ""][:2]
        try:
            count = float(weight or 1.0)
        except ValueError:
            raise click.BadParameter(f"weight {weight!r} of block {name!r} must be a number.") from None
        found[name] = Block(split_names(ctx, param, columns), metric or "euclidean", weight=count)
    return found or None


def _check_dimensions(n_components: int | None, paths: dict[str, str]) -> None:
    if n_components not in (None, 2, 3) and {"html", "png"} & paths.keys():
        remedy = "Write the map with --save or --coordinates alone."
        raise ValueError(message(f"--n-components={n_components}", "2 or 3 for a page or a picture", remedy=remedy))


def _refuse_what_follows(dataset: Any, method: str, kinds: set[str], memory: str) -> None:
    """Raise MemoryError if the page, the report or the file of a map would take more than the budget."""
    from gnomon._memory import check_budget
    from gnomon._run import running
    from gnomon.maps.forecasting import forecast

    then = [stage for kind, stage in (("html", "page"), ("report", "report"), ("map", "file")) if kind in kinds]
    if then:
        with running(memory=check_budget(memory)):
            expected = forecast((dataset.n_samples, dataset.n_features), method, then=then)
            remedy = "Raise --memory, or fit some rows and place the others: --n-fitted."
            replace(expected, remedy=remedy).check(dataset.n_samples)


def _foretell(table: Any, method: str, n_fitted: int | None, memory: str | None, parameters: dict[str, Any]) -> None:
    """Write what a map of a table that is read in blocks is forecast to take to standard error.

    Without a word where nothing can be told: what is wrong the map says itself.
    """
    from gnomon._memory import check_budget
    from gnomon._run import running
    from gnomon.maps.forecasting import forecast

    with contextlib.suppress(ValueError, TypeError), running(memory=check_budget(memory, "--memory")):
        expected = forecast(getattr(table, "X", table), method, n_fitted=n_fitted, **given(**parameters))
        click.echo(f"Forecast: {expected}", err=True)


@click.command("map")
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Write the interactive map, one HTML file that opens offline.")
@click.option("--png", metavar="FILE", help="Write a picture of the map.")
@click.option("--report", metavar="FILE", help="Write a report to read and to print, one HTML file.")
@click.option("--save", metavar="FILE", help="Write the map itself, for the other commands and gnomon.load.")
@click.option(
    "--coordinates",
    "--embedding",
    "coordinates",
    metavar="FILE",
    help="Write the place of each row (.csv or .npy; of a map with landmarks also .parquet or .zarr).",
)
@with_method
@with_data
@click.option("--target", metavar="COL", help="Column of classes or numbers that the map follows too; no feature.")
@with_columns
@partial(with_forgetting, made=True)
@click.option(
    "--block",
    "blocks",
    metavar="NAME=COLUMNS[:METRIC[:WEIGHT]]",
    multiple=True,
    callback=_blocks,
    help="Columns that are compared by a metric of their own, such as words=word_*:cosine:0.5; may be repeated.",
)
@click.option(
    "--join",
    type=click.Choice(["intersection", "union", "mean"]),
    help="How blocks are joined: near in all (default), near in one at least, or their mean.",
)
@click.option(
    "--n-pcs", type=click.IntRange(0), help="Make the map in so many principal components; 0 for the features."
)
@click.option("--n-neighbors", type=int, help="Neighbours of each point, the point itself not counted.")
@click.option("--preset", help="Parameters that go together: fast (tsne, dreams).")
@click.option("--perplexity", type=float, help="Effective number of neighbours (tsne and its kin, dreams, largevis).")
@click.option("--min-dist", type=float, help="How close points may come (umap and its kin).")
@click.option(
    "--n-components",
    type=click.IntRange(1),
    help="Dimensions of the map: 2 (default) or 3; without page and picture any from 1.",
)
@click.option(
    "--metric",
    help="Distance between rows, such as cosine, 'periodic(360)' or, for tables of all kinds of columns, gower.",
)
@with_scale
@click.option(
    "--ordered",
    metavar="COL=LOW,...,HIGH",
    multiple=True,
    callback=_orders,
    help="Order of the texts of a column, which become ranks; COL=no, or no for all columns, leaves texts that seem to "
    "be steps of a scale categories; COL=no makes categories of numbers. May be repeated.",
)
@click.option(
    "--lists",
    metavar="COL=SEPARATOR",
    multiple=True,
    callback=_lists,
    help="What divides the answers in the cells of a column, such as 'tools=;'; COL=no, or no for all columns, takes "
    "combinations for categories. May be repeated.",
)
@click.option(
    "--feature-weight",
    metavar="FEATURE=WEIGHT",
    multiple=True,
    callback=_weights,
    help="How much a feature counts in the distances, such as age=2, as if given twice; 0 not at all. May be repeated.",
)
@click.option(
    "--sample-weight", metavar="COL", help="Column that says how many rows each row stands for; it is no feature."
)
@with_missing
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same map.")
@click.option("--threads", type=int, help="Threads to use, all by default; the map does not depend on it.")
@click.option("--memory", metavar="SIZE", help="Most memory that the map may take beyond the table, such as 4G.")
@click.option(
    "--n-fitted",
    type=click.IntRange(2),
    help="Fit so many rows, chosen uniformly, and place all others; the table is read in blocks.",
)
@click.option("--cluster", metavar="ADDRESS", help="Scheduler of a Dask cluster that works on the blocks of the table.")
@click.option("--folder", metavar="DIR", help="Keep the result of each stage there; a run that was cut goes on.")
@click.option("--title", help="Title of the HTML page.")
@with_page
@with_config
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--no-verdicts", is_flag=True, help="Leave out of the report what the data say of gaps, sizes, distances."
)
@click.option(
    "--blind-spots",
    is_flag=True,
    default=None,
    help="Search for other data with the same map, for page and report; many maps are made.",
)
@click.option(
    "--claim",
    "claims",
    metavar="CLAIM",
    multiple=True,
    callback=check_claims,
    help="Ask whether the map proves it, such as 'nearer A B C', as `gnomon proves` does. May be repeated.",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no report.")
@entrance("gnomon map")
def map(
    data: str,
    output: str | None,
    png: str | None,
    report: str | None,
    save: str | None,
    coordinates: str | None,
    method: str,
    labels: str | None,
    feature_names: str | None,
    target: str | None,
    metadata: str | None,
    features: list[str] | None,
    drop: list[str] | None,
    forget: list[str] | None,
    no_metadata: bool | None,
    ordered: dict[str, Any] | bool | None,
    lists: dict[str, Any] | bool | None,
    blocks: dict[str, Any] | None,
    images: tuple[int, ...] | None,
    layer: str | None,
    obsm: str | None,
    extra: dict[str, Any],
    scale: str | None,
    missing: str | None,
    seed: int,
    threads: int | None,
    memory: str | None,
    n_fitted: int | None,
    cluster: str | None,
    folder: str | None,
    title: str | None,
    byte_budget: int | None,
    side_file: bool,
    as_json: bool,
    no_verdicts: bool,
    blind_spots: bool | None,
    claims: list[tuple[Any, ...]] | None,
    quiet: bool,
    **method_parameters: Any,
) -> None:
    """Make a map of DATA and say what it shows and how far to trust it.

    DATA is a file (.csv, .tsv, .dat, .npy, .npz, .parquet, .feather, .h5ad), a folder of pictures, or one of the data
    sets digits, iris, mnist, fashion_mnist, paul15, pbmc4k, pbmc68k_reduced, cifar10_sample; - is a .csv file on
    standard input. A .zarr or .h5 file, a folder of Parquet files, and a .npy, .parquet or .h5ad file that would take
    more than a quarter of the memory, or with --n-fitted, --cluster or --folder any of these, are read in blocks.
    """
    from gnomon.maps import map as make_map
    from gnomon.maps.forgetting import PERSONAL, retold
    from gnomon.maps.verdicts import verdicts_of_page

    paths = given(html=output, png=png, report=report, map=save, coordinates=coordinates)
    check_outputs(paths, as_json=as_json)
    page = page_options(paths, byte_budget, side_file=side_file)
    _check_dimensions(method_parameters["n_components"], paths)
    scaling = given(n_fitted=n_fitted, executor=cluster, folder=folder)
    in_blocks = _is_stored(data, memory, asked=bool(scaling))
    stated = given(missing=missing) | scale_given(scale)
    if labels is not None and labels in (forget or ()):
        remedy = "Leave it out of one of them."
        raise ValueError(message(f"column {labels!r:.60}", "left out of --forget where it is --labels", remedy=remedy))
    if in_blocks or scaling:
        require_readable(data)
        why = why_in_blocks(data, asked=bool(scaling))
        useless = {
            "png": png,
            "report": report,
            "target": target,
            "block": blocks,
            "side-file": side_file,
        }
        refuse_options({**useless, "byte-budget": byte_budget, "no-verdicts": no_verdicts}, why)
        refuse_options({"ordered": ordered, "lists": lists}, why)
        refuse_options({"blind-spots": blind_spots, "claim": claims}, why)
        if in_blocks:
            refuse_options({"metadata": metadata, "images": images, "layer": layer, "missing": missing}, why)
            refuse_options({"feature-names": feature_names}, why)
    found: list[str] = []
    began = time.perf_counter()
    with collect_warnings(found, but=PERSONAL if no_metadata else None):
        if in_blocks:
            table, classes = open_large(
                data, labels, obsm=obsm, n_pcs=extra.get("n_pcs", method_parameters.get("n_pcs"))
            )
            dataset, columns = None, given(labels=classes, features=features, drop=drop, forget=forget)
        else:
            beside: dict[str, Any] = {
                "metadata": metadata,
                "labels": labels,
                "feature_names": feature_names,
                "images": images,
                "layer": layer,
                "obsm": obsm,
            }
            dataset = table = open_data(data, **beside, missing=empty_cells(missing))
            columns = given(
                features=features,
                drop=drop,
                forget=forget,
                ordered=ordered,
                lists=lists,
                blocks=blocks,
                target=target,
            )
            if memory is not None and not scaling:
                _refuse_what_follows(dataset, method, {*paths}, memory)
        if (in_blocks or scaling) and not (quiet or as_json):
            _foretell(table, method, n_fitted, memory, {**method_parameters, **extra})
        with ProgressBar(sys.stderr, enabled=sys.stderr.isatty() and not quiet) as bar:
            result: Any = make_map(
                table,
                method=method,
                random_state=seed,
                n_jobs=threads,
                callback=bar,
                **given(**method_parameters, memory_budget=memory),
                **columns,
                **scaling,
                **stated,
                **extra,
            )
            by_landmarks = hasattr(result, "landmark_map")
            result = without_forgotten(result, None, no_metadata)
            if dataset is not None:
                gone = dataset.metadata if no_metadata else forget or ()
                dataset = replace(dataset, notes=retold(dataset.notes, gone))
            alone = {"blind_spots": result.blind_spots()} if blind_spots else {}
            proofs = [result.proves(claim) for claim in claims or ()]
            if "html" in paths and not (by_landmarks or no_verdicts) and ("report" in paths or not (quiet or as_json)):
                verdicts_of_page(result)  # which the report tells anyhow, so that the page does too
            for kind, path in paths.items():
                if by_landmarks:
                    write_large(result, kind, path, title=title or table.name)
                else:
                    write_map(result, kind, path, title=title or table.name, source=data, **page)
            told_of = {kind: path for kind, path in paths.items() if not os.path.isdir(path)}
            write_records(told_of, data=dataset, made=None if by_landmarks else result)
        document: dict[str, Any] = {}
        told_of_map = ""
        if as_json:  # what is told may warn too
            document = told(result, time.perf_counter() - began) if by_landmarks else {"map": result.to_dict()}
        elif not quiet:
            told_of_map = _in_words(result, by_landmarks, verdicts=not no_verdicts)
    if as_json:
        about = {} if dataset is None else {"data": data_document(dataset)}
        made = document | {name: one.to_dict() for name, one in alone.items()}
        made |= {"proves": [proof.to_dict() for proof in proofs]} if proofs else {}
        click.echo(json_text({**about, **made, "warnings": found, "files": paths}))
    elif not quiet:
        tell(told_of_map, paths)
        tell_notes(result.notes, paths, warned=found)
        told_alone = [one.summary() for one in (*alone.values(), *proofs)]
        if told_alone:
            tell("\n".join(["", "What the map alone can show", *told_alone]), paths)
        tell_files(paths)


def _in_words(result: Any, by_landmarks: bool, *, verdicts: bool) -> str:
    return str(result.summary(notes=False) if by_landmarks else result.report(verdicts=verdicts, notes=False))


def _is_stored(data: str, memory: str | None, *, asked: bool) -> bool:
    """Say whether DATA are read in blocks, by the memory that may be taken."""
    from gnomon._memory import check_budget
    from gnomon._run import running

    with running(memory=check_budget(memory, "--memory")):
        return is_stored(data, asked=asked)
