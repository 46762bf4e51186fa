"""A paragraph for the methods section of a paper, its references, and how to make the same map again."""

from __future__ import annotations

import math
from typing import Any

from gnomon import __version__
from gnomon.maps.missing import told_missing
from gnomon.maps.printed.markup import facts, join, listing, tag
from gnomon.maps.printed.sections.about import versions
from gnomon.maps.printed.subject import Section, Subject
from gnomon.methods.registry import find_method

__all__ = ["paragraph", "references", "reproduce"]

_QUOTED = ("trustworthiness", "continuity", "neighborhood_preservation", "auc_rnx", "shepard", "knn_accuracy")
_LEE_2009 = (
    "Lee & Verleysen, Quality assessment of dimensionality reduction: rank-based criteria, Neurocomputing 72, 2009; "
    "Scale-independent quality criteria for dimensionality reduction, Pattern Recognition Letters 31, 2010"
)
_LEE_2007 = "Lee & Verleysen, Nonlinear Dimensionality Reduction, Springer, 2007"
_VENNA = "Venna & Kaski, Neighborhood preservation in nonlinear projection methods, ICANN 2001"
_WANG = "Wang, Huang, Rudin & Shaposhnik, Understanding how dimension reduction tools work, JMLR 22, 2021"
_KRUSKAL = (
    "Kruskal, Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis, Psychometrika 29, 1964"
)
_JEON = (
    "Jeon, Ko, Jo, Kim & Seo, Measuring and explaining the inter-cluster reliability of multidimensional projections, "
    "IEEE Transactions on Visualization and Computer Graphics 28, 2022"
)
_EDELSBRUNNER = "Edelsbrunner & Harer, Computational Topology, American Mathematical Society, 2010"
_OURS = f"gnomon {__version__}, intrinsic_dimension: growth of neighbourhoods"
_VAN_DER_MAATEN = (
    "van der Maaten, Postma & van den Herik, Dimensionality reduction: a comparative review, Tilburg University "
    "TiCC-TR 2009-005, 2009"
)
_PAPERS = {
    "auc_rnx": "Lee, Peluffo-Ordóñez & Verleysen, Multi-scale similarities in stochastic neighbour embedding, "
    "Neurocomputing 169, 2015",
    "topographic_product": "Bauer & Pawelzik, Quantifying the neighborhood preservation of self-organizing feature "
    "maps, IEEE Transactions on Neural Networks 3, 1992",
    "steadiness": _JEON,
    "cohesiveness": _JEON,
    "topology_h0": _EDELSBRUNNER,
    "topology_h1": _EDELSBRUNNER,
    "intrinsic_dimension": _OURS,
    "dimension_ratio": _OURS,
    "q_global": _LEE_2009,
    "shepard": "Shepard, The analysis of proximities, Psychometrika 27, 1962",
    "pearson": "Geng, Zhan & Zhou, Supervised nonlinear dimensionality reduction for visualization and classification, "
    "IEEE Transactions on Systems, Man and Cybernetics B 35, 2005",
    "stress": "Smelser, Miller & Kobourov, Normalized stress is not normalized: how to interpret stress correctly, "
    "BELIV 2024",
    "raw_stress": _KRUSKAL,
    "non_metric_stress": _KRUSKAL,
    "random_triplets": _WANG,
    "triplet_accuracy": _WANG,
    "centroid_triplets": _WANG,
    "trustworthiness": _VENNA,
    "continuity": _VENNA,
    "neighborhood_preservation": _LEE_2009,
    "q_local": _LEE_2009,
    "mrre_false": _LEE_2007,
    "mrre_missing": _LEE_2007,
    "local_radius_correlation": "Narayan, Berger & Cho, Assessing single-cell transcriptomic variability through "
    "density-preserving data visualization, Nature Biotechnology 39, 2021",
    "knn_accuracy": _VAN_DER_MAATEN,
    "knn_r2": _VAN_DER_MAATEN,
    "neighborhood_hit": "Paulovich, Nonato, Minghim & Levkowitz, Least square projection, IEEE Transactions on "
    "Visualization and Computer Graphics 14, 2008",
    "silhouette": "Rousseeuw, Silhouettes: a graphical aid to the interpretation and validation of cluster analysis, "
    "Journal of Computational and Applied Mathematics 20, 1987",
    "distance_consistency": "Sips, Neubert, Lewis & Hanrahan, Selecting good views of high-dimensional data using "
    "class consistency, Computer Graphics Forum 28, 2009",
}
_OBJECTS = ("blocks", "precomputed_knn")  # parameters that are no numbers and no words
_OTHER_SOURCES = (
    "Breunig, Kriegel, Ng & Sander, LOF: identifying density-based local outliers, SIGMOD 2000 (outliers)",
    "Jackson & Mudholkar, Control procedures for residuals associated with principal component analysis, Technometrics "
    "21, 1979 (rows off what columns have in common)",
    "Tissot, Mémoire sur la représentation des surfaces et les projections des cartes géographiques, 1881 (stretch, "
    "anisotropy)",
)


