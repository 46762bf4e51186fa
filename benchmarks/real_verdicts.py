"""Judge gaps between classes of real tables: those that are known to go over into each other, and those that do not.

GNOMON_DATA=FOLDER python -m benchmarks.real_verdicts
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.summary import table_of
from benchmarks.tables import load_table

__all__ = ["PAIRS", "main"]

PAIRS: dict[str, list[tuple[str, str, str]]] = {
    "digits": [("0", "4", "apart"), ("0", "6", "apart"), ("3", "9", "alike"), ("1", "8", "alike")],
    "mnist": [("0", "1", "apart"), ("1", "6", "apart"), ("4", "9", "alike"), ("3", "5", "alike"), ("7", "9", "alike")],
    "paul15": [
        ("2Ery", "3Ery", "stages"),
        ("4Ery", "5Ery", "stages"),
        ("5Ery", "6Ery", "stages"),
        ("9GMP", "10GMP", "stages"),
        ("14Mo", "15Mo", "stages"),
        ("2Ery", "14Mo", "far branches of one tree"),
    ],
    "pbmc4k": [("0", "1", "unnamed"), ("0", "2", "unnamed"), ("1", "4", "unnamed"), ("3", "5", "unnamed")],
    "pbmc68k_reduced": [
        ("CD14+ Monocyte", "CD19+ B", "apart"),
        ("CD19+ B", "CD8+ Cytotoxic T", "apart"),
        ("Dendritic", "CD14+ Monocyte", "kin"),
        ("CD4+/CD25 T Reg", "CD8+/CD45RA+ Naive Cytotoxic", "kin"),
    ],
}
"""Two classes of a table, and what is known of them."""


def _named(name: str, codes: Any) -> npt.NDArray[np.str_]:
    """Return the names of labels, where the file has some."""
    path = Path(os.environ.get("GNOMON_DATA", "."), f"{name}.npz")
    if name != "digits":
        with np.load(path) as archive:
            if "target_names" in archive:
                return np.asarray(archive["target_names"])[codes].astype(np.str_)
    return np.asarray(codes).astype(np.str_)


def main() -> None:
    """Run from the command line."""
    from gnomon import PCA, UMAP
    from gnomon.evaluation import are_apart

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(PAIRS), choices=list(PAIRS))
    parser.add_argument("--rows", type=int, default=5000, help="a random sample of more")
    parser.add_argument("--pca", type=int, nargs="+", default=[10, 30], help="principal components that are judged")
    parser.add_argument("--n-rows", type=int, default=2000, help="rows that verdicts look at")
    options = parser.parse_args()
    rows: list[list[Any]] = []
    for name in options.data:
        table, codes = load_table(name, options.rows)
        labels = _named(name, codes)
        for n_components in options.pca:
            X = PCA(n_components=n_components).fit_transform(table)
            Y = UMAP(random_state=0).fit_transform(X)
            for a, b, known in PAIRS[name]:
                found = are_apart(X, Y, labels == a, labels == b, max_rows=options.n_rows, names=(a, b))
                share = 100.0 * np.exp(-found.statistic)
                line = [name, str(n_components), f"{a}, {b}", known, found.answer, found.finding]
                rows.append([*line, f"{share:.2g} %", f"{found.p_value:.2g}", str(found.in_map)])
    header = ["data", "components", "classes", "known", "apart", "finding", "density between", "p", "map alone"]
    print(table_of(header, rows))


if __name__ == "__main__":
    main()
