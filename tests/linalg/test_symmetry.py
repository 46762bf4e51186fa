"""One rule says of all matrices of pairs whether they are the same in both directions."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Gram
from gnomon.kernels import Cauchy
from gnomon.linalg import check_symmetric
from gnomon.objectives import Frobenius
from gnomon.objectives.terms import TargetPairs

A = np.random.default_rng(0).random((700, 700))  # more rows than are looked at together
A = A + A.T
FORMS = [np.asarray, sp.csr_array, sp.coo_array, sp.csc_array]
TOLERANCES = {
    "of entries": (1e-4, 0.0),
    "of both": (1e-4, 1e-6),
    "of the largest": (0.0, 1e-10),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(("of_entry", "of_largest"), TOLERANCES.values(), ids=TOLERANCES)
def test_what_is_beyond_both_tolerances_is_named_and_what_is_within_is_not(form, scale, of_entry, of_largest):
    for value in (1.0, 1e-4):  # of the entry that differs
        allowed = max(of_entry * value, of_largest * float(A.max()))
        for share in (0.9, 1.2):
            B = A.copy()
            B[650, 20], B[20, 650] = value, value - share * allowed
            matrix = form(B * scale)
            if share < 1.0 or (of_largest == 0.0 and form is not np.asarray):  # products see no such small difference
                check_symmetric(matrix, "W", of_entry=of_entry, of_largest=of_largest)
                continue
            with pytest.raises(
                ValueError, match=r"W must be symmetric \(.* at row 650, column 20 and .* at row 20, co"
            ):
                check_symmetric(matrix, "W", of_entry=of_entry, of_largest=of_largest)


def test_numbers_that_are_not_finite_are_not_looked_at():
    B = A.copy()
    B[3, 4], B[5, 6], B[6, 5] = np.nan, np.inf, np.inf
    for form in FORMS:
        check_symmetric(form(B), "W")
    check_symmetric(np.empty((0, 0)), "W", of_largest=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_targets_weights_and_similarities_are_refused_alike(scale):
    B = scale * A[:40, :40]
    B[3, 7] *= 1.5
    form = r"must be symmetric \(.* at row 3, column 7 and .* at row 7, column 3\)\. Pass \(A \+ A\.T\) / 2"
    for what, make in (
        ("target", lambda: TargetPairs(B, Cauchy())),
        ("target", lambda: Frobenius(B, Cauchy())),
        ("weights", lambda: TargetPairs(A[:40, :40], Cauchy(), weights=B)),
        ("the similarity", lambda: Gram.from_matrix(B)),
    ):
        with pytest.raises(ValueError, match=f"{what} {form}"):
            make()