def paragraph(subject: Subject) -> Section:
    """Return sentences to paste into a methods section, with the figures of this map."""
    return Section("For the methods section of a paper", tag("blockquote", " ".join(_sentences(subject))))


def _sentences(subject: Subject) -> list[str]:
    result = subject.map
    card = find_method(result.method)
    source = "" if card is None else f" ({card.paper})"
    settings = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    scaled = "" if result.scale is None or result.scale.name == "none" else f", standardised ({result.scale.name})"
    inside = "" if result.representation is None else f", represented by {result.representation}"
    found = result.intrinsic_dimension()
    told = [
        f"A table of {result.n_samples:,} rows and {result.n_features:,} features{scaled}{inside} was mapped to "
        f"{result.embedding.shape[1]} dimensions by {result.method}{source} as implemented in gnomon {__version__}, "
        f"with {result.metric} distances and {settings or 'default parameters'}"
        f"{'; parameters not named are the defaults' if settings else ''}."
    ]
    if result.completion is not None and result.completion.missing.any():
        told.append(f"Missing values: {told_missing(result.completion, result.feature_names, result.columns)}")
    if result.caution:
        told.append(result.caution)
    scores = [_quoted(subject, name) for name in _QUOTED if name in subject.scores]
    n_neighbors = result.evaluate().n_neighbors
    told.append(f"With {n_neighbors} neighbours, {', '.join(scores)} (levels of a random map in brackets).")
    median = result.point_scores().to_dict()["columns"].get("r2", {}).get("median")
    if median is not None:
        told.append(f"Local linear fits to the features explain {median:.0%} of local displacements (median).")
    if math.isfinite(found.value):
        end = f"{found.high:.1f}" if math.isfinite(found.high) else "no end"
        interval = f" ({found.confidence:.0%} interval {found.low:.1f} to {end})" if math.isfinite(found.low) else ""
        noise = "" if found.n_common is None else ", the noise of columns counted"
        told.append(f"The intrinsic dimension of the data was estimated as {found.value:.1f}{interval}{noise}.")
    return told


def _quoted(subject: Subject, name: str) -> str:
    chance = subject.chances.get(name)
    beside = "" if chance is None else f" [{chance:.3f}]"
    return f"{name.replace('_', ' ')} was {subject.scores[name]:.3f}{beside}"


def reproduce(subject: Subject) -> Section:
    """Return the command or the lines of Python that make the same map, and what must be the same for that."""
    result = subject.map
    code = _python(result)
    pairs: list[tuple[str, Any]] = [
        ("command", tag("code", subject.command) if subject.command else None),
        ("in Python", tag("pre", code)),
        ("versions", versions()),
        ("SHA-256 of the table", tag("code", subject.table_checksum)),
    ]
    words = (
        "The same table, parameters, seed and versions give the same bytes, for any number of threads on machines of "
        "one kind."
        if result.method != "given"
        else "The positions were given: how they were made is not known here. All figures of this report follow from "
        "the table and the positions."
    )
    return Section("How to make it again", join([tag("p", words), facts(pairs)]))


def _python(result: Any) -> str:
    if result.method == "given":
        return f"import gnomon as gn\nm = gn.Map(X, embedding, metric={result.metric!r})\nm.write_report('report.html')"
    told = {name: value for name, value in result.parameters.items() if name not in _OBJECTS}
    named = [f"{name}={name if value == name else repr(value)}" for name, value in told.items()]
    named += [f"{name}={name}" for name in _OBJECTS if name in result.parameters]
    if result.representation is not None and result.representation.has_formula:
        named.append(f"n_pcs={result.representation.n_coordinates}")
    labels = [] if result.labels is None else ["labels=labels"]
    scale = [] if result.scale is None else [f"scale={result.scale.name!r}"]
    if result.scale is not None and result.scale.name in ("gower", "blocks"):
        scale = []
    given = ", ".join(["X", f"method={result.method!r}", *labels, *scale, *named])
    return f"import gnomon as gn\nm = gn.map({given})\nm.write_report('report.html')"


def references(subject: Subject) -> Section:
    """Return the sources of the method and of every measure in this report."""
    card = find_method(subject.map.method)
    found = [] if card is None else [f"{card.paper} ({card.name})"]
    by_paper: dict[str, list[str]] = {}
    for name in subject.scores:
        if name in _PAPERS:
            by_paper.setdefault(_PAPERS[name], []).append(name.replace("_", " "))
    found += [f"{paper} ({', '.join(names)})" for paper, names in by_paper.items()]
    return Section("Sources", listing([*found, *_OTHER_SOURCES]))
