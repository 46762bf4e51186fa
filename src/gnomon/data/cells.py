"""Single cells: an AnnData object, whose parts are found by the names that scanpy gives them, becomes a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message, warn
from gnomon.data.arrays import cast, is_missing, refuse_kind
from gnomon.data.dataset import Dataset, first_few, note, require_name, text_array
from gnomon.data.depth import above_floor, find_empty, read_depth
from gnomon.data.labels import categories_of, in_order, of_categories, order_of
from gnomon.data.names import clean_names
from gnomon.data.representation import Reduction, Representation
from gnomon.exceptions import DataWarning

__all__ = [
    "annotation",
    "genes_called",
    "genes_like",
    "in_memory",
    "is_cells",
    "is_part",
    "is_stored_matrix",
    "key_of_coordinates",
    "parameters_of",
    "read_cells",
    "read_part",
    "told_part",
]

N_COMPONENTS = 50
"""Principal components, and genes up to which none are taken, as in scanpy."""

_NEIGHBORS = "neighbors"  # the key of uns under which scanpy says how it found neighbours
_NAMED = 3  # cells without counts
_STANDARD = 0.02  # how far mean and deviation of most standardised columns lie from 0 and 1, some of them cut off
_COUNTS = 30  # whole numbers beyond are counts, not their logarithms
_MARKS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False, "": False}


def is_cells(X: object) -> bool:
    """Return whether X is an AnnData object; anndata need not be installed to ask."""
    return any(
        kind.__name__ == "AnnData" and kind.__module__.partition(".")[0] == "anndata" for kind in type(X).__mro__
    )


def is_stored_matrix(X: object) -> bool:
    """Return whether X is a sparse matrix in a file, as an AnnData object that is backed by one has it."""
    return type(X).__module__.partition(".")[0] == "anndata" and hasattr(X, "to_memory")


def in_memory(matrix: Any) -> npt.NDArray[Any] | scipy.sparse.csr_array:
    """Return a matrix of an AnnData object, which may be a view, of Dask or in a file, as an array or as CSR."""
    if hasattr(matrix, "to_memory"):  # sparse, in a file
        matrix = matrix.to_memory()
    if hasattr(matrix, "dask"):  # whose chunks may be sparse: no array could hold them
        matrix = matrix.compute(scheduler="threads")
    if hasattr(matrix, "tocsr"):
        if matrix.format in ("csr", "csc"):
            matrix.check_format(full_check=True)  # conversion trusts the indices
        return scipy.sparse.csr_array(matrix)
    return np.asarray(matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix)


def annotation(series: Any) -> npt.NDArray[Any]:
    """Return an annotation of cells: numbers as they are, everything else as text, None where it is missing.

    Categories keep their order.
    """
    values = np.asarray(series)
    if categories := categories_of(series):
        values = of_categories(values, categories)
    if values.dtype.kind in "biuf":
        return values
    missing = np.asarray(series.isna())
    texts = text_array([None if gone else str(v) for v, gone in zip(values, missing, strict=True)])
    return in_order(texts, order_of(values))


def read_cells(
    cells: Any,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    explain: str | None = None,
    layer: str | None = None,
    labels: str | None = None,
    neighbors_key: str | None = None,
    part: str | None = None,
    feature_names: str | Sequence[str] | None = None,
) -> Dataset:
    """Turn an AnnData object into a data set; see `gnomon.map` for the parameters.

    Parameters
    ----------
    cells : AnnData of shape (n_obs, n_vars)
        In memory or backed by a file; of its matrices those that are needed are read.
    use_rep : str or None, default=None
        A key of `obsm`, or "X". None takes what ``uns["neighbors"]`` says that scanpy took, with a note; where nothing
        is said, the rule of ``scanpy.pp.neighbors``: the table itself up to 50 genes, else "X_pca", else principal
        components that are to be computed.
    n_pcs : int or None, default=None
        Leading columns of the representation, or components to be computed; 0 for the table itself. None takes what
        ``uns["neighbors"]`` says, if `use_rep` is None too.
    explain : str or None, default=None
        "X", "raw", a layer or a key of `obsm`: the table of features.
    layer : str or None, default=None
        Stands for `X`.
    labels : str or None, default=None
        A column of `obs`.
    neighbors_key : str or None, default=None
        A key of `uns`, such as "neighbors", whose distances in `obsp` are the neighbours.
    part : str or None, default=None
        The table of features by its place in an h5ad file, such as "layers/counts" or "raw/X", with no other
        coordinates; in place of `use_rep`, `n_pcs`, `explain` and `layer`.
    feature_names : str, sequence of str or None, default=None
        A column of `var`, such as "symbol", of the names of the genes; see `genes_called`. Several names take the
        column that has them all, see `genes_like`. None takes `var_names`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no part of such a name.
    """
    notes: list[str] = []
    if layer is not None:
        require_name(layer, _layers(cells), what="layer")
    annotations = {str(name): annotation(cells.obs[name]) for name in cells.obs.columns}
    if labels is not None:
        require_name(labels, list(annotations), what="labels")
    distances: scipy.sparse.csr_array | None = None
    about: Mapping[str, Any] = {}
    if neighbors_key is not None:
        distances, about = _neighbors(cells, neighbors_key)
        note(notes, f"the map is made of the neighbours of uns[{neighbors_key!r}]")
        if use_rep is None and n_pcs is None:
            use_rep, n_pcs = about.get("use_rep"), about.get("n_pcs")
    known = _part_of(cells, explain, layer) if part is None else part
    X, names = read_part(cells, known)
    if isinstance(feature_names, str):
        names = genes_called(cells, known, feature_names)
    elif feature_names is not None:
        names = genes_like(cells, known, feature_names) or names
    if not known.startswith("obsm/"):
        _note_of_empty(cells, X, notes)
        _note_of_standardised(cells, X, notes)
    of_x = known == _part_of(cells, None, layer)
    if part is None and neighbors_key is None and use_rep is None:
        use_rep, n_pcs = _recorded(cells, n_pcs, of_x, notes)
    representation = None if part is not None else _representation(cells, X, of_x, use_rep, n_pcs, notes)
    values = None if labels is None else annotations.pop(labels)
    return Dataset(
        X,
        feature_names=clean_names(names),
        labels=values,
        label_name=labels,
        metadata=annotations,
        point_names=text_array([str(name) for name in cells.obs_names]),
        notes=notes,
        representation=representation,
        distances=distances,
        metric=str(about.get("metric", "euclidean")),
        part=known,
        depth=read_depth(cells, X, in_memory),
    )


def _note_of_empty(cells: Any, X: Any, notes: list[str]) -> None:
    """Note cells of which nothing was read: they lie together, and look like a kind of cells."""
    empty = find_empty(X)
    if 0 < len(empty) < X.shape[0]:
        named = first_few((str(cells.obs_names[i]) for i in empty), _NAMED)
        one = len(empty) == 1
        note(
            notes,
            f"{len(empty):,} of {X.shape[0]:,} cells {'holds' if one else 'hold'} nothing in the table that explains "
            f"({named}): no gene tells {'it' if one else 'them'} from a kind of cells; "
            "scanpy.pp.filter_cells leaves such cells out",
        )


def _note_of_standardised(cells: Any, X: Any, notes: list[str]) -> None:
    """Note that genes of cells are told in standard deviations; a table of other things is often, and is not noted."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.size or not X.min() < 0:
        return
    largest = X.max(axis=0)
    is_cut = np.count_nonzero(largest == largest.max()) > 1
    if not is_cut and above_floor(X) is None:
        return
    deviation = X.std(axis=0, dtype=np.float64)
    mean, deviation = X.mean(axis=0, dtype=np.float64)[deviation > 0], deviation[deviation > 0]
    if not (np.median(np.abs(mean)) <= _STANDARD and np.median(np.abs(deviation - 1.0)) <= _STANDARD):
        return
    ways = ["explain='raw' (--layer raw)"] if cells.raw is not None else []
    ways += [f"layer={name!r}" for name in _layers(cells)]
    remedy = f"; pass {' or '.join(ways)} to read them as they were" if ways else ""
    cut = f" and cut off at {largest.max():.6g}" if is_cut else ""
    note(
        notes,
        f"genes were divided by their standard deviations{cut}, as by scanpy.pp.scale: they count alike however little "
        f"they vary, and are told in deviations from their mean, not in amounts{remedy}",
    )


