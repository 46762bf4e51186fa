"""The judge of supervised maps on groups whose answer is known."""

import numpy as np
from benchmarks.supervised import judge

import gnomon


def test_the_judge_tells_what_was_told_from_what_is_true():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 4)) + 20.0 * y[:, None]

    def make(seed):
        return gnomon.UMAP(n_neighbors=10, max_iter=100, random_state=seed, n_jobs=1)

    told, shuffled = (judge(make, "place", X, y, supervision=one, seed=0) for one in ("classes", "shuffled"))
    assert told["held out"] == told["told"] == 1.0
    assert (told["warned"], shuffled["warned"]) == (0.0, 1.0)
    assert shuffled["held out"] > 0.8
