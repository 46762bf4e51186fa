"""The perplexity that rows really have in openTSNE: its search for bandwidths misses it where distances are alike.

GNOMON_DATA=FOLDER ../peers/bin/python -m benchmarks.peer_perplexity paul15 pbmc4k --pca 50
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from benchmarks.tables import load_table

__all__ = ["main", "row_perplexities"]

_PERPLEXITY = 30


def row_perplexities(X: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return exp(entropy in nats) of each row's affinities to its exact neighbours, by openTSNE for a perplexity of 30.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    from openTSNE.affinity import joint_probabilities_nn
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(len(X) - 1, 3 * _PERPLEXITY), algorithm="brute").fit(X)
    distances, indices = search.kneighbors()
    P = joint_probabilities_nn(indices, distances.astype(np.float64), [_PERPLEXITY], symmetrize=False, n_jobs=1).tocoo()
    p = P.data / np.bincount(P.row, P.data, minlength=len(X))[P.row]
    p = np.where(p > 0.0, p, 1.0)
    return np.exp(-np.bincount(P.row, p * np.log(p), minlength=len(X)))


def main(argv: list[str] | None = None) -> None:
    """Print quartiles for each table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peer_perplexity", description=__doc__)
    parser.add_argument(
        "data", nargs="*", default=["paul15", "pbmc4k"], help="names or files, as of python -m benchmarks"
    )
    parser.add_argument("--pca", type=int, help="reduce each table to so many principal components first")
    given = parser.parse_args(argv)
    for name in given.data:
        found = np.percentile(row_perplexities(load_table(name, None, given.pca)[0]), [25, 50, 75])
        print(f"{name}: " + ", ".join(f"{value:.1f}" for value in found))


if __name__ == "__main__":
    main()