def key_of_coordinates(cells: Any) -> str:
    """Return the key of `obsm` whose coordinates `read_cells` takes where no parameter is given; "X" for the table.

    Parameters
    ----------
    cells : AnnData, or what has its `obsm`, `uns` and `n_vars`
    """
    notes: list[str] = []
    use_rep, count = _recorded(cells, None, True, notes)
    if use_rep is None:
        is_pca = int(cells.n_vars) > N_COMPONENTS and "X_pca" in [str(key) for key in cells.obsm]
        return "X_pca" if is_pca else "X"
    if count is not None and use_rep != "X" and count < cells.obsm[use_rep].shape[1]:
        told = f"uns[{_NEIGHBORS!r}] names the first {count} columns of obsm[{use_rep!r}]"
        warn(f"{told}; where landmarks are fitted, all {cells.obsm[use_rep].shape[1]} are taken", DataWarning)
    return use_rep


def _part_of(cells: Any, explain: str | None, layer: str | None) -> str:
    """Return the table that explains by its place in an h5ad file."""
    layers, keys = _layers(cells), [str(key) for key in cells.obsm]
    if explain is None or explain == "X":
        return "X" if layer is None else f"layers/{layer}"
    if explain == "raw" and cells.raw is not None:
        return "raw/X"
    raw = [] if cells.raw is None else ["raw"]
    require_name(explain, ["X", *raw, *layers, *keys], what="explain")
    return f"layers/{explain}" if explain in layers else f"obsm/{explain}"


