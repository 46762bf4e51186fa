"""Every estimator keeps the promises that scikit-learn states for its own, with no exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gnomon import PCA, TSNE, UMAP, TwoKernelLLE


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@parametrize_with_checks(
    [
        PCA(n_components=1),
        TSNE(perplexity=2, max_iter=100, early_exaggeration_iter=50, n_jobs=1),
        TwoKernelLLE(n_neighbors=5, max_iter=100, early_exaggeration_iter=50, n_jobs=1),
        UMAP(n_neighbors=5, max_iter=50, n_jobs=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
