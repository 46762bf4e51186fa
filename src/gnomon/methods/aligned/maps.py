"""Maps of several tables, over time or of batches, in which the rows that tables share lie near each other."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._estimator import copied
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Real, Rule, check_parameters, message
from gnomon.data import check_table
from gnomon.data.cells import is_cells
from gnomon.methods.aligned.file import save_aligned
from gnomon.methods.aligned.fit import fit_together
from gnomon.methods.aligned.movement import Movement, movement_of
from gnomon.methods.aligned.neighbors_kept import KeptInTables, same_values, shares_kept, usual_share
from gnomon.methods.aligned.noisy_copies import NoisyCopies, of_lesser_noise
from gnomon.methods.aligned.relations import identities
from gnomon.methods.neighbor.anchors import Infinite
from gnomon.methods.neighbor.base import NeighborEmbedder
from gnomon.methods.other_names import ALIGNED, check_names
from gnomon.methods.registry import find_method
from gnomon.viewer import PageContent, write_html
from gnomon.viewer import Sequence as PageSequence

__all__ = ["AlignedMaps"]

_RULES: dict[str, Rule] = {"alignment_weight": Either(Real(0.0, 1.0), Infinite()), "window": Integer(1)}
_OWN = ("method", "alignment_weight", "window", "random_state", "n_jobs", "callback")
_INNER = "method__"  # before parameters of a method that is an object
_JITTER = 0.1  # noise in the starts of the maps that movements are compared with, in units of their spread
_REFUSED = ("anchors", "precomputed_knn", "output_metric", "random_state", "n_jobs", "callback", "verbose")
_REMEDIES = {name: f"Pass {name} to AlignedMaps." for name in ("random_state", "n_jobs", "callback")}


class AlignedMaps:
    """Maps of several tables in one descent, springs between the places of the same row.

    The loss is the sum over tables of the method's own loss, divided by the mean sum of a row's affinities, and of

        alignment_weight * sum |y_s,i - y_t,j|^2

    over rows i of table s and j of table t that are the same row. Rows repel each other within a table alone. Where the
    tables agree the maps do; where a row's neighbours change, it moves. Tables may have different features: neighbours
    are found in each by itself.

    Parameters
    ----------
    method : str or estimator, default="umap"
        A neighbour embedding, by name or as an object such as ``gnomon.TSNE(perplexity=20)``, whose optimizer moves
        each point by its own force: all of them but "two_kernel_pca".
    alignment_weight : float in [0, 1] or inf, default=0.1
        Stiffness of the springs, in the units of ``anchor_weight``. 0 makes each map by itself, and turns, reflects and
        moves them to each other afterwards. At 1 the same rows lie about a hundredth of the map apart; with inf they
        share one place in all maps.
    window : int >= 1, default=1
        A row is tied to so many of its previous and next appearances, by springs that share the weight: 1 ties each to
        the next alone.
    random_state : int, Generator, RandomState or None, default=None
        The seed used, for all tables alike, is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the layout early.
    **parameters
        Further parameters of a method given by name, such as ``n_neighbors=10``.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_rows, n_components), float32
        A map for each table.
    estimators_ : list of estimator
        The method fitted to each table, which places new rows, differentiates and saves as usual; `save` keeps all.
        ``spring_lengths_`` is how far each row lies from the mean place of those it is tied to.
    identities_ : list of ndarray of shape (n_rows,), int64
        Which row each row is: rows of different tables with the same number are the same.
    seed_, timings_
        What was used, and seconds by stage.

    References
    ----------
    .. [1] Dadu, Satone, Kaur, ..., McInnes, Faghri, "Application of Aligned-UMAP to longitudinal biomedical studies",
       Patterns 4, 2023.
    .. [2] Rauber, Falcao & Telea, "Visualizing time-dependent data using dynamic t-SNE", EuroVis 2016 (springs between
       the places of a row in consecutive maps).

    Examples
    --------
    >>> import gnomon
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> maps = gnomon.AlignedMaps("umap", max_iter=50, random_state=0)
    >>> maps = maps.fit([X[:300], X[200:500]], relations=[{row: row - 200 for row in range(200, 300)}])
    >>> [Y.shape for Y in maps.embeddings_]
    [(300, 2), (300, 2)]
    """

    embeddings_: list[npt.NDArray[np.float32]]
    estimators_: list[NeighborEmbedder]
    identities_: list[npt.NDArray[np.int64]]

    @entrance("AlignedMaps")
    def __init__(
        self,
        method: str | Any = "umap",
        *,
        alignment_weight: float = 0.1,
        window: int = 1,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        **parameters: Any,
    ) -> None:
        check_names(ALIGNED, parameters, type(self).__name__)
        check_parameters(_RULES, {"alignment_weight": alignment_weight, "window": window})
        self.method, self.alignment_weight, self.window = method, alignment_weight, window
        self.random_state, self.n_jobs, self.callback = random_state, n_jobs, callback
        self._parameters = parameters
        self._estimator = _estimator(method, parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of a method that was given as an object come as well, as ``method__n_neighbors``.

        Returns
        -------
        dict
            Also the further parameters of a method given by name.
        """
        own = {name: getattr(self, name) for name in _OWN}
        inner = {} if not deep or isinstance(self.method, str) else self.method.get_params()
        return {**own, **self._parameters, **{f"method__{name}": value for name, value in inner.items()}}

    @entrance("AlignedMaps")
    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; maps that were computed stay until the next `fit`.

        Parameters
        ----------
        **params
            As of the constructor, and ``method__n_neighbors`` of a method that was given as an object.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter, also of a method that is set by name and has not those that were given.
        TypeError, ValueError
            As by the constructor. In each case nothing is changed.
        """
        inner = {name: value for name, value in params.items() if name.startswith(_INNER)}
        wanted = {**self.get_params(deep=False), **{name: one for name, one in params.items() if name not in inner}}
        method = wanted["method"]
        if inner and isinstance(method, str):
            first = next(iter(inner))
            remedy = f"Pass {first.removeprefix(_INNER)}, since the method is given by name."
            raise ValueError(message(f"{first}", "of a method that is an object", remedy=remedy))
        if inner:
            wanted["method"] = copied(method).set_params(**{name.removeprefix(_INNER): inner[name] for name in inner})
        _check_known([name for name in wanted if name not in _OWN], params, method)
        vars(self).update(vars(type(self)(**wanted)))
        return self

    def __repr__(self) -> str:
        usual = {"alignment_weight": 0.1, "window": 1, "random_state": None, "n_jobs": None}
        given = [f"{name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value]
        made = f", {len(self.embeddings_)} maps computed" if hasattr(self, "embeddings_") else ""
        return f"<AlignedMaps({', '.join([repr(self._estimator), *given])}){made}>"

    @entrance("AlignedMaps", seeded=True)
    def fit(self, tables: Sequence[Any], y: object = None, *, relations: Any = None, ids: Any = None) -> Self:
        """Compute the maps.

        Parameters
        ----------
        tables : list of array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Two or more, as the method takes them; their numbers of rows and features may differ.
        y : None
            Not used.
        relations : "rows", sequence, mapping or None, default=None
            Which rows are the same. "rows": row i of each table, of tables of one length. A sequence: for each two
            consecutive tables a dict from rows of the one to rows of the other, an array of pairs of shape
            (n_pairs, 2), or an array with a row of the other for each row of the one, -1 for none. A mapping: such
            relations by the numbers of two tables, as ``{(0, 1): ..., (0, 2): ...}``. What follows from them counts as
            well: if a is b and b is c, a is c.
        ids : sequence of array-like of shape (n_rows,), or None, default=None
            Instead: names for the rows of each table; rows of one name are the same. None, NaN and NA name no other
            row. Without relations and ids the indices of data frames and the ``obs_names`` of AnnData objects are
            taken, unless they merely count; where they are whole numbers, a warning asks for ids.

        Returns
        -------
        self
            The maps are ``embeddings_``.

        Raises
        ------
        ValueError
            If tables, relations or a parameter of the method is refused; or if two rows of one table are the same row.

        Warns
        -----
        DataWarning
            If tables share no row with the others, or rows are tied by whole numbers in the index.
        """
        if y is not None:
            raise ValueError(message("y", "None", remedy="Pass relations and ids by name."))
        if not isinstance(tables, list | tuple) or len(tables) < 2:
            is_list = isinstance(tables, list | tuple)
            fact = f"found a {type(tables).__name__} of {len(tables)}" if is_list else f"found {type(tables).__name__}"
            raise ValueError(message("tables", "a list of two tables or more", fact=fact))
        checked = [check_table(X, accept_sparse=True, min_samples=2) for X in tables]
        sizes = [table.n_samples for table in checked]
        found = identities(sizes, relations, ids, _indices(tables))
        self.seed_ = current_run().seed
        estimators = [_clone(self._estimator) for _ in tables]
        for one in estimators:  # also of a class that takes neither
            one.random_state, one.n_jobs = self.seed_, self.n_jobs
        window = int(self.window)
        fit_together(estimators, tables, found, weight=float(self.alignment_weight), window=window)
        self.estimators_, self.identities_, self._tables = estimators, found, list(tables)
        self.embeddings_ = [one.embedding_ for one in estimators]
        self.timings_ = dict(current_run().reporter.timings)
        return self

    def fit_transform(
        self, tables: Sequence[Any], y: object = None, *, relations: Any = None, ids: Any = None
    ) -> list[npt.NDArray[np.float32]]:
        """Compute the maps and return them, ``embeddings_``; see `fit`."""
        return self.fit(tables, y, relations=relations, ids=ids).embeddings_

    @entrance("AlignedMaps")
    def movement(self, *, n_repeats: int = 2, rate: float = 0.05) -> list[Movement]:
        """Say how far rows move from each map to the next, and which of them moved by their data.

        Springs and neighbours pull rows along whose own data say nothing new, and springs hold rows whose data do. A
        row is therefore said to have moved if it has other values in the two tables and keeps fewer of its 15 nearest
        shared rows from table to table, those not counted that moved, than by chance, or lies farther from them: a
        row that goes where nobody is may keep its nearest.

        Chance is other seeds and noise. The noise is that between the two tables themselves: from each a copy is drawn,
        in which every shared row lies anew near its place, with so much noise that rows usually keep as many of their
        neighbours as from table to table, and with a little where most rows have the same values. Usually means the
        half that keeps most: half of the rows at least must have moved by noise alone. Rows go as far as rows near them
        differ, so the noise is that of each place, in all metrics and also where the tables have other features. The
        table and its copy are mapped together, with different seeds and starts with noise of a tenth of their spread.
        Where rows usually keep less than half, 45 or 135 neighbours are compared.

        Parameters
        ----------
        n_repeats : int >= 1, default=2
            Copies of each of the two tables. All together take about 4 n_repeats times as long as the fit. With few of
            them a few rows that moved cannot be told from chance: at a rate of .05, 10 / n_repeats at least must have
            gone beyond all that chance does (``Movement.fewest``). Finding a single row takes n_repeats=10.
        rate : float in (0, 1), default=0.05
            Share of the rows said to have moved that may have done so by noise alone.

        Returns
        -------
        list of Movement
            One for each two consecutive tables.
        """
        self._check_fitted()
        rules: dict[str, Rule] = {"n_repeats": Integer(1), "rate": Real(0.0, 1.0, low_open=True, high_open=True)}
        given = check_parameters(rules, {"n_repeats": n_repeats, "rate": rate})
        return [self._movement(t, **given) for t in range(len(self.embeddings_) - 1)]

    def _movement(self, t: int, n_repeats: int, rate: float) -> Movement:
        one, two = self.identities_[t : t + 2]
        _, first, second = np.intersect1d(one, two, return_indices=True)
        rows = np.stack([first, second], axis=1).astype(np.int64)
        apart = self.embeddings_[t][first].astype(np.float64) - self.embeddings_[t + 1][second]
        n, estimators = len(rows), (self.estimators_[t], self.estimators_[t + 1])
        first_table, second_table = (check_table(X, **self._reading).values for X in self._tables[t : t + 2])
        values = (first_table, second_table)
        kept, unchanged = KeptInTables(estimators, values, rows), same_values(estimators[0], values, rows)
        shares = shares_kept(kept, n)
        usual = usual_share(shares[~unchanged]) if 2 * int(unchanged.sum()) < n else None
        far, by_chance, farther = (np.ones((2 * n_repeats if n else 0, n)) for _ in range(3))
        for side in (0, 1) if n else ():
            near = kept.nearest[side]
            chance = NoisyCopies(estimators[side], values[side], rows[:, side], near, kept.k, usual, self.seed_)
            for repeat in range(n_repeats):
                seed, pair = self.seed_ + 2 * repeat + 1, 2 * repeat + side
                (copy, places), by_chance[pair], farther[pair] = chance.draw(seed)
                far[pair] = self._apart_by_chance((values[side], copy), rows[:, side], places, seed)
        farther[::2], farther[1::2] = of_lesser_noise(farther[::2], farther[1::2])
        return movement_of(
            (t, t + 1),
            rows,
            np.sqrt(np.square(apart).sum(axis=1)),
            far,
            rate,
            kept=kept,
            null_kept=by_chance,
            farther=kept.farther,
            null_farther=farther,
            n_neighbors=kept.k,
            unchanged=unchanged,
        )

    @property
    def _reading(self) -> dict[str, Any]:
        """How a table is read: with precomputed distances a stored zero is one."""
        return {"accept_sparse": True, "keep_zeros": self.estimators_[0].metric == "precomputed"}

    def _apart_by_chance(
        self, tables: tuple[Any, Any], rows: npt.NDArray[np.int64], places: npt.NDArray[np.int64], seed: int
    ) -> npt.NDArray[np.float64]:
        """Return how far shared rows move from the map of a table to that of its copy, aligned by them."""
        estimators = [_clone(self._estimator) for _ in range(2)]
        n = int(tables[0].shape[0])
        other = n + np.arange(n)
        other[rows] = rows[places]
        fit_together(
            estimators,
            tables,
            [np.arange(n), other],
            weight=self.alignment_weight,
            window=1,
            seeds=[seed, seed + 1],
            jitter=_JITTER,
        )
        one, two = (estimator.embedding_[rows].astype(np.float64) for estimator in estimators)
        apart: npt.NDArray[np.float64] = np.sqrt(np.square(one[places] - two).sum(axis=1))
        return apart[np.argsort(places)]

    @entrance("AlignedMaps")
    def sequence(self, labels: Sequence[object] | None = None, *, name: str = "table", main: int = 0) -> PageSequence:
        """Return the maps as one sequence for a page, which moves points from map to map.

        Parameters
        ----------
        labels : sequence or None, default=None
            What each table is, such as a year; None numbers them.
        name : str, default="table"
            What the labels are.
        main : int, default=0
            The map at which the page opens.

        Returns
        -------
        gnomon.viewer.Sequence
            Its embeddings have a row for each number in ``identities_``; NaN where a table lacks it.
        """
        self._check_fitted()
        n = 1 + max(int(own.max()) for own in self.identities_)
        frames = []
        for Y, own in zip(self.embeddings_, self.identities_, strict=True):
            frame = np.full((n, Y.shape[1]), np.nan, dtype=np.float32)
            frame[own] = Y
            frames.append(frame)
        given = range(len(frames)) if labels is None else labels
        return PageSequence(name, tuple(str(label) for label in given), tuple(frames), main=main)

    @entrance("AlignedMaps")
    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        labels: Sequence[object] | None = None,
        name: str = "table",
        classes: Sequence[npt.ArrayLike] | None = None,
        main: int = 0,
        title: str = "Aligned maps",
    ) -> None:
        """Write the maps as one page with a slider that moves the points from map to map.

        Parameters
        ----------
        path : str or path-like
            Written atomically.
        labels, name, main : as in `sequence`
            The slider.
        classes : sequence of array-like of shape (n_rows,), one for each table, or None, default=None
            A class for each row, by which points are coloured; of a row that has several the first counts.
        title : str, default="Aligned maps"
            Heading.
        """
        sequence = self.sequence(labels, name=name, main=main)
        shown = None if classes is None else self._of_all_rows(classes, len(sequence.embeddings[0]))
        method = type(self._estimator).__name__
        content = PageContent(sequence.embeddings[sequence.main], title=title, method=method, labels=shown)
        write_html(path, content, sequence=sequence)

    @entrance("AlignedMaps")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the maps to one file, which `gnomon.load` reads.

        The file holds arrays and text, no code: the tables as numbers, which rows are the same, and the method fitted
        to each. What is loaded gives the same bytes in all that it is asked.

        Parameters
        ----------
        path : str or path-like
            File to write; what was there stays until the new file is complete.

        Raises
        ------
        NotFittedError
            Before `fit`.
        TypeError
            If the method is of another library or holds a function, or callback is set. A random_state that is a
            generator is stored as the seed that was drawn from it.
        OSError
            If the file cannot be written.
        """
        self._check_fitted()
        save_aligned(self, path)

    def _of_all_rows(self, classes: Sequence[npt.ArrayLike], n: int) -> npt.NDArray[Any]:
        """Return the class of each number in ``identities_``, that of its first table."""
        found = np.full(n, None, dtype=object)
        if len(classes) != len(self.identities_):
            rule = f"one array for each of {len(self.identities_)} tables"
            raise ValueError(message(f"classes of {len(classes)} tables", rule))
        for t, (own, given) in reversed(list(enumerate(zip(self.identities_, classes, strict=True)))):
            values = np.asarray(given)
            if values.shape != own.shape:
                raise ValueError(message(f"classes[{t}] of shape {values.shape}", f"of shape {own.shape}"))
            found[own] = values
        return np.array(found.tolist())

    def _check_fitted(self) -> None:
        if not hasattr(self, "embeddings_"):
            from sklearn.exceptions import NotFittedError  # loaded for the error

            raise NotFittedError("AlignedMaps: the maps are not computed yet. Call fit first.")