def is_part(text: object) -> bool:
    """Return whether a text names a table of an AnnData object by its place in an h5ad file."""
    return isinstance(text, str) and (text in ("X", "raw/X") or text.partition("/")[0] in ("layers", "obsm"))


def told_part(part: str) -> str:
    """Return a part as it is written in Python, such as ``layers['counts']``."""
    where, _, key = part.partition("/")
    return where if where in ("X", "raw") else f"{where}[{key!r}]"


def read_part(cells: Any, part: str) -> tuple[Any, list[str]]:
    """Return a table of an AnnData object, and the names of its columns.

    Parameters
    ----------
    cells : AnnData of shape (n_obs, n_vars)
    part : str
        Its place in an h5ad file: "X", "raw/X", "layers/NAME" or "obsm/KEY".

    Returns
    -------
    X : ndarray or csr_array of shape (n_obs, n_features)
    names : list of str

    Raises
    ------
    ValueError
        If the object has no such part, or it is no table of these cells.
    """
    where, _, key = part.partition("/")
    if where == "obsm":
        return _coordinates(cells, key)
    layers = _layers(cells)
    told = f"layers: {', '.join(layers) or 'none'}"
    source = cells.raw if where == "raw" else cells
    if source is None or (where == "layers" and key not in layers):
        _refuse_part(part, "raw is empty" if where == "raw" else told)
    genes = [str(name) for name in source.var_names]
    matrix = cells.layers[key] if where == "layers" else source.X
    if matrix is None:
        raise ValueError(message("the AnnData", "one with a matrix X", fact=told, remedy="Pass layer."))
    X = in_memory(matrix)
    _check_matrix(X, (int(cells.n_obs), len(genes)))
    return X, genes


def genes_called(cells: Any, part: str, column: str) -> list[str]:
    """Return the names of the genes of a table by a column of `var`.

    Where it has none a gene keeps that of `var_names`, which in brackets tells genes of one name apart, in whatever
    order they come.

    Parameters
    ----------
    cells : AnnData of shape (n_obs, n_vars)
    part : str
        As for `read_part`.
    column : str

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If there is no such column, or the table is not of genes.
    """
    if part.startswith("obsm/"):
        fact = f"{told_part(part)} has columns of its own"
        raise ValueError(message(f"feature_names={column!r}", "left out where the table is not of genes", fact=fact))
    source = cells.raw if part == "raw/X" else cells
    require_name(column, [str(name) for name in source.var.columns], what="feature_names")
    found, own = annotation(source.var[column]).tolist(), [str(name) for name in source.var_names]
    names = [
        gene if is_missing(name) or not str(name).strip() else str(name) for name, gene in zip(found, own, strict=True)
    ]
    counts = Counter(names)
    return [
        name if counts[name] == 1 or name == gene else f"{name} ({gene})" for name, gene in zip(names, own, strict=True)
    ]


