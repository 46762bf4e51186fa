"""Maps of single cells in an AnnData object, written where scanpy looks for them, as `gnomon.anndata`.

What writes into the object returns None, or with ``copy=True`` returns a copy with what it wrote. Keys follow scanpy:
``obsm["X_umap"]`` are positions, ``uns["umap"]["params"]`` how they came about.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data import check_table
from gnomon.data.cells import is_cells, parameters_of, read_cells
from gnomon.data.dataset import require_name
from gnomon.maps import Map
from gnomon.maps import map as make_map
from gnomon.maps.depth import warn_of_depth
from gnomon.maps.prepare import noted
from gnomon.maps.representation import resolve, told_of_coordinates

__all__ = ["embed", "explain", "to_map"]

_TOP = 8  # features kept for each cell


@entrance("anndata.embed")
def embed(
    adata: Any,
    method: str = "umap",
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    neighbors_key: str | None = None,
    key_added: str | None = None,
    n_components: int = 2,
    random_state: int = 0,
    n_jobs: int | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Map the cells and write the positions, as ``scanpy.tl.umap`` does.

    Parameters
    ----------
    adata : AnnData
        It is written, unless `copy`.
    method : str, default="umap"
        A name that ``gnomon methods`` lists.
    use_rep, n_pcs, layer, neighbors_key : default=None
        In which coordinates, or by which graph, as in `gnomon.map`: None takes the coordinates of
        ``uns["neighbors"]``, such as those that a batch effect was taken from, if scanpy wrote them there.
    key_added : str or None, default=None
        Positions go to ``obsm[key_added]`` and parameters to ``uns[key_added]``; None takes ``obsm["X_umap"]`` and
        ``uns["umap"]``, with the name of the method. Not "X_pca", where scanpy looks for neighbours.
    n_components : int >= 1, default=2
        Dimension of the map.
    random_state : int, default=0
        The same seed gives the same bytes for any number of threads.
    n_jobs : int or None, default=None
        Threads; None or -1 for all.
    copy : bool, default=False
        Return a copy and leave `adata` as it is.
    **parameters
        Further parameters of the method, such as ``n_neighbors=30``.

    Returns
    -------
    AnnData or None
        The copy. Written are ``obsm["X_umap"]`` of shape (n_obs, n_components), float32, and ``uns["umap"]`` with
        "params": the method, its parameters, "use_rep" and "n_pcs".
    """
    _require_cells(adata)
    if not isinstance(method, str):
        rule, remedy = "a name that `gnomon methods` lists", "Pass the parameters by name."
        raise TypeError(message(f"method={method!r:.60}", rule, fact=f"found {type(method).__name__}", remedy=remedy))
    key = key_added or f"X_{method}"
    if key == "X_pca":
        fact, remedy = "neighbours are found in obsm['X_pca']", "Pass key_added='X_pca_map'."
        raise ValueError(message("key_added='X_pca'", "another key", fact=fact, remedy=remedy))
    adata = adata.copy() if copy else adata
    made = make_map(
        adata,
        method,
        use_rep=use_rep,
        n_pcs=n_pcs,
        layer=layer,
        neighbors_key=neighbors_key,
        n_components=n_components,
        random_state=random_state,
        n_jobs=n_jobs,
        **parameters,
    )
    found = made.representation
    about = {
        "method": method,
        "use_rep": "X" if found is None else found.name,
        "n_pcs": made.n_features if found is None else found.n_coordinates,
        **made.parameters,
    }
    adata.obsm[key] = made.embedding
    adata.uns[key_added or method] = {"params": about}
    return adata if copy else None


