"""Small valid files of every kind that gnomon reads."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

__all__ = ["SEEDS"]

X = np.round(np.random.default_rng(0).standard_normal((12, 4)), 2)
TEXTS = np.array([f"t{i % 3}" for i in range(12)])


def _csv(folder: Path) -> None:
    lines = [",".join(map(str, row)) for row in X]
    (folder / "plain.csv").write_text("\n".join(["a,b,c,d", *lines]) + "\n")
    named = [f'row {i},{line},"{text}, quoted"' for i, (line, text) in enumerate(zip(lines, TEXTS, strict=True))]
    (folder / "text.csv").write_text("\n".join([",a,b,c,d,kind", *named]) + "\n")
    (folder / "semicolons.csv").write_text("\n".join(line.replace(",", ";") for line in lines))


def _csv_gz(folder: Path) -> None:
    _csv(folder)
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


def _npy(folder: Path) -> None:
    np.save(folder / "table.npy", X)
    np.save(folder / "columns.npy", np.asfortranarray(X.astype(np.float32)))
    np.save(folder / "pictures.npy", np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3))


def _npz(folder: Path) -> None:
    names = np.array(list("abcd"))
    np.savez(folder / "table.npz", X=X, y=np.arange(12) % 3, target_names=np.array(list("pqr")), feature_names=names)
    pixels = np.arange(48, dtype=np.uint8).reshape(12, 4)
    np.savez_compressed(folder / "pictures.npz", X=pixels, feature_shape=np.array([2, 2]), kind=TEXTS)
    matrix = sp.csr_array(np.where(X > 0.3, X, 0))
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array(matrix.shape)}
    np.savez(folder / "sparse.npz", **parts, gene_names=names, y=np.arange(12))
    sp.save_npz(folder / "columns.npz", sp.csc_array(matrix))


def _frame() -> dict[str, object]:
    vectors = [list(row) for row in X.astype(np.float32)]
    return {"a": X[:, 0], "b": np.arange(12), "ok": X[:, 1] > 0, "kind": TEXTS, "vector": vectors}


def _parquet(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(_frame())
    parquet.write_table(table, folder / "table.parquet")
    parquet.write_table(table, folder / "plain.parquet", compression="none", use_dictionary=False)


def _feather(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import feather

    table = pa.table(_frame())
    feather.write_feather(table, folder / "table.feather")
    feather.write_feather(table, folder / "plain.feather", compression="uncompressed")


def _h5ad(folder: Path) -> None:
    import anndata
    import pandas as pd

    obs = pd.DataFrame({"type": pd.Categorical(TEXTS), "depth": np.arange(12)}, index=[f"c{i}" for i in range(12)])
    var = pd.DataFrame(index=list("wxyz"))
    values = X.astype(np.float32)
    anndata.AnnData(values, obs=obs, var=var).write_h5ad(folder / "dense.h5ad")
    sparse = anndata.AnnData(sp.csr_matrix(np.abs(values)), obs=obs, var=var)
    sparse.write_h5ad(folder / "sparse.h5ad", compression="gzip")


def _pictures(folder: Path) -> None:
    from PIL import Image

    pixels = np.arange(20 * 30 * 3, dtype=np.uint8).reshape(20, 30, 3)
    colour, grey = Image.fromarray(pixels), Image.fromarray(pixels[:, :, 0])
    colour.save(folder / "colour.png")
    grey.save(folder / "grey.png")
    colour.convert("P").save(folder / "palette.png")
    for suffix in ("jpg", "gif", "tif", "bmp", "webp"):
        colour.save(folder / f"colour.{suffix}")
    colour.save(folder / "packed.tif", compression="tiff_lzw")


def _map(folder: Path) -> None:
    import gnomon as gn

    rng = np.random.default_rng(0)
    table = rng.standard_normal((60, 5)).astype(np.float32)
    groups = np.array([f"g{i % 3}" for i in range(60)])
    plain = gn.map(table, method="pca", labels=groups, feature_names=list("abcde"))
    plain.save(folder / "plain.gnomon")
    sparse = sp.csr_array(np.where(table > -1, np.abs(table), 0))
    gn.map(sparse, method="umap", n_neighbors=8, max_iter=20, random_state=0).save(folder / "sparse.gnomon")


def _landmarks(folder: Path) -> None:
    import gnomon as gn

    table = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
    labels = np.array([f"g{i % 3}" for i in range(40)])
    gn.map(table, method="pca", n_fitted=20, labels=labels, scale="standard").save(folder / "pca.landmarks")
    made = gn.map(table, method="umap", n_fitted=25, n_neighbors=8, max_iter=10, random_state=0)
    made.save(folder / "umap.landmarks")


def _journal(folder: Path) -> None:
    np.savez(folder / "stage.npz", Y=X.astype(np.float32), rows=np.arange(12), ok=X[:, 0] > 0)
    np.savez_compressed(folder / "packed.npz", Y=X)


def _run(folder: Path) -> None:
    import json

    (folder / "run.json").write_text(json.dumps({"seed": 0, "version": "1.0", "table": "aé"}, indent=1))


def _saved(folder: Path) -> None:
    import gnomon as gn

    table = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
    gn.PCA(2).fit(table).save(folder / "pca.saved")
    made = gn.UMAP(n_neighbors=15, max_iter=10, random_state=0).fit(table)
    made.save(folder / "umap.saved")
    gn.AffineAtlas(table, made.embedding_).save(folder / "atlas.saved")


def _aligned(folder: Path) -> None:
    import gnomon as gn

    table = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
    tables, known = [table, table[5:] + np.float32(0.1)], {"ids": [np.arange(40), np.arange(5, 40)]}
    gn.AlignedMaps("umap", n_neighbors=15, max_iter=10, random_state=0).fit(tables, **known).save(
        folder / "named.aligned"
    )
    gn.AlignedMaps(gn.TSNE(perplexity=5, max_iter=10), random_state=0).fit(tables, **known).save(
        folder / "object.aligned"
    )


SEEDS: dict[str, Callable[[Path], None]] = {
    "csv": _csv,
    "csv.gz": _csv_gz,
    "npy": _npy,
    "npz": _npz,
    "parquet": _parquet,
    "feather": _feather,
    "h5ad": _h5ad,
    "png": _pictures,
    "gnomon": _map,
    "landmarks": _landmarks,
    "saved": _saved,
    "aligned": _aligned,
    "journal": _journal,
    "run": _run,
}
"""Writers of valid files, by the ending of the files' names."""
