"""Layouts in parts: the bytes of the whole where repulsion is sampled, of one machine on a mesh, whoever works."""

import itertools
import os
import pickle
import signal
import threading
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon import _core
from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy, UMAPKernel
from gnomon.objectives import Anchors, CrossEntropy, KLDivergence, StatedCrossEntropy
from gnomon.optimizers import Adam, GradientDescent, SampledDescent
from gnomon.optimizers.partitioned import (
    OwnedEdges,
    PartsRun,
    SampledPart,
    SampledParts,
    SampledSpec,
    n_mesh_parts,
    part_bounds,
)
from gnomon.optimizers.partitioned.parts import Scratch
from gnomon.scale import DaskExecutor, Journal, LocalExecutor, rounds_of
from gnomon.scale.cluster_rounds import ClusterRounds

distributed = pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def however_few(monkeypatch):
    """Layouts in parts for maps of any size."""
    monkeypatch.setattr("gnomon.optimizers.base.IN_PARTS_FROM", 0)


@pytest.fixture(scope="module")
def client():
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=3, **settings) as cluster, distributed.Client(cluster) as client:
        yield client


def graph(n, seed=0):
    """Random affinities with rows of all degrees from none on, symmetric."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), np.arange(n) % 9)
    matrix = sp.csr_array((rng.uniform(0.1, 1, len(rows)), (rows, rng.integers(0, n, len(rows)))), shape=(n, n))
    matrix = matrix + sp.eye_array(n, k=n // 2)
    matrix = sp.csr_array(matrix + matrix.T)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return sp.csr_array(matrix / matrix.max()).astype(np.float32)


def points(n, d=2, seed=1):
    return np.random.default_rng(seed).normal(scale=3, size=(n, d)).astype(np.float32)


def members(words, n):
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[:n])


def mixed(x):
    """The bijective mixer of 32 bits of cpp/include/gnomon/random.hpp."""
    x = np.asarray(x, np.uint32)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def mixed64(x):
    for factor in (0xD6E8FEB86659FD93, 0xD6E8FEB86659FD93, 1):
        x = (x ^ (x >> 32)) * factor % 2**64
    return x


def draws(seed, epoch, begin, end, n, n_draws):
    """The rows that each sixteen of the rows [begin, end) draw, as random.hpp and sampled_forces.cpp say."""
    golden = 0x9E3779B97F4A7C15
    h = mixed64((seed + golden * (0x6E6567 + 1)) % 2**64)
    h = mixed64(h ^ ((epoch + golden) % 2**64))
    key = mixed64((h + 0xBF58476D1CE4E5B9) % 2**64) % 2**32
    together = np.arange(begin // 16, -(-end // 16), dtype=np.uint32)
    base = mixed(together * np.uint32(0x9E3779B1) + np.uint32(key))
    counter = np.arange(n_draws, dtype=np.uint32)
    bits = mixed(base[:, None] + counter * np.uint32(0x2545F491))
    return ((counter + bits * 2.0**-32) * (n / n_draws)).astype(np.int64)


def test_parts_cover_all_rows_begin_at_whole_words_and_are_never_empty():
    for n, n_parts in itertools.product([1, 64, 65, 1345, 10_000], [1, 2, 3, 7, 500]):
        bounds = part_bounds(n, n_parts)
        assert (bounds[0], bounds[-1]) == (0, n)
        assert all(first < stop and first % 64 == 0 for first, stop in itertools.pairwise(bounds))
        assert len(bounds) - 1 == min(n_parts, -(-n // 64))
    assert [n_mesh_parts(n) for n in (1000, 8 << 20, (8 << 20) + 1, 10**9)] == [8, 8, 9, 954]


def test_the_edges_of_a_part_are_those_of_its_rows_and_the_halo_their_other_ends():
    matrix = graph(300)
    edges = CrossEntropy(Affinities(matrix, "membership"), UMAPKernel.from_min_dist(0.1)).edges
    owned = OwnedEdges.of(edges, 64, 192)
    there = np.concatenate([np.arange(64, 192), owned.halo])
    outside = set(matrix[64:192].indices) - set(range(64, 192))
    assert owned.halo.tolist() == sorted(outside, key=lambda row: (row < 64, row))
    assert OwnedEdges.of(edges, 64, 192, among_all=True).halo.tolist() == [*range(192, 300), *range(64)]
    part = sp.csr_array((owned.values, there[owned.columns], owned.offsets[:129]), shape=(128, 300))
    assert (part != matrix[64:192]).nnz == 0
    assert np.all(np.diff(owned.offsets[128:]) == 0)


@pytest.mark.parametrize(("begin", "end"), [(0, 64), (64, 1344), (1280, 1345)])
def test_the_rows_marked_are_those_that_the_counter_draws(begin, end):
    n, sampling = 1345, _core.SamplingParameters(11, 1.0, 5.0, 16, 4.0)
    words = np.zeros(22, dtype=np.uint64)
    _core.mark_draws(sampling, 7, begin, end, n, words, 1)
    assert members(words, n).tolist() == sorted(set(draws(11, 7, begin, end, n, 16).ravel().tolist()))
    values = points(n, 3)
    assert np.array_equal(_core.take_marked(words, values, 1), values[members(words, n)])


def cross_entropy(n, n_draws=16):
    return CrossEntropy(Affinities(graph(n), "membership"), UMAPKernel.from_min_dist(0.1), n_draws=n_draws, seed=5)


def in_parts(objective, optimizer, Y0, n_parts):
    """Lay out in so many parts in this process; return the state and the run."""
    bounds = part_bounds(objective.n_samples, n_parts)
    spec = SampledSpec(objective.kernel, objective.sampling, 1.0, optimizer.max_iter, optimizer.isotropic)
    work = SampledParts(spec, bounds, objective.edges, objective.sampling_weights[0])
    run = PartsRun(work, bounds, LocalExecutor(), SampledPart, ("embedding", "first_moment", "second_moment"))
    state = optimizer.start(objective, Y0.copy())
    for last in (7, 10, optimizer.max_iter):
        run.advance(state, last)
    return state, run


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 21])
def test_umap_in_parts_has_the_bytes_of_the_whole(n_parts):
    objective = cross_entropy(1345)
    for d, isotropic in ((2, False), (3, True)):
        optimizer, Y0 = SampledDescent(max_iter=13, isotropic=isotropic), points(1345, d)
        whole = optimizer.minimize(objective, Y0).state
        for n_threads in (1, 2):
            with gnomon.running(n_threads=n_threads):
                state, _ = in_parts(objective, optimizer, Y0, n_parts)
            for name in ("embedding", "first_moment", "second_moment"):
                assert np.array_equal(getattr(state, name), getattr(whole, name))


def test_messages_hold_the_rows_asked_for_and_a_bit_for_each_row():
    objective, optimizer = cross_entropy(1345), SampledDescent(max_iter=13)
    state, run = in_parts(objective, optimizer, points(1345), 21)
    bounds, expected = part_bounds(1345, 21), 0
    for first, stop in itertools.pairwise(bounds):
        halo = set(OwnedEdges.of(objective.edges, first, stop).halo.tolist())
        for epoch in range(13):
            rows = set(draws(5, epoch, first, -(-stop // 16) * 16, 1345, 16).ravel().tolist()) | halo
            expected += 8 * len(rows - set(range(first, stop)))  # places in two dimensions
            expected += 8 * (22 - -(-(stop - first) // 64))  # words
    assert run.n_bytes == expected
    assert np.isfinite(state.embedding).all()


def test_a_part_that_draws_most_rows_takes_the_places_of_all_others_unasked():
    _, run = in_parts(cross_entropy(1345, n_draws=80), SampledDescent(max_iter=13), points(1345), 3)
    assert run.n_bytes == 13 * 2 * 8 * 1345  # each of three parts is sent the places of the others in each epoch


@pytest.mark.parametrize("n_parts", [3, 21])
def test_a_run_leaves_what_it_began_with_and_shares_no_memory_with_what_it_leaves(n_parts):
    objective, bounds, Y = cross_entropy(1345), part_bounds(1345, n_parts), points(1345)
    spec = SampledSpec(objective.kernel, objective.sampling, 1.0, 40, isotropic=False)
    rounds = rounds_of(SampledParts(spec, bounds, objective.edges, objective.sampling_weights[0]), LocalExecutor())
    begin = [
        SampledPart(Y[first:stop].copy(), Y[first:stop].copy(), Y[first:stop] ** 2)
        for first, stop in itertools.pairwise(bounds)
    ]
    bytes_of = lambda states: [  # noqa: E731
        array.tobytes() for one in states for array in (one.embedding, one.first_moment, one.second_moment)
    ]
    before, once = bytes_of(begin), rounds.run(begin, 0, 11)
    assert bytes_of(begin) == before
    found = bytes_of(once)
    assert bytes_of(rounds.run(begin, 0, 11)) == found  # as after the death of a worker
    rounds.run(once, 11, 22)
    assert bytes_of(once) == found


def test_scratch_is_used_again_and_stays_where_it_was_made():
    scratch = Scratch()
    first = scratch.copy("places", points(40))
    assert np.array_equal(first, points(40))
    assert np.shares_memory(scratch.take("places", 30, 2), first)
    assert scratch.take("places", 41, 2).shape == (41, 2)
    assert not np.shares_memory(scratch.take("other", 30, 2), first)
    assert len(pickle.dumps(scratch)) < 200


@pytest.mark.parametrize(
    ("method", "target"),
    [
        (gnomon.UMAP, None),
        (gnomon.UMAP, "classes"),
        (gnomon.UMAP, "numbers"),
        (gnomon.UMAP, "some classes"),
        (gnomon.NegTSNE, None),
    ],
)
def test_sampled_layouts_on_a_cluster_have_the_bytes_of_this_process(client, method, target):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, size=400)
    X = rng.normal(size=(400, 5)) + kinds[:, None]
    y = {"classes": kinds, "numbers": X[:, 0] ** 2, "some classes": np.where(np.arange(400) % 3, kinds, -1)}.get(target)
    make = lambda: method(max_iter=25, random_state=3)  # noqa: E731
    alone = make().fit(X, y)
    with gnomon.running(executor=DaskExecutor(client)):
        shared = make().fit(X, y)
    assert np.array_equal(alone.embedding_, shared.embedding_)
    assert alone.solution_.where == "in this process"
    assert shared.solution_.where == "in 3 parts by DaskExecutor"
    if y is not None:
        assert not np.array_equal(alone.embedding_, make().fit(X).embedding_)


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (gnomon.DensMAP(), "DensityCorrelation is a term of the whole map"),
        (gnomon.ScaleMAP(), "points have units of their own"),
        (gnomon.UMAP(frames=0.5), "FrameCorrelation is a term of the whole map"),
        (gnomon.LargeVis(), "points are drawn with unequal weights"),
        (gnomon.UMAP(n_components=1), "the repulsion grows at first"),
        (gnomon.InfoNCETSNE(), "Adam is not done in parts"),
        (gnomon.PaCMAP(), "Adam is not done in parts"),
        (gnomon.TriMap(), "the sums of TripletLoss are not done in parts"),
    ],
)
def test_methods_that_are_not_done_in_parts_say_so_and_keep_their_bytes(method, why):
    X = points(120, 4)
    method.set_params(max_iter=3, random_state=0)
    alone = method.fit(X).embedding_
    with gnomon.running(executor=LocalExecutor()):
        method.fit(X)
    assert method.solution_.where == f"in this process: {why}"
    assert np.array_equal(method.embedding_, alone)


def anchored(n):
    objective = cross_entropy(n)
    objective.added.join(Anchors(np.zeros((n, 2)), weight=1.0))
    return objective


def masses_of(n, counted):
    return np.random.default_rng(2).integers(1, 5, size=n).astype(np.float64) if counted else None


def divergence(n, *, counted=False, **kwargs):
    matrix = graph(n)
    affinities = Affinities(matrix / matrix.sum(), "total", masses=masses_of(n, counted))
    return KLDivergence(affinities, evaluation="interpolated", **kwargs)


def noiseless(n, *, counted=False, **kwargs):
    """The loss of UMAP, whose points have charges of two kinds."""
    affinities = Affinities(graph(n), "membership", masses=masses_of(n, counted))
    return CrossEntropy(affinities, UMAPKernel.from_min_dist(0.1), evaluation="interpolated", **kwargs)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("annealed", [False, True])
@pytest.mark.parametrize("d", [1, 2])
def test_descents_in_parts_differ_from_the_whole_by_rounding_alone(d, annealed, counted):
    Y0 = points(700, d)
    smooth = partial(GradientDescent.annealed, annealing_iter=3)
    descent = smooth if annealed else GradientDescent
    for objective, rate in (
        (divergence(700, counted=counted), 100.0 if annealed else "auto"),
        (divergence(700, counted=counted, attraction_weight=0.5), 100.0 if annealed else "auto"),
        (noiseless(700, counted=counted), 100.0 if annealed else 0.02),
        (noiseless(700, counted=counted, repulsion_strength=0.5, noise_exponent=0.75), 100.0 if annealed else 0.02),
    ):
        optimizer = descent(learning_rate=rate, max_iter=12, early_exaggeration_iter=7, block=5)
        whole = optimizer.minimize(objective, Y0)
        with gnomon.running(executor=LocalExecutor()):
            parts = optimizer.minimize(objective, Y0)
        assert parts.where == "in 8 parts by LocalExecutor"
        assert np.allclose(parts.embedding, whole.embedding, rtol=0, atol=2e-4)
        assert [at for at, _ in parts.loss] == [at for at, _ in whole.loss]
        assert np.allclose([loss for _, loss in parts.loss], [loss for _, loss in whole.loss], rtol=1e-5)
        assert np.isclose(parts.state.gradient_norm, whole.state.gradient_norm, rtol=1e-3)
        assert np.isclose(parts.state.largest_gradient_norm, whole.state.largest_gradient_norm, rtol=1e-3)


def test_tsne_in_parts_ends_at_as_low_a_divergence(clusters, separation):
    objective = KLDivergence(clusters["total"], evaluation="interpolated")
    optimizer = GradientDescent.annealed(early_exaggeration_iter=40)
    whole = optimizer.minimize(objective, clusters["start"])
    with gnomon.running(executor=LocalExecutor()):
        parts = optimizer.minimize(objective, clusters["start"])
    assert abs(parts.loss[-1][1] - whole.loss[-1][1]) < 0.02 * whole.loss[-1][1]
    assert separation(parts.embedding, clusters["labels"]) > 0.95


@pytest.mark.parametrize("make", [divergence, noiseless])
def test_descents_have_the_same_bytes_for_any_number_of_workers_and_threads(client, make):
    objective, optimizer = make(700), GradientDescent.annealed(max_iter=6, early_exaggeration_iter=2, block=4)
    found = []
    for executor, n_threads in ((LocalExecutor(), 1), (LocalExecutor(), 2), (DaskExecutor(client), 1)):
        with gnomon.running(executor=executor, n_threads=n_threads):
            found.append(optimizer.minimize(objective, points(700)))
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    for n_workers in (1, 2):
        with (
            distributed.LocalCluster(n_workers=n_workers, **settings) as cluster,
            distributed.Client(cluster) as few,
            gnomon.running(executor=DaskExecutor(few)),
        ):
            found.append(optimizer.minimize(objective, points(700)))
    assert all(np.array_equal(one.embedding, found[0].embedding) for one in found)
    assert all(one.loss == found[0].loss for one in found)


@pytest.mark.parametrize("counted", [False, True])
def test_umap_without_samples_is_done_in_parts(client, counted):
    X, weights, made = points(400, 4), masses_of(400, counted), []
    umap = gnomon.UMAP(evaluation="interpolated", max_iter=10, random_state=3)
    for executor, where in ((None, "this process"), (LocalExecutor(), "7 parts by"), (DaskExecutor(client), "7 parts")):
        with gnomon.running(executor=executor):
            made.append(umap.fit(X, sample_weight=weights).embedding_)
        assert umap.solution_.where.startswith(f"in {where}")
    assert np.array_equal(made[1], made[2])
    assert np.allclose(made[0], made[1], rtol=0, atol=1e-3)


def test_an_iteration_without_a_normaliser_takes_a_round_less_and_sends_both_meshes():
    Y, optimizer = points(700), GradientDescent(0.01, max_iter=1)
    for objective, turns, kinds in ((divergence(700), 4, 1), (noiseless(700), 3, 2)):
        with gnomon.running(executor=LocalExecutor()):
            descent = optimizer.in_parts(objective, 2)[0]
            work = descent.parts.rounds.work
            assert len(work.rounds(0, 5)) == 2 + 5 * turns
            descent.step(objective, descent.start(objective, Y.copy()), 1)
        mesh = _core.ParticleMesh(objective.attractions[0].compiled_kernel, objective.repulsions[0].spacing)
        n_bytes = mesh.charges(Y, np.stack([Y.min(0), Y.max(0)]), np.empty(0, np.float32), 1).nbytes
        halo = sum(len(edges.halo) for edges in work._owned)
        assert descent.parts.n_bytes == 9 * kinds * n_bytes + 8 * halo  # charges of eight parts, and the potential


@pytest.mark.parametrize("make", [divergence, noiseless])
def test_a_descent_in_parts_that_leaves_the_finite_numbers_says_so(make):
    with (
        gnomon.running(executor=LocalExecutor()),
        pytest.raises(FloatingPointError, match=r"must stay finite.*learning_rate=1e"),
    ):
        GradientDescent(1e30, max_iter=20, max_step_norm=None).minimize(make(300), points(300))


@pytest.mark.parametrize(
    ("optimizer", "objective", "why"),
    [
        (Adam(max_iter=1), divergence(100), "Adam is not done in parts"),
        (
            GradientDescent(max_iter=1),
            KLDivergence(Affinities(graph(100) / graph(100).sum(), "total"), evaluation="exact"),
            "the repulsion is evaluated as 'exact'",
        ),
        (
            GradientDescent(max_iter=1),
            CrossEntropy(Affinities(graph(100), "membership"), Cauchy(), evaluation="tree"),
            "the repulsion is evaluated as 'tree'",
        ),
        (
            GradientDescent(max_iter=1),
            StatedCrossEntropy(Affinities(graph(100), "membership"), Cauchy()),
            "the sums of StatedCrossEntropy are not done in parts",
        ),
        (
            SampledDescent(max_iter=1),
            anchored(100),
            "Anchors is a term of the whole map",
        ),
        (
            SampledDescent(max_iter=1),
            CrossEntropy(Affinities(graph(100), "membership"), Cauchy(), noise_exponent=0.75),
            "points are drawn with unequal weights",
        ),
    ],
)
def test_what_is_not_done_in_parts_is_said(optimizer, objective, why):
    with gnomon.running(executor=LocalExecutor()):
        where = optimizer.minimize(objective, points(100)).where
    assert where.startswith(f"in this process: {why}")


def _cut(progress):
    if progress.done >= 100:
        raise KeyboardInterrupt


def test_small_maps_are_laid_out_in_this_process(monkeypatch):
    monkeypatch.undo()
    with gnomon.running(executor=LocalExecutor()):
        where = SampledDescent(max_iter=1).minimize(cross_entropy(100), points(100)).where
    assert where == "in this process: messages would take longer below 200,000 points"


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(
    ("optimizer", "objective"),
    [
        (SampledDescent(max_iter=170), cross_entropy(300)),
        (GradientDescent(max_iter=170, early_exaggeration_iter=70), divergence(300)),
        (GradientDescent.annealed(max_iter=170, early_exaggeration_iter=70), noiseless(300)),
    ],
)
def test_a_layout_that_was_cut_goes_on_to_the_same_bytes(tmp_path, optimizer, objective, in_parts):
    executor, Y0 = LocalExecutor() if in_parts else None, points(300)

    def run(callback=None):
        reporter = gnomon._progress.Reporter(callback)
        reporter.begin("layout", 170)
        return optimizer.minimize(objective, Y0, reporter=reporter)

    with gnomon.running(executor=executor):
        once = run()
    with gnomon.running(executor=executor, journal=Journal(tmp_path, {})):
        with pytest.raises(KeyboardInterrupt):
            run(_cut)
        kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("layout-*.npz")}
        assert len(kept) == 2
        seen = []
        again = run(lambda progress: seen.append(progress.done))
        assert {name: (tmp_path / name).stat().st_mtime_ns for name in kept} == kept
    assert next(done for done in seen if done) > 100
    with np.load(tmp_path / min(kept)) as stored:
        assert set(stored.files) == {name for name, value in vars(once.state).items() if value is not None}
    assert np.array_equal(once.embedding, again.embedding)
    assert once.state.best_loss == again.state.best_loss
    assert again.loss[-1] == once.loss[-1] if once.loss else not again.loss


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["umap", "tsne"])
def test_a_worker_killed_in_the_middle_of_a_layout_changes_nothing(stage):
    if stage == "umap":
        objective, optimizer = cross_entropy(20_000), SampledDescent(max_iter=400, block=100)
    else:
        objective, optimizer = divergence(20_000), GradientDescent(max_iter=60, block=30)
    Y0 = points(20_000)
    with gnomon.running(executor=LocalExecutor()):
        alone = optimizer.minimize(objective, Y0)
    settings = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=3, **settings) as cluster, distributed.Client(cluster) as client:
        pids = sorted(client.run(os.getpid).values())
        timer = threading.Timer(1.5, os.kill, [pids[0], signal.SIGKILL])
        timer.start()
        with gnomon.running(executor=DaskExecutor(client)):
            found = optimizer.minimize(objective, Y0)
        assert not timer.is_alive()
        assert pids[0] not in client.run(os.getpid).values()
    assert np.array_equal(alone.embedding, found.embedding)


@pytest.mark.slow
def test_a_worker_killed_in_a_block_of_umap_costs_one_block(monkeypatch):
    rng = np.random.default_rng(0)
    X, done = rng.normal(size=(20_000, 5)) + 4 * rng.integers(0, 5, size=(20_000, 1)), []
    settings = {"threads_per_worker": 1, "dashboard_address": ":0"}
    sampled = {"max_iter": 200, "evaluation": "sampled", "random_state": 0}
    alone = gnomon.UMAP(**sampled).fit(X)

    def run(self, states, first, last):
        done.append((first, last))
        if (first, last) == (100, 110) and done.count((first, last)) == 1:
            threading.Timer(0.05, os.kill, [pids[0], signal.SIGKILL]).start()
        return _run(self, states, first, last)

    _run = ClusterRounds._run
    monkeypatch.setattr(ClusterRounds, "_run", run)
    with distributed.LocalCluster(n_workers=3, **settings) as cluster, distributed.Client(cluster) as client:
        pids = sorted(client.run(os.getpid).values())
        found = gnomon.UMAP(**sampled)
        with gnomon.running(executor=client):
            found.fit(X)
        assert pids[0] not in client.run(os.getpid).values()
    assert np.array_equal(alone.embedding_, found.embedding_)
    assert found.solution_.where == "in 3 parts by DaskExecutor"
    again = [block for block in set(done) if done.count(block) > 1]
    assert len(again) == 1  # the block in which the worker died, or the one after it
    assert all(last - first == 10 for first, last in done)
    assert again[0][0] in (100, 110)
