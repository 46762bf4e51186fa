"""Least squares over all similarities: known motions are found, nothing does better, missing rows are no trouble."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import minimize
from scipy.spatial import procrustes as scipy_procrustes

from gnomon.linalg import align, mean_shape, procrustes, procrustes_error


def turn(degrees, *, mirrored=False):
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    R = np.array([[c, s], [-s, c]])
    return R @ np.diag([1.0, -1.0]) if mirrored else R


@pytest.fixture(name="A")
def some_points():
    return np.random.default_rng(0).normal(size=(60, 2)) * [2.0, 0.7] + [5.0, -3.0]


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_known_motion_is_found(A, mirrored):
    R, shift = turn(77, mirrored=mirrored), np.array([4.0, -11.0])
    found = procrustes(A, 2.5 * A @ R + shift)
    np.testing.assert_allclose(found.rotation, R, atol=1e-12)
    np.testing.assert_allclose(found.scale, 2.5)
    np.testing.assert_allclose(found.translation, shift, atol=1e-12)
    assert found.disparity < 1e-24
    np.testing.assert_allclose(found.apply(A), 2.5 * A @ R + shift)


def test_disparity_and_rotation_agree_with_scipy(A):
    B = np.random.default_rng(1).normal(size=A.shape) + A @ turn(30)
    found = procrustes(A, B)
    *_, disparity = scipy_procrustes(B, A)
    np.testing.assert_allclose(found.disparity, disparity)
    R, _ = orthogonal_procrustes(A - A.mean(axis=0), B - B.mean(axis=0))
    np.testing.assert_allclose(found.rotation, R)


@pytest.mark.parametrize("scaling", [True, False])
def test_no_other_similarity_comes_closer(A, scaling):
    B = np.random.default_rng(2).normal(size=A.shape) + 0.5 * A @ turn(200)

    def loss(p):
        return ((np.exp(p[1] * scaling) * A @ turn(p[0]) + p[2:] - B) ** 2).sum()

    best = min(minimize(loss, [degrees, 0, 0, 0]).fun for degrees in (0, 120, 240))
    found = procrustes(A, B, scaling=scaling)
    np.testing.assert_allclose(((found.apply(A) - B) ** 2).sum(), best, rtol=1e-6)
    assert scaling or found.scale == 1.0


def test_missing_rows_take_no_part(A):
    B = A @ turn(40)
    expected = procrustes(A[5:50], B[5:50])
    A[:5], B[50:, 1] = np.nan, np.inf
    found = procrustes(A, B)
    np.testing.assert_array_equal(found.rotation, expected.rotation)
    np.testing.assert_array_equal(found.translation, expected.translation)
    assert np.isnan(found.apply(A)[:5]).all()


def test_without_spread_nothing_turns():
    nothing = procrustes(np.full((4, 2), np.nan), np.zeros((4, 2)))
    np.testing.assert_array_equal(nothing.rotation, np.eye(2))
    assert np.isnan(nothing.disparity)
    one_place = procrustes(np.ones((4, 3)), np.random.default_rng(0).normal(size=(4, 3)))
    np.testing.assert_array_equal(one_place.rotation, np.eye(3))
    assert one_place.scale == 1.0
    assert one_place.disparity == 1.0


def test_a_chain_of_motions_is_undone(A):
    wild = [A, 3 * A @ turn(100) + 7, 0.1 * A @ turn(250, mirrored=True), A @ turn(10) - 90]
    for reference in (0, 2, -1):
        aligned = align(wild, reference=reference)
        np.testing.assert_array_equal(aligned[reference], wild[reference])
        for one in aligned:
            np.testing.assert_allclose(one, wild[reference], atol=1e-10)


def test_each_is_turned_towards_the_one_before(A):
    rng = np.random.default_rng(3)
    steps = [A, A + rng.normal(size=A.shape), rng.normal(size=A.shape)]
    aligned = align([s @ turn(90 * k) for k, s in enumerate(steps)])
    for before, after in pairwise(aligned):
        np.testing.assert_allclose(procrustes(after, before).rotation, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(after.var(axis=0).sum(), A.var(axis=0).sum())  # a common spread, not the best fit
        np.testing.assert_allclose(after.mean(axis=0), before.mean(axis=0))
    loose = align([A, 9 * steps[1]], scaling=False)
    np.testing.assert_allclose(loose[1].var(axis=0).sum(), 81 * steps[1].var(axis=0).sum())


def test_alignment_keeps_missing_rows_and_single_precision(A):
    B = (A @ turn(20)).astype(np.float32)
    B[3] = np.nan
    aligned = align([A, B])
    assert aligned[1].dtype == np.float32
    np.testing.assert_array_equal(np.isnan(aligned[1]).any(axis=1), np.arange(60) == 3)
    np.testing.assert_array_equal(aligned[1], align([A, B])[1])
    degenerate = align([A, np.zeros_like(A), np.full_like(A, np.nan), A])
    np.testing.assert_allclose(degenerate[1], np.tile(A.mean(axis=0), (60, 1)))
    assert np.isfinite(degenerate[3]).all()


def test_wrong_shapes_are_refused(A):
    with pytest.raises(ValueError, match="of the shape of B"):
        procrustes(A, A[1:])
    with pytest.raises(ValueError, match="one or more of the same shape"):
        align([A, A[1:]])
    with pytest.raises(ValueError, match="none must be one or more"):
        align([])
    with pytest.raises(ValueError, match="reference=2 must be"):
        align([A, A], reference=2)


def test_procrustes_error_is_blind_to_movements_and_not_to_size():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(40, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    assert procrustes_error(reference @ turn + 5.0, reference) < 1e-14
    assert procrustes_error(1.5 * reference @ turn, reference) == pytest.approx(0.5)
    assert procrustes_error(np.ones((4, 2)), np.zeros((4, 2))) == 0.0
    assert procrustes_error(np.eye(3), np.zeros((3, 3))) == np.inf


def test_procrustes_error_is_the_least_over_all_turns():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    a, b = a - a.mean(0), b - b.mean(0)
    angles = np.linspace(0, 2 * np.pi, 2001)
    turns = [np.array([[np.cos(t), -np.sin(t)], [f * np.sin(t), f * np.cos(t)]]) for t in angles for f in (1, -1)]
    least = min(np.linalg.norm(a @ turn - b) for turn in turns) / np.linalg.norm(b)
    assert procrustes_error(a, b) == pytest.approx(least, rel=1e-5)


class TestMeanShape:
    def test_copies_fall_on_the_reference(self, A):
        copies = [A @ turn(40) + 3.0, 5.0 * A @ turn(170, mirrored=True)]
        found = mean_shape(copies, reference=A)
        np.testing.assert_allclose(found.aligned, [A, A], atol=1e-10)
        np.testing.assert_allclose(found.mean, A, atol=1e-10)
        np.testing.assert_allclose(found.scales, [1.0, 0.2])

    def test_no_rotation_of_one_embedding_comes_closer_to_the_others(self, A):
        rng = np.random.default_rng(3)
        given = [A @ turn(degrees) + 3.0 * rng.normal(size=A.shape) for degrees in (0, 80, 200)]
        found = mean_shape(given, scaling=False)

        def loss(aligned):
            return ((aligned - aligned.mean(axis=0)) ** 2).sum()

        best = loss(found.aligned)
        for k in range(3):
            for degrees in (-0.05, 0.05):
                moved = found.aligned.copy()
                center = moved[k].mean(axis=0)
                moved[k] = (moved[k] - center) @ turn(degrees) + center
                assert loss(moved) > best

    def test_it_does_not_depend_on_the_order_of_embeddings(self, A):
        rng = np.random.default_rng(4)
        given = [A + 0.5 * rng.normal(size=A.shape) for _ in range(4)]
        np.testing.assert_allclose(
            mean_shape(given, reference=A).mean, mean_shape(given[::-1], reference=A).mean, atol=1e-8
        )

    def test_missing_points_are_averaged_over_those_that_hold_them(self, A):
        given = [A.copy(), A @ turn(30), A + 1.0]
        given[0][5], given[1][5], given[2][5] = np.nan, np.nan, np.nan
        given[0][8] = np.nan
        found = mean_shape(given, reference=A, scaling=False)
        assert np.isnan(found.mean[5]).all()
        np.testing.assert_allclose(found.mean[8], A[8], atol=1e-9)

    def test_other_shapes_are_refused(self, A):
        with pytest.raises(
            ValueError, match=r"mean_shape: reference of shape \(2, 2\) must be of the shape of embeddings"
        ):
            mean_shape([A, A], reference=A[:2])
        with pytest.raises(ValueError, match="mean_shape: embeddings of shapes none"):
            mean_shape([])