def genes_like(cells: Any, part: str, names: Sequence[str] | None) -> list[str] | None:
    """Return the names of the genes of a table by that column of `var` which has all of some names.

    None where `var_names` has them, or no column has.
    """
    source = cells.raw if part == "raw/X" else cells
    if names is None or part.startswith("obsm/") or source is None or {*names} <= {*map(str, source.var_names)}:
        return None
    for column in map(str, source.var.columns):
        found = clean_names(genes_called(cells, part, column))
        if {*names} <= {*found}:
            return found
    return None


def _coordinates(cells: Any, key: str) -> tuple[Any, list[str]]:
    keys = [str(name) for name in cells.obsm]
    if key not in keys:
        _refuse_part(f"obsm/{key}", f"keys of obsm: {', '.join(keys) or 'none'}")
    stored = cells.obsm[key]
    X = in_memory(stored)
    refuse_kind(X if isinstance(X, np.ndarray) else X.data)
    columns = getattr(stored, "columns", None)
    names = [f"{key} {j}" for j in range(X.shape[1])] if columns is None else [str(name) for name in columns]
    return X, names


def _refuse_part(part: str, fact: str) -> NoReturn:
    remedy = "Add it, or pass the matrix itself if another one holds the same, such as adata.X."
    raise ValueError(message("the AnnData", f"one with {told_part(part)}", fact=fact, remedy=remedy))


def _check_matrix(X: Any, shape: tuple[int, int]) -> None:
    refuse_kind(X if isinstance(X, np.ndarray) else X.data)
    if X.shape != shape:
        fact = f"a matrix of shape {X.shape}, {shape[0]} cells, {shape[1]} genes"
        raise ValueError(message("the AnnData", "one whose matrix has a row for each cell", fact=fact))


def parameters_of(cells: Any, key: str) -> Mapping[str, Any]:
    """Return ``uns[key]["params"]`` of an AnnData object, empty if it is not there."""
    entry = cells.uns.get(key, {})
    about = entry.get("params", {}) if isinstance(entry, Mapping) else {}
    return about if isinstance(about, Mapping) else {}


def _recorded(cells: Any, n_pcs: int | None, of_x: bool, notes: list[str]) -> tuple[str | None, int | None]:
    """Return in which representation, and its columns, the object's own neighbours were found; None where unsaid.

    scanpy writes what it was told: columns alone are those of X_pca, and it takes none of the table itself.
    """
    about = parameters_of(cells, _NEIGHBORS)
    use_rep, written = about.get("use_rep"), np.asarray(about.get("n_pcs"))
    count = int(written.reshape(-1)[0]) if written.size == 1 and written.dtype.kind in "iu" else None
    keys = [str(key) for key in cells.obsm]
    if use_rep is None and count is not None:
        use_rep = "X" if count == 0 or int(cells.n_vars) <= N_COMPONENTS else "X_pca"
    if not isinstance(use_rep, str) or n_pcs == 0:
        return None, n_pcs
    where = f"as scanpy found those of uns[{_NEIGHBORS!r}]; pass use_rep for other coordinates"
    if use_rep == "X":
        if n_pcs is not None or not of_x:
            return None, n_pcs
        note(notes, f"neighbours are found in the table itself, {where}")
        return "X", None
    if use_rep not in keys:
        if use_rep != "X_pca":
            gone = f"uns[{_NEIGHBORS!r}] names obsm[{use_rep!r}], which is not there"
            note(notes, f"{gone}: neighbours are found in other coordinates")
        return None, count if n_pcs is None else n_pcs
    count = count if n_pcs is None else n_pcs
    columns = "" if count is None else f"the first {count} columns of "
    note(notes, f"neighbours are found in {columns}obsm[{use_rep!r}], {where}")
    return use_rep, count


