"""Do the explanations of a map of cells name the genes that biologists know the cells by?

Cells of blood are mapped by UMAP from their log counts. For groups of cell types with well-known marker genes the study
asks where these markers stand among all genes: in the contrast of the cells, grouped by their labels, with the rest;
in the same contrast of clusters that were found in the map without labels; and in the local importance of genes for the
places of these cells. A list of random order has a median rank of half the genes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from studies.output import dress, make_figure, parse, parser, write_json, write_png

__all__ = ["MARKERS", "main"]

# In this copy of paul15 the names of five clusters are shifted by one: "17Neu" holds the basophil genes (Prss34,
# Mcpt8), "13Baso" and "14Mo" those of monocytes, "15Mo" and "16Neu" those of neutrophils. The groups undo the shift.
MARKERS: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "pbmc68k_reduced": {
        "T cells": (
            ("CD4+/CD25 T Reg", "CD4+/CD45RA+/CD25- Naive T", "CD4+/CD45RO+ Memory", "CD8+/CD45RA+ Naive Cytotoxic"),
            ("CD3D", "CD3E", "IL7R", "LTB"),
        ),
        "cytotoxic T cells": (("CD8+ Cytotoxic T",), ("CD8A", "CD8B", "CCL5", "GZMK")),
        "NK cells": (("CD56+ NK",), ("GNLY", "NKG7", "GZMB", "PRF1")),
        "B cells": (("CD19+ B",), ("CD79A", "CD79B", "MS4A1", "CD74")),
        "monocytes": (("CD14+ Monocyte",), ("LYZ", "S100A8", "S100A9", "LST1", "AIF1", "TYROBP")),
        "dendritic cells": (("Dendritic",), ("FCER1A", "HLA-DRA", "HLA-DPA1", "CST3", "CD74")),
    },
    "paul15": {
        "erythrocytes": (
            ("1Ery", "2Ery", "3Ery", "4Ery", "5Ery", "6Ery"),
            ("Hba-a2", "Hbb-b1", "Car1", "Car2", "Klf1", "Epor", "Aqp1", "Blvrb"),
        ),
        "megakaryocytes": (("8Mk",), ("Pf4", "Itga2b", "Vwf", "Mpl", "Cd9")),
        "basophils": (("12Baso", "17Neu"), ("Prss34", "Mcpt8", "Cpa3")),
        "monocytes": (("13Baso", "14Mo"), ("Ly86", "Irf8", "Csf1r", "Emb")),
        "neutrophils": (("15Mo", "16Neu"), ("Elane", "Prtn3", "Ctsg", "Mpo", "Gstm1", "Cebpe")),
        "dendritic cells": (("11DC",), ("Cd74", "H2-Aa", "Cst3")),
        "eosinophils": (("18Eos",), ("Prg2", "Prg3", "Epx")),
    },
}
"""Group: the labels that belong to it, and its markers among the genes of the table (from textbooks)."""

_WAYS = {"labels": "cells by label", "clusters": "clusters of the map", "importance": "local importance"}
_TOP = 20


def _ranks(score: npt.NDArray[Any], wanted: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the places of some genes in the order of a score, the largest being 1."""
    place = np.empty(len(score), dtype=np.intp)
    place[np.argsort(-score, kind="stable")] = np.arange(1, len(score) + 1)
    return place[wanted]


def _raised(X: Any, mask: npt.NDArray[np.bool_], names: list[str]) -> npt.NDArray[np.float64]:
    """Return for each gene the chance that a selected cell has more of it than another."""
    found = gnomon.contrast(X, mask, feature_names=names)
    score = np.empty(len(names))
    score[found.indices] = found.auc
    return score