def _indices(tables: Sequence[Any]) -> list[Any]:
    """Return what names the rows of each table, None of what has no such; a list has a method called index."""
    cells = [is_cells(X) for X in tables]
    found: list[Any] = [
        X.obs_names if of_cells else X.index if hasattr(X, "columns") and hasattr(X, "index") else None
        for X, of_cells in zip(tables, cells, strict=True)
    ]
    if all(cells) and all([*names] == [str(row) for row in range(len(names))] for names in found):
        return [None] * len(tables)  # anndata counts the cells that nobody has named
    return found


def _clone(estimator: Any) -> Any:
    from sklearn.base import clone  # loaded when first asked for

    return clone(estimator)


def _estimator(method: Any, parameters: dict[str, Any]) -> NeighborEmbedder:
    """Return the method that is to be fitted to each table, or raise an error about it."""
    if isinstance(method, str):
        from gnomon import methods  # loaded when first asked for

        card = find_method(method)
        made = None if card is None else getattr(methods, card.estimator)
        if made is None or not issubclass(made, NeighborEmbedder):
            remedy = "Those by springs and repulsion are listed by `gnomon methods`."
            raise ValueError(message(f"method={method!r}", "a neighbour embedding, such as 'umap'", remedy=remedy))
        return _checked(made(**parameters))
    if not isinstance(method, NeighborEmbedder):
        rule = "the name of a neighbour embedding, or one such as gnomon.UMAP()"
        raise TypeError(message(f"method of type {type(method).__name__}", rule))
    if parameters:
        rule = "left out where method is an object"
        raise ValueError(message(f"parameters {', '.join(sorted(parameters))}", rule))
    return _checked(_clone(method))


