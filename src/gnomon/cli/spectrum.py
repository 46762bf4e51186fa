"""`gnomon spectrum`: one graph from Laplacian eigenmaps to t-SNE, as a page with a slider."""

from __future__ import annotations

import sys
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.config import with_config
from gnomon.cli.console import ProgressBar, collect_warnings, data_document, given, json_text, picture_shape
from gnomon.cli.inputs import open_data, prepare_data
from gnomon.cli.options import scale_given, with_columns, with_missing, with_scale
from gnomon.cli.outputs import check_outputs, destination, tell, tell_files, tell_notes
from gnomon.cli.record import write_records

__all__ = ["spectrum"]


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[float] | None:
    """Turn 30,10,1 into numbers."""
    if value is None:
        return None
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} must be numbers with commas between them, such as 30,10,4,1.") from None


def _write(spectrum: Any, dataset: Any, X: Any, kind: str, path: str, title: str | None) -> None:
    if kind == "html":
        shown = given(
            feature_names=dataset.feature_names,
            images=dataset.images,
            image_shape=dataset.image_shape,
            metadata=dataset.metadata or None,
            point_names=dataset.point_names,
            label_name=dataset.label_name,
            title=title or f"{dataset.name}: attraction and repulsion",
        )
        spectrum.to_html(path, labels=dataset.labels, X=X, **shown)
    else:
        spectrum.to_png(path, labels=dataset.labels)


def _rows(
    data: str, missing: str | None, scale: str | None, metric: str | None, seed: int, **reading: Any
) -> tuple[Any, Any, Any, list[str]]:
    """Return the data set, its features, the rows that are laid out, and what to know of them."""
    from gnomon.maps.fitting import rows_to_map
    from gnomon.neighbors import metric_name

    if metric == "precomputed":  # distances, which are no features
        if "features" in reading or "drop" in reading:
            raise click.UsageError("--features and --drop choose columns; of --metric precomputed these are distances.")
        dataset = open_data(data, **reading)
        return dataset, dataset.X, dataset.X, dataset.notes
    prepared = prepare_data(data, missing, seed=seed, **reading)
    rows, notes = rows_to_map(
        prepared, **scale_given(scale), metric=metric_name(metric or "euclidean") or "other", seed=seed
    )
    return prepared.data, prepared.table.values, rows, notes


@click.command("spectrum")
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Write a page with a slider, one HTML file that opens offline.")
@click.option("--png", metavar="FILE", help="Write a picture of all maps side by side.")
@click.option("--values", metavar="A,B,...", callback=_numbers, help="Exaggerations, such as 30,10,4,1.")
@click.option("--locate", is_flag=True, help="Fit ForceAtlas2, UMAP and NegTSNE and say where they lie.")
@click.option(
    "--labels", metavar="COL|FILE", help="Column that holds labels and is no feature, or a file of one (.npy, .csv)."
)
@click.option(
    "--images", metavar="WxH", callback=picture_shape, help="Each row is a picture of this size, such as 28x28."
)
@click.option("--n-neighbors", type=int, help="Neighbours of each point, the point itself not counted.")
@click.option("--n-components", type=click.IntRange(2, 3), help="Dimensions of the maps, 2 or 3.")
@click.option("--max-iter", type=int, help="Iterations for each exaggeration.")
@click.option("--metric", help="Distance between rows, such as cosine or 'periodic(360)'.")
@with_columns
@with_scale
@with_missing
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same maps.")
@click.option("--threads", type=int, help="Threads to use, all by default; the maps do not depend on it.")
@click.option("--title", help="Title of the HTML page.")
@with_config
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress and no report.")
@entrance("gnomon spectrum")
def spectrum(
    data: str,
    output: str | None,
    png: str | None,
    values: list[float] | None,
    locate: bool,
    labels: str | None,
    images: tuple[int, ...] | None,
    scale: str | None,
    missing: str | None,
    seed: int,
    threads: int | None,
    title: str | None,
    as_json: bool,
    quiet: bool,
    features: list[str] | None,
    drop: list[str] | None,
    **parameters: Any,
) -> None:
    """Lay DATA out at every balance of attraction and repulsion, from Laplacian eigenmaps to t-SNE.

    DATA is a file or the name of a data set, as for `gnomon map`.
    """
    from gnomon.spectrum import attraction_repulsion_spectrum

    paths = given(html=output, png=png)
    check_outputs(paths, as_json=as_json)
    found: list[str] = []
    with collect_warnings(found):
        reading = given(labels=labels, images=images, features=features, drop=drop)
        dataset, X, rows, notes = _rows(data, missing, scale, parameters["metric"], seed, **reading)
        with ProgressBar(sys.stderr, enabled=sys.stderr.isatty() and not quiet) as bar:
            spectrum = attraction_repulsion_spectrum(
                rows,
                values,
                locate=locate,
                random_state=seed,
                n_jobs=threads,
                callback=bar,
                **given(**parameters),
            )
            for kind, path in paths.items():
                with destination(kind, path) as file:
                    _write(spectrum, dataset, X, kind, file, title)
            write_records(paths, data=dataset)
    if as_json:
        document = {"data": {**data_document(dataset), "notes": notes}, "spectrum": spectrum.to_dict()}
        click.echo(json_text({**document, "warnings": found, "files": paths}))
    elif not quiet:
        tell(spectrum.report(), paths)
        tell_notes(notes, paths, warned=found)
        tell_files(paths)