@entrance("anndata.to_map")
def to_map(
    adata: Any,
    basis: str = "umap",
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    explain: str | None = None,
    layer: str | None = None,
    labels: npt.ArrayLike | str | None = None,
    name: str | None = None,
    n_jobs: int | None = None,
) -> Map:
    """Take positions that are there already, such as those of ``scanpy.tl.umap``, as a map to be explained.

    Parameters
    ----------
    adata : AnnData
    basis : str, default="umap"
        Positions are ``obsm["X_umap"]``, or ``obsm["umap"]`` where there is none.
    use_rep, n_pcs : default=None
        Coordinates in which cells are neighbours, as in `gnomon.map`: None takes those of ``uns["neighbors"]``, if
        scanpy wrote them there.
    explain, layer, labels : default=None
        Features that explain and labels, as in `gnomon.map`.
    name : str or None, default=None
        Title; None takes `basis`.
    n_jobs : int or None, default=None
        Threads; None or -1 for all.

    Returns
    -------
    Map
    """
    _require_cells(adata)
    keys = [str(key) for key in adata.obsm]
    key = f"X_{basis}" if f"X_{basis}" in keys else basis
    require_name(key, keys, what="basis")
    positions = np.asarray(adata.obsm[key])
    named = labels if isinstance(labels, str) else None
    data = read_cells(adata, use_rep=use_rep, n_pcs=n_pcs, explain=explain, layer=layer, labels=named)
    table = check_table(data.X, accept_sparse=True, min_samples=3, feature_names=data.feature_names)
    coordinates = resolve(data.representation, table.values, table.values, seed=0)
    with noted() as notes:
        warn_of_depth(data.depth, table.values, coordinates, table.values, positions)
    about = parameters_of(adata, basis)
    made = Map(
        X=table,
        embedding=positions,
        parameters={key: value for key, value in about.items() if isinstance(value, (bool, int, float, str))},
        labels=data.labels if labels is None or named is not None else np.asarray(labels),
        label_name=data.label_name or "label",
        feature_names=list(table.feature_names or []),
        metadata=data.metadata,
        point_names=data.point_names,
        representation=coordinates,
        notes=[*data.notes, *notes, *told_of_coordinates(data.representation, coordinates)],
        name=name or basis,
        n_jobs=n_jobs,
    )
    made._part = data.part
    return made


@entrance("anndata.explain")
def explain(
    adata: Any,
    basis: str = "umap",
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    explain: str | None = None,
    layer: str | None = None,
    n_jobs: int | None = None,
    copy: bool = False,
) -> Any:
    """Say which genes move each cell in positions that are there already, and write it.

    Parameters
    ----------
    adata : AnnData
        It is written, unless `copy`.
    basis, use_rep, n_pcs, explain, layer, n_jobs
        As for `to_map`.
    copy : bool, default=False
        Return a copy and leave `adata` as it is.

    Returns
    -------
    AnnData or None
        The copy. With basis="umap" are written

        - ``var["umap_importance"]``: mean length of each gene's arrow, in units of the map; not if `explain` names
          another table than that of the genes of ``var``;
        - ``obs["umap_r2"]``: how far to believe the explanation of each cell, in [0, 1], NaN where there is none;
        - ``obsm["umap_top_features"]`` of shape (n_obs, 8), int32: column numbers of the features that move a cell
          most, -1 where there is no explanation, and ``obsm["umap_arrows"]`` of shape (n_obs, 8, n_components): where
          one local standard deviation of each would move it;
        - ``uns["umap_explanation"]``: "features" and their "importance", largest first, the "direction" of the fit
          (see `gnomon.explain`), "median_r2" and "params".
    """
    made = to_map(adata, basis, use_rep=use_rep, n_pcs=n_pcs, explain=explain, layer=layer, n_jobs=n_jobs)
    adata = adata.copy() if copy else adata
    found = made.explain()
    top = found.top_features(_TOP)
    order = np.argsort(-found.global_importance, kind="stable")
    if explain in (None, "X"):
        adata.var[f"{basis}_importance"] = found.global_importance
    adata.obs[f"{basis}_r2"] = found.r2
    adata.obsm[f"{basis}_top_features"] = np.where(found.mask[:, None], top.indices, -1).astype(np.int32)
    adata.obsm[f"{basis}_arrows"] = top.arrows
    coordinates = made.representation
    adata.uns[f"{basis}_explanation"] = {
        "features": np.array([made.feature_names[j] for j in order]),
        "importance": found.global_importance[order],
        "direction": found.direction,
        "median_r2": float(np.nanmedian(found.r2)) if found.mask.any() else float("nan"),
        "params": {
            "use_rep": "X" if coordinates is None else coordinates.name,
            "n_pcs": made.n_features if coordinates is None else coordinates.n_coordinates,
            "explain": explain or "X",
            "layer": layer or "",
        },
    }
    return adata if copy else None


def _require_cells(adata: Any) -> None:
    if not is_cells(adata):
        raise TypeError(message("adata", "an AnnData object", fact=f"found {type(adata).__name__}"))