def _check_known(names: Sequence[str], params: Mapping[str, Any], method: Any) -> None:
    """Raise ValueError unless names are parameters of a method given by name; TypeError by a name that others have."""
    if not names or not isinstance(method, str):
        return
    made = _estimator(method, {})
    check_names(made._other_names, [name for name in params if name not in _OWN], type(made).__name__)
    known = sorted(made.get_params(deep=False).keys() - set(_REFUSED))
    unknown = [name for name in names if name not in known and name not in _REFUSED]
    if not unknown:
        return
    what, rule = f"parameter {unknown[0]}", f"of AlignedMaps, {', '.join(_OWN)}, or of {type(made).__name__}"
    near = difflib.get_close_matches(unknown[0], [*_OWN, *known], n=1)
    remedy = f"Did you mean {near[0]}?" if near else f"{type(made).__name__} takes {', '.join(known)}."
    raise ValueError(message(what, rule, fact=f"method={method!r}", remedy=remedy))


def _checked(estimator: NeighborEmbedder) -> NeighborEmbedder:
    """Return the method, or raise ValueError if it holds what is of one table or for `AlignedMaps` to say."""
    if not isinstance(estimator.init, str):
        fact = "each table has rows of its own"
        raise ValueError(message("init of the method", "the name of a start", fact=fact))
    usual = type(estimator)().get_params()
    for name in (name for name in _REFUSED if name in usual):
        given = getattr(estimator, name)
        if given is not usual[name] and (not isinstance(given, bool | int | str) or given != usual[name]):
            raise ValueError(message(f"{name} of the method", "left out", remedy=_REMEDIES.get(name, "")))
    return estimator