def _representation(
    cells: Any, X: Any, of_x: bool, use_rep: str | None, n_pcs: int | None, notes: list[str]
) -> Representation | Reduction | None:
    """Return what stands for the genes, by the rule of scanpy; None for the table itself."""
    keys = [str(key) for key in cells.obsm]
    if use_rep is None:
        if n_pcs == 0 or int(cells.n_vars) <= N_COMPONENTS:
            use_rep = "X"
        elif "X_pca" in keys:
            use_rep = "X_pca"
        else:
            return _reduction(cells, X, of_x, n_pcs, notes)
    if use_rep == "X":
        if not of_x:
            fact = "the table that explains is another one"
            raise ValueError(message("use_rep='X'", "left out", fact=fact, remedy="Run scanpy.pp.pca first."))
        return None if not n_pcs else _reduction(cells, X, of_x, n_pcs, notes)
    require_name(use_rep, ["X", *keys], what="use_rep")
    values = in_memory(cells.obsm[use_rep])
    refuse_kind(values if isinstance(values, np.ndarray) else values.data)
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.shape[0] != int(cells.n_obs):
        rule, fact = "a dense table with a row for each cell", f"found shape {values.shape}"
        raise ValueError(message(f"obsm[{use_rep!r}]", rule, fact=fact))
    if n_pcs is not None and n_pcs > values.shape[1]:
        fact = f"obsm[{use_rep!r}] has {values.shape[1]} columns"
        raise ValueError(message(f"n_pcs={n_pcs}", "at most the columns of the representation", fact=fact))
    values = cast(values[:, : n_pcs or None], None)
    loadings = cells.varm["PCs"] if use_rep == "X_pca" and "PCs" in cells.varm else None
    components = None
    if of_x and loadings is not None and loadings.shape[1] >= values.shape[1]:
        components = np.asarray(in_memory(loadings), dtype=np.float64)[:, : values.shape[1]].T
    return Representation(use_rep, values, components=components)


def _reduction(cells: Any, X: Any, of_x: bool, n_pcs: int | None, notes: list[str]) -> Reduction:
    """Return principal components that are to be computed, of the highly variable genes where they are marked."""
    if not of_x:
        fact = "there is no obsm['X_pca'], and the table that explains is another one"
        raise ValueError(message("use_rep=None", "a key of obsm", fact=fact, remedy="Run scanpy.pp.pca first."))
    mask = _marked(cells.var["highly_variable"]) if "highly_variable" in cells.var else None
    if mask is not None and not mask.any():
        mask = None
    stored = X if isinstance(X, np.ndarray) else X.data
    if stored.size and stored.max() > _COUNTS and bool((stored == np.floor(stored)).all()):
        note(
            notes,
            f"the matrix holds counts up to {stored.max():,.0f}, whose principal components show little but the depth "
            "of each cell; run scanpy.pp.normalize_total and scanpy.pp.log1p first",
        )
    n_genes = X.shape[1] if mask is None else int(mask.sum())
    chosen = min(N_COMPONENTS, X.shape[0] - 1, n_genes - 1) if n_pcs is None else n_pcs
    of = "all genes" if mask is None else f"{n_genes} highly variable genes"
    missing = "there is no obsm['X_pca']: " if "X_pca" not in cells.obsm else ""
    note(notes, f"{missing}neighbours are found in {chosen} principal components of {of}")
    return Reduction(max(chosen, 1), mask)


def _marked(series: Any) -> npt.NDArray[np.bool_]:
    """Return which genes a column marks; one where it is missing is not marked."""
    values = series.tolist()
    texts = ["false" if is_missing(value) else str(value).lower() for value in values]
    for value, text in zip(values, texts, strict=True):
        if text not in _MARKS:
            rule, remedy = "a column of True and False", "Correct it, or leave it out."
            raise ValueError(message(f"var[{series.name!r}]", rule, fact=f"found {value!r:.60}", remedy=remedy))
    return np.array([_MARKS[text] for text in texts], dtype=np.bool_)


def _neighbors(cells: Any, key: str) -> tuple[scipy.sparse.csr_array, Mapping[str, Any]]:
    """Return the distances of a graph that scanpy made, and its parameters."""
    entries = {
        str(name): entry
        for name, entry in cells.uns.items()
        if isinstance(entry, Mapping) and str(entry.get("distances_key", "")) in cells.obsp
    }
    require_name(key, list(entries), what="neighbors_key")
    entry = entries[key]
    distances = in_memory(cells.obsp[str(entry["distances_key"])])
    if isinstance(distances, np.ndarray):
        distances = scipy.sparse.csr_array(distances)
    return distances, parameters_of(cells, key)


def _layers(cells: Any) -> list[str]:
    """Return the names of the layers; newer anndata counts the table itself as one, without a name."""
    return [str(key) for key in cells.layers if key is not None]