def _clusters(Y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    from sklearn.cluster import HDBSCAN

    size = max(8, len(Y) // 100)
    return np.asarray(HDBSCAN(min_cluster_size=size, cluster_selection_method="leaf", copy=True).fit_predict(Y))


def _read_cells(name: str, seed: int, jobs: int | None) -> dict[str, Any]:
    """Map the cells and rank the known markers of every group in three ways."""
    data = load_dataset(name)
    X, names = data.X, list(data.feature_names or [])
    labels = check_labels(data.labels, X.shape[0]).astype(str)
    made = gnomon.map(data, random_state=seed, n_jobs=jobs)
    explanation = made.explain()
    importance, trust = np.nan_to_num(explanation.importance), np.nan_to_num(explanation.r2)
    clusters = _clusters(made.embedding)
    groups: dict[str, Any] = {}
    for group, (members, markers) in MARKERS[name].items():
        mask = np.isin(labels, members)
        wanted = np.array([names.index(gene) for gene in markers])
        overlap = [
            float(np.sum(mask & (clusters == c)) / np.sum(mask | (clusters == c))) for c in range(clusters.max() + 1)
        ]
        best = int(np.argmax(overlap))
        local = np.average(importance[mask], axis=0, weights=trust[mask] + 1e-9)
        raised = _raised(X, mask, names)
        groups[group] = {
            "markers": list(markers),
            "cells": int(mask.sum()),
            "cluster_overlap": overlap[best],
            "labels": _ranks(raised, wanted).tolist(),
            "clusters": _ranks(_raised(X, clusters == best, names), wanted).tolist(),
            "importance": _ranks(local, wanted).tolist(),
            "first_five": [names[f] for f in np.argsort(-raised)[:5]],
        }
    return {"genes": len(names), "clusters": int(clusters.max()) + 1, "groups": groups}


def _summary(study: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return for each way the median rank of a marker and the share among the first twenty genes."""
    shown = {}
    for way in _WAYS:
        ranks = np.concatenate([one[way] for one in study["groups"].values()])
        shown[way] = {"median_rank": float(np.median(ranks)), "in_first_20": float(np.mean(ranks <= _TOP))}
    return shown


def _picture(studies: dict[str, dict[str, Any]]) -> Any:
    figure = make_figure(12.0, 5.0)
    for ax, (name, study) in zip(np.atleast_1d(figure.subplots(1, len(studies))), studies.items(), strict=True):
        for row, (group, one) in enumerate(study["groups"].items()):
            for shift, (way, color) in enumerate(zip(_WAYS, ("#2f2f2f", "#6273d5", "#d47719"), strict=True)):
                ax.scatter(one[way], np.full(len(one[way]), row + 0.2 * (shift - 1)), s=22, color=color)
            ax.text(1.02, row, group, transform=ax.get_yaxis_transform(), va="center", fontsize=9)
        ax.axvline(study["genes"] / 2, color="0.7", lw=1, ls="--")
        ax.set_xscale("log")
        ax.set_yticks([])
        ax.invert_yaxis()
        ax.set_xlabel(f"place of a known marker among {study['genes']:,} genes")
        ax.set_title(name, loc="left", fontsize=11, fontweight="bold")
        dress(ax)
    for color, text in zip(("#2f2f2f", "#6273d5", "#d47719"), _WAYS.values(), strict=True):
        figure.axes[0].scatter([], [], color=color, label=text)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=3)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("marker_genes", __doc__ or "")
    made.add_argument("--sets", nargs="+", choices=list(MARKERS), default=list(MARKERS))
    options = parse(made, arguments)
    studies = {}
    for name in options.sets:
        study = studies[name] = _read_cells(name, options.seed, options.jobs)
        print(f"{name}: {study['genes']} genes, {study['clusters']} clusters found in the map")
        for group, one in study["groups"].items():
            print(f"  {group:18} labels {one['labels']}  clusters {one['clusters']}  importance {one['importance']}")
        study["summary"] = _summary(study)
        for way, figures in study["summary"].items():
            rank, share = figures["median_rank"], figures["in_first_20"]
            print(f"  {_WAYS[way]}: median rank {rank:.0f}, {share:.0%} in the first {_TOP}")
    write_json(options.out, "marker_genes", studies)
    write_png(options.out, "marker_genes", _picture(studies))
    return 0


if __name__ == "__main__":
    sys.exit(main())
