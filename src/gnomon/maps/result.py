"""A map: data, positions, and everything that says what they mean, as one object."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gnomon import neighbors
from gnomon._entrance import entrance
from gnomon._memory import available_memory, require_memory
from gnomon.completion import Completion
from gnomon.data import Representation, Table, check_table
from gnomon.data.dataset import text_array
from gnomon.data.frames import names_of_rows
from gnomon.data.labels import TO_CLASSES, are_names_of_rows, measured_labels, sort_into_classes, told_of_numbers
from gnomon.data.scaling import Scaling, choose_scaling, reads_values
from gnomon.maps.cautions import cautioned, cautioned_evaluation, cautioned_scorecard, with_votes
from gnomon.maps.costs import answer_takes, sparse_columns
from gnomon.maps.function import MapFunction
from gnomon.maps.matching import refuse_other_order
from gnomon.maps.order import order_of_rows
from gnomon.maps.outputs import NAMELESS, Outputs
from gnomon.maps.parts import check_parts
from gnomon.maps.questions import Questions
from gnomon.maps.seam import told_of_seams, warn_of_seams, without_seams
from gnomon.maps.unasked import known_values
from gnomon.neighbors.circles import Seams, find_seams

if TYPE_CHECKING:
    from gnomon.clusters import Clusters
    from gnomon.data import ColumnRule, Join
    from gnomon.evaluation import Evaluation, MapStability, MapVerdicts, Scorecard
    from gnomon.explanations import AnswersByLabel, Contrast, Explanation, FeatureGroups, Suspects
    from gnomon.explanations.importance import Apart
    from gnomon.extension import AffineAtlas, HeldOutRows
    from gnomon.geometry import IntrinsicDimension
    from gnomon.maps.confounded import CountedBeside
    from gnomon.maps.points import Placed, PointScores
    from gnomon.neighbors import NeighborGraph, Succession
    from gnomon.surfaces import Surface
    from gnomon.twins import MapAlone

__all__ = ["N_NEIGHBORS", "Map"]

_MOST_DOUBTED = 20  # rows with doubtful labels that a page or a report lists
_FEWEST_ROWS = 30  # fewer have no graph that an explanation takes
N_NEIGHBORS = 20
"""Most neighbours that anything asked of a map looks at."""


@dataclass(repr=False)
class Map(Questions, MapFunction, Outputs):
    """A two- or three-dimensional map of a table, with its explanation and its evaluation.

    Made by `gnomon.map`, or from positions computed elsewhere: ``Map(X, embedding)``.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The data, in whose features the map is explained.
    embedding : ndarray of shape (n_samples, n_components), float32
        The positions.
    method : str
        Name of the method, "given" for positions computed elsewhere.
    parameters : dict
        Parameters of the method, with the seed used.
    labels : ndarray of shape (n_samples,) or None
        A class for each row.
    label_name : str
        What the classes are, such as "species".
    feature_names : list of str
    images : ndarray of shape (n_samples, height, width[, 3]), uint8, or None
        A picture for each row.
    image_shape : tuple or None
        (height, width[, channels]) if the features are the pixels of a picture.
    metadata : dict of str to ndarray of shape (n_samples,)
        Further columns, shown and searched in the viewer.
    point_names : ndarray of shape (n_samples,) or None
        A name for each row.
    metric : str
        Distance between rows in which the map is explained and evaluated.
    scale : gnomon.data.Scaling or None
        How the columns were standardised for the map, its neighbours and its scores. Rows that it takes and gives, and
        values in answers, are in units of the data all the same.
    columns : list of gnomon.data.ColumnRule or None
        What became of the columns of the table, if some were no numbers: new rows may be a data frame of these columns.
    representation : gnomon.data.Representation or None
        Coordinates in which the map was made, such as principal components: neighbours, scores and dimension are of
        these, answers and new rows of the features of `X`. None if they are the features themselves.
    completion : gnomon.completion.Completion or None
        How missing values of the data were filled in, and which those were: ``completion.missing`` has the shape of
        `X`. Rows that come later are completed likewise.
    graph : NeighborGraph or None
        Nearest neighbours in the data in this metric, if they are known yet: the method found them, or `neighbors` was
        asked for them. The constructor takes the forms of `precomputed_knn` of `UMAP` too. The file keeps them.
    timings : dict of str to float
        Seconds by stage.
    notes : list of str
        What a reader should know: rules applied to the data, fall-backs taken.
    name : str
        Heading of figures, reports and pages; "map" of one without a name.
    n_jobs : int or None
        Threads for explanations and evaluations; None takes all.
    surface : gnomon.surfaces.Surface or None
        What the map lies on, None for flat space. On a sphere `embedding` is in space, (n_samples, 3), on a hyperboloid
        in the Poincare disk, and so is all that is shown and explained; scores are of distances along the surface, and
        `transform`, `inverse_transform`, `jacobian` and `extend` are refused.
    """

    X: Any
    embedding: npt.NDArray[np.float32]
    method: str = "given"
    parameters: dict[str, Any] = field(default_factory=dict)
    labels: npt.NDArray[Any] | None = None
    label_name: str = "label"
    feature_names: list[str] = field(default_factory=list)
    images: npt.NDArray[np.uint8] | None = None
    image_shape: tuple[int, ...] | None = None
    metadata: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    point_names: npt.NDArray[Any] | None = None
    metric: str = "euclidean"
    scale: Scaling | None = None
    columns: list[ColumnRule] | None = None
    representation: Representation | None = None
    completion: Completion | None = None
    graph: NeighborGraph | None = None
    timings: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    name: str = NAMELESS
    n_jobs: int | None = None
    surface: Surface | None = None

    @entrance("Map")
    def __post_init__(self) -> None:
        refuse_other_order(self.X, embedding=self.embedding, labels=self.labels, metadata=self.metadata)
        if self.point_names is None and (found := names_of_rows(self.X)):
            self.point_names = text_array(found[1])
        table = check_table(self.X, accept_sparse=True)
        self.X, self._table = table.values, table
        if len(self.feature_names) == 0 and table.feature_names:
            self.feature_names = table.feature_names
        check_parts(self)
        self._cut: tuple[Table, Seams | None, Table] | None = None  # the table, where its columns are cut, and it cut
        told = told_of_seams(self._seams(), self.feature_names)
        if self.labels is not None and measured_labels(self.labels) is None and are_names_of_rows(self.labels):
            told.append("the labels are all different, so they name no classes: pass names of rows as point_names")
        if self.labels is not None and (doubt := told_of_numbers(np.asarray(self.labels))):
            told.append(doubt)
        self.notes = [*(note for note in without_seams(self.notes) if note not in told), *told]
        self._forget_metadata()
        self._evaluation: Evaluation | None = None
        self._bare_profiles: dict[int | None, AnswersByLabel[Contrast]] = {}  # without what metadata say against them
        self._dimension: IntrinsicDimension | None = None
        self._order: tuple[Succession | None] | None = None  # of rows, once it is looked for
        self._found: tuple[Any, str] | None = None  # labels, and what says that they were found in these rows
        self._join: tuple[Join | None] | None = None  # of rows and their owners, once it is looked for
        self._bare_clusters: Clusters | None = None  # without the metadata that they tell
        self._gaps: MapVerdicts | None = None
        self._illusions: MapVerdicts | None = None
        # Labels, levels of clusters, and what tells them and the islands apart.
        self._parted: tuple[Any, Any, tuple[Apart | None, Apart | None]] | None = None
        self._explanation: Explanation | None = None
        self._placed: Placed | None = None
        self._points: PointScores | None = None
        self._groups: FeatureGroups | None = None
        self._beside: tuple[Any, NeighborGraph] | None = None  # places, and the nearest on the map
        self._sorted: tuple[Any, list[Any]] | None = None  # labels, and the different ones
        self._scaled: tuple[Any, Table] | None = None  # the table or representation, and what was mapped of it
        self._estimator: Any = None  # fitted; the file keeps it if it is one of gnomon's
        self._atlas: AffineAtlas | None = None
        self._known: tuple[Any, Any] | None = None  # a table, and in which columns rows of the map hold values
        self._part = ""  # of an AnnData object, which new cells are asked for: its place in a file
        self._held_out: HeldOutRows | None = None
        self._n_fitted: int | None = None  # rows at the front that the atlas is of, in a map that has grown

    def _forget_metadata(self) -> None:
        """Forget, or begin without, what was answered and may speak of metadata or of names of rows."""
        self._profiles: dict[int | None, AnswersByLabel[Contrast]] = {}  # None: of each feature by itself
        self._clusters: Clusters | None = None
        self._alone: MapAlone | None = None  # what blind_spots and proves have answered; the file keeps it
        self._counted_beside: CountedBeside | None = None  # metadata by labels
        self._votes: tuple[Any, str] | None = None  # labels and metadata, and whether rows of the same unit tell labels
        self._doubted: tuple[Any, int, Suspects] | None = None  # labels, rows listed at most, and the list

    def __repr__(self) -> str:
        shape = f"n_samples={self.n_samples}, n_features={self.n_features}"
        return f"Map(name={self.name!r}, method={self.method!r}, {shape})"

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def caution(self) -> str:
        """How a map that a target steered is to be read; empty for one made of its features alone."""
        from gnomon.maps.steering import caution

        return caution(self.parameters)

    @entrance("Map")
    def neighbors(self) -> NeighborGraph | None:
        """Return the nearest neighbours in the data, which everything that is asked of the map shares.

        They are those that the method found, if it found 15 at least, else they are searched for when they are first
        needed: 20 for each row, as many as `intrinsic_dimension` looks at; `explain`, `evaluate`, `counterfactual` and
        the atlas take the first 15. An explanation by other features takes 60, from a search of its own if need be.

        Returns
        -------
        NeighborGraph or None
            `graph`, of which ``recall`` says how completely they were found; None for a table of one row.
        """
        if self.graph is None and self.n_samples > 1:
            wanted = min(N_NEIGHBORS, self.n_samples - 1)
            self.graph = neighbors.compute_neighbors(self._mapped().values, wanted, metric=self.metric)
        return self.graph

    def explain(self, features: Any = None, feature_names: Any = None) -> Explanation:
        """Say which features move each point. See `gnomon.explain`.

        Parameters
        ----------
        features : array-like, sparse matrix or data frame of shape (n_samples, n_features), texts, default=None
            Explain with these instead of the features of the map, as `with_features` takes them; neighbours still come
            from the data. None takes the features of the map; that is computed once.
        feature_names : sequence of n_features str, default=None
            Names of `features`.
        """
        if features is not None:
            from gnomon.explanations.interpretable import explain_with_features

            return explain_with_features(
                self._mapped(),
                self.embedding,
                features,
                feature_names=feature_names,
                graph=self._wide_graph(),
                metric=self.metric,
                n_jobs=self.n_jobs,
            )
        if self._explanation is None:
            self._require_memory("explain", "explanation")
            from gnomon.explanations import explain
            from gnomon.explanations.interpretable import N_NEIGHBORS as FEATURE_NEIGHBORS

            warn_of_seams(self._seams(), self.feature_names)
            scale = self._scale_of_explanation()
            self._explanation = explain(
                self._checked(),
                self.embedding,
                n_neighbors=FEATURE_NEIGHBORS if self._has_other_features else "auto",
                graph=self._graph_of_explanation(scale),
                metric=self._metric_of_explanation(),
                feature_names=self.feature_names,
                scale=scale,
                n_jobs=self.n_jobs,
            )
        return self._explanation

    def with_features(self, features: Any, feature_names: Any = None) -> Map:
        """Return the same map told in other features of its rows: words, metadata, ratings by people.

        For data whose own features mean nothing, such as vectors of texts or of a network's layer. Positions,
        neighbours, scores and dimension remain those of the data; every answer, caption and profile, the report and the
        page speak of the new features, in their units. They are fitted in standard deviations, over 60 neighbours
        rather than 15, because among a few near rows words are mostly chance. The map has never seen them: a high R2
        says that they tell what it shows, not what made it.

        Parameters
        ----------
        features : array-like, sparse matrix or data frame of shape (n_samples, n_features), mapping, or n_samples texts
            Numbers stay as they are. A text for each row becomes its words. A mapping of columns, and a data frame
            with columns that are no numbers, become features as by `gnomon.encode_features`, which counts and
            chooses words in other ways too; columns that are no numbers are metadata too, for `select` and the page.
        feature_names : sequence of n_features str, default=None
            Names of columns of numbers; None takes those of a data frame.

        Returns
        -------
        Map
            A new one; this one stays as it is. New rows belong to this one: as a function of the new features the map
            is an atlas, and it cannot grow.

        Raises
        ------
        TypeError, ValueError
            If features are of other rows, or no words are in enough texts; or if the data are sparse, or distances.
        """
        from gnomon.maps.retelling import with_features

        return with_features(self, features, feature_names)

    def without_metadata(self, columns: Sequence[str] | None = None) -> Map:
        """Return the same map without metadata, such as names of people, to be saved, shown and handed on.

        Positions, features, labels, neighbours and the fitted method are shared. A column that became features is in
        `X` all the same: what the map was made of cannot be left out of it; make it anew with ``forget=[...]``.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Names of `metadata`. None leaves out all of them, and `point_names` too.

        Returns
        -------
        Map
            A new one; this one stays as it is. What was answered stays, but what `blind_spots` and `proves` were asked,
            which may quote metadata; what metadata say against other answers is found anew.

        Raises
        ------
        ValueError
            If a name is none of the metadata.
        """
        from gnomon.maps.forgetting import without_metadata

        return without_metadata(self, columns)

    def _graph_of_explanation(self, scale: Scaling | None) -> NeighborGraph | None:
        """Return the neighbours to explain the map by; None if they are to be found in the features."""
        if self._has_other_features:
            return self._wide_graph()
        return self._neighbors_of_enough() if scale is self.scale or self.representation is not None else None

    def _wide_graph(self) -> NeighborGraph:
        """Return the neighbours that other features are fitted over; not kept, as nothing else looks at so many."""
        from gnomon.explanations.interpretable import N_NEIGHBORS as WANTED

        graph, wanted = self.graph, min(WANTED, self.n_samples - 1)
        if graph is None or graph.n_neighbors < wanted:
            graph = neighbors.compute_neighbors(self._mapped().values, wanted, metric=self.metric)
        placed = np.ones(self.n_samples, dtype=np.bool_)
        stand = neighbors.find_representatives(self._mapped().values, graph, placed, seed=0)
        if stand is not None:
            graph = neighbors.widened(self._mapped().values, graph, stand, wanted)
        return graph

    @entrance("evaluate")
    def evaluate(self) -> Evaluation:
        """Say how far to trust the map; computed once. See `gnomon.evaluate`."""
        if self._evaluation is None:
            self._require_memory("evaluate", "evaluation")
            from gnomon.evaluation import evaluate

            if self.labels is not None:
                order_of_rows(self)  # known to what evaluates it
            self._evaluation = cautioned_evaluation(self, evaluate(**self._to_evaluate()))
        return with_votes(self, self._evaluation)

    def _require_memory(self, who: str, *answers: str) -> None:
        """Raise MemoryError if an answer that is not there yet would take more memory than may be taken."""
        known = {"explanation": self._explanation, "evaluation": self._evaluation}
        wanted = [name for name in answers if known.get(name) is None]
        if not wanted or available_memory() == np.inf:
            return
        columns, numbers = sparse_columns(self.X), getattr(self.X, "nnz", None)
        width = self.X.shape[1] if numbers is None else numbers / self.n_samples
        for name in wanted:
            needed = answer_takes(name, self.n_samples, width, columns)[0]
            what, remedy = f"a map of {self.n_samples:,} rows", "Allow more memory, or map fewer rows or columns."
            require_memory(what, needed, fact=f"arrays of its {name}", remedy=remedy, who=who)

    def _to_evaluate(self) -> dict[str, Any]:
        """Return the arguments of `gnomon.evaluate`."""
        return {
            "X": self._mapped(),
            "Y": self.embedding if self.surface is None else self.surface.read(self.embedding),
            "surface": self.surface,
            "labels": self.labels,
            "graph": self.neighbors() if np.isfinite(self.embedding).all() else None,
            "metric": self.metric,
            "random_state": 0,
            "n_jobs": self.n_jobs,
        }

    @entrance("scorecard")
    def scorecard(self, measures: Any = "all", **options: Any) -> Scorecard:
        """Take every measure of the map, with intervals. See `gnomon.evaluation.scorecard`.

        Parameters
        ----------
        measures : "all", a name or a sequence of names, default="all"
            Names as in `gnomon.evaluation.MEASURES`.
        **options
            Further arguments of `gnomon.evaluation.scorecard`, such as ``n_anchors`` and ``confidence``.
        """
        from gnomon.evaluation import scorecard

        self._refuse_surface("a scorecard", remedy="Use evaluate, which follows the surface.")
        given = {"labels": self.labels, "metric": self.metric, "n_jobs": self.n_jobs, **options}
        order_of_rows(self)
        found = scorecard(self._mapped(), self.embedding, measures=measures, **given)
        return cautioned_scorecard(self, found, own_labels="labels" not in options)

    @entrance("stability")
    def stability(self, n_runs: int | None = None, *, vary: str = "seeds", **options: Any) -> MapStability:
        """Make the map again and again, and say what of it stays. See `gnomon.evaluation.stability_of_maps`.

        Parameters
        ----------
        n_runs : int >= 2 or None, default=None
            Maps beside this one; None takes 10, or all combinations of ``grid``.
        vary : {"seeds", "starts", "bootstrap", "parameters"}, default="seeds"
            What differs from run to run.
        **options
            Further arguments of `gnomon.evaluation.stability_of_maps`, such as ``grid`` and ``pairs``. Without
            ``labels`` the classes of the map are followed, and without ``n_neighbors`` half of the other points of a
            map of fewer than 17.

        Returns
        -------
        gnomon.evaluation.MapStability
            Its ``columns()`` are columns for `metadata`, to colour the page by.

        Raises
        ------
        ValueError
            If the method of the map is not known, or a target, weights of rows, given distances or a surface made it.
        """
        from gnomon.maps.again import stability

        return stability(self, n_runs, vary, options)

    @entrance("intrinsic_dimension", keeps_name=True)
    def intrinsic_dimension(self) -> IntrinsicDimension:
        """Say how many coordinates the data need; computed once. See `gnomon.intrinsic_dimension`."""
        if self._dimension is None:
            from gnomon.geometry import intrinsic_dimension

            order_of_rows(self)
            found = intrinsic_dimension(self._mapped(), graph=self.neighbors(), metric=self.metric, n_jobs=self.n_jobs)
            self._dimension = cautioned(self, found, field="counting", joined=True)
        return self._dimension

    @entrance("profiles")
    def profiles(self, *, groups: Any = None, units: npt.ArrayLike | str | None = None) -> AnswersByLabel[Contrast]:
        """Say for each label which features set its rows apart; computed once. A dict by label, which prints tables.

        Empty without labels of two different classes at least: dates, measured numbers and labels that are all
        different are no classes, which is printed then.

        Parameters
        ----------
        groups : None, "auto" or FeatureGroups, default=None
            "auto" compares the features of each of `feature_groups` as one.
        units : array-like of shape (n_samples,), str or None, default=None
            What was drawn independently, such as the donor of each cell, or the name of the metadata that say so: what
            sets a label apart is judged between these, as by `contrast`, and computed anew. None takes every row as
            independent.
        """
        from gnomon.explanations import AnswersByLabel, cluster_profiles

        if self.labels is None or len(self._classes()) < 2:
            none: AnswersByLabel[Contrast] = AnswersByLabel()
            if self.labels is not None and measured_labels(self.labels) is not None:
                none.caution = f"the labels are dates or measured numbers, and so no classes. {TO_CLASSES}"
            elif self.labels is not None:
                none.caution = "the labels are not two classes at least"
            return none
        known, units = self._groups_and_units(groups, units)
        key = id(known) if known is not None and known.groups else None
        if key not in self._profiles or units is not None:
            bare = None if units is not None else self._bare_profiles.get(key)
            if bare is None:
                table, names = self._unrolled(), self.feature_names
                there = None if known is not None else known_values(self.completion, table.values.shape)
                bare = cluster_profiles(table, self.labels, feature_names=names, groups=known, units=units, known=there)
            found = copy.copy(bare)
            apart = [label for label, one in found.items() if one.n_beyond_chance]
            unnamed = "" if known is not None else self._told_of_unnamed()
            found = self._cautioned_of_labels(found, apart, by_rows=units is None, more=unnamed)
            if units is not None or (known is not None and known is not self._groups):
                return found
            self._bare_profiles[key], self._profiles[key] = bare, found
        return self._profiles[key]

    def _classes(self) -> list[Any]:
        """Return the different labels, none if they are measured or all are different."""
        if self.labels is None or measured_labels(self.labels) is not None:
            return []
        if (self._sorted is None or self._sorted[0] is not self.labels) and are_names_of_rows(self.labels):
            self._sorted = self.labels, []
        if self._sorted is None or self._sorted[0] is not self.labels:
            self._sorted = self.labels, sort_into_classes(self.labels).values
        return self._sorted[1]

    def _doubts(self, n: int) -> Suspects | None:
        """Return `suspects`, found once, where the labels are classes, several of them; None elsewhere."""
        if self.n_samples < 2 or len(self._classes()) < 2:
            return None
        known = self._doubted
        if known is None or known[0] is not self.labels or known[1] < n:
            at_least = max(n, _MOST_DOUBTED)
            self._doubted = known = self.labels, at_least, self.suspects(at_least)
        return known[2].head(n)

    def _checked(self) -> Table:
        """Return `X` as a table that is not checked again."""
        if self.X is not self._table.values:  # it was changed
            self._table = check_table(self.X, accept_sparse=True)
            self.X = self._table.values  # and is not checked again
        return self._table

    def _seams(self) -> Seams | None:
        """Return where columns with a period are cut; None where the metric knows none of these features."""
        return self._checked_and_cut()[1]

    def _unrolled(self) -> Table:
        """Return the features as answers tell them: `X`, columns with a period cut where they hold fewest rows."""
        return self._checked_and_cut()[2]

    def _checked_and_cut(self) -> tuple[Table, Seams | None, Table]:
        table = self._checked()
        if self._cut is None or self._cut[0] is not table:
            of_features = self.scale is None and self.representation is None
            seams = find_seams(table.values, self.metric) if of_features else None
            told = table if seams is None else replace(table, values=seams.apply(table.values))
            self._cut = table, seams, told
        return self._cut

    def _mapped(self) -> Table:
        """Return the table that was mapped: `X`, or `X` standardised, or its representation."""
        if self.representation is None:
            return self._standardised()
        if self._scaled is None or self._scaled[0] is not self.representation:
            self._scaled = self.representation, check_table(self.representation.values)
        return self._scaled[1]

    def _standardised(self) -> Table:
        """Return `X`, standardised if the map was made so."""
        table = self._checked()
        if self.scale is None:
            return table
        if self._scaled is None or self._scaled[0] is not table:
            values = self.scale.apply(table.values)
            self._scaled = table, check_table(values, accept_sparse=True, feature_names=table.feature_names)
        return self._scaled[1]

    def _metric_of_explanation(self) -> str:
        """Return the metric to explain the map in: its own, unless that reads values which the features are not."""
        return "euclidean" if self.representation is not None and reads_values(self.metric) else self.metric

    def _scale_of_explanation(self) -> Scaling | None:
        """Return how features are standardised to explain the map: as for the map, else where units are unlike."""
        if self.scale is not None or self.image_shape is not None:
            return self.scale
        return choose_scaling(self.X, "auto", names=self.feature_names, metric=self.metric).scaling

    def _neighbors_of_enough(self) -> NeighborGraph | None:
        """Return `neighbors`, or None where the table has too few rows, of which others complain better."""
        return self.neighbors() if self.n_samples > _FEWEST_ROWS else self.graph

    @entrance("Map.save")
    def save(self, path: str | os.PathLike[str], *, metadata: bool | Sequence[str] = True) -> None:
        """Write the map to one file that `Map.load` reads; the file holds arrays and text, no code.

        With it goes the fitted method. The loaded map is the same function: `transform`, `inverse_transform`,
        `jacobian` and `place` give the same bytes. What the method shares with the map, such as the table, is stored
        once.

        Parameters
        ----------
        path : str or path-like
            File to write; what was there stays until the new file is complete.
        metadata : bool or sequence of str, default=True
            Which metadata the file holds; False, and names alone, leave out names of rows too, see `without_metadata`.

        Raises
        ------
        TypeError, ValueError
            If parts of the map were changed so that they no longer fit each other, or parameters are neither numbers
            nor text.
        OSError
            If the file cannot be written.
        """
        from gnomon._archive import write_archive
        from gnomon.maps.file import KIND, pack, version_of
        from gnomon.maps.forgetting import shared

        check_parts(self)
        with shared(self, metadata) as written:
            arrays, description = pack(written)
        write_archive(path, kind=KIND, version=version_of(description), arrays=arrays, description=description)

    @entrance("Map.fingerprint")
    def fingerprint(self) -> str:
        """Return a checksum of the map, by which two runs or two files can be known to have the same one.

        It is the SHA-256 of all that `save` writes (table, positions, labels, metadata, notes, parameters, fitted
        method) but the seconds that stages took, and what questions have added: neighbours and what the map alone
        shows. So the same call gives the same one, and so do the map and what `load` reads of it.

        Returns
        -------
        str
            64 hexadecimal digits.

        Raises
        ------
        TypeError, ValueError
            As `save`.
        """
        from gnomon.maps.file import fingerprint

        check_parts(self)
        return fingerprint(self)

    @classmethod
    @entrance("Map.load")
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a map written by `save`; loading runs no code from the file.

        Parameters
        ----------
        path : str or path-like
            File to read. Each of its arrays and each entry of its description is checked against all others. A file of
            an older gnomon has no fitted method: the map then is a function by an atlas, see `extension_kind`.

        Raises
        ------
        OSError
            If there is no such file or it cannot be read.
        ValueError
            If the file is damaged, holds anything that `save` does not write, or was written by a newer gnomon.
        """
        from gnomon._archive import damaged_file, read_archive
        from gnomon.maps.file import KIND, VERSION, check_shapes, unpack

        arrays, description = read_archive(path, kind=KIND, version=VERSION, check=check_shapes)
        try:
            return unpack(arrays, description, cls)
        except (TypeError, ValueError, OverflowError) as error:
            fact = str(error).removeprefix("Map: ").rstrip(".")
            raise damaged_file(path, fact, kind=KIND) from error
