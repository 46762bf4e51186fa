"""Programs that were written for another library run with another import, and do what they did."""

import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import load_digits

import gnomon as gn

X, labels = load_digits(return_X_y=True)
X, labels = X[:500].astype(np.float32), labels[:500]

UMAP_LEARN = """
    from sklearn.model_selection import GridSearchCV, train_test_split
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler
    from umap import UMAP

    train, test, y_train, y_test = train_test_split(X, labels, stratify=labels, random_state=42)
    pipeline = Pipeline([
        ("scale", MinMaxScaler()),
        ("umap", UMAP(n_neighbors=10, n_components=2, min_dist=0.1, metric="euclidean", random_state=456)),
        ("classify", KNeighborsClassifier()),
    ])
    search = GridSearchCV(pipeline, {"umap__n_neighbors": [5, 15]}, cv=2).fit(train, y_train)
    score = search.score(test, y_test)

    reducer = UMAP(a=1.58, b=0.9, learning_rate=1.0, init="random", verbose=True, random_state=0, n_jobs=1)
    embedding = reducer.fit_transform(train)
    assert embedding.shape == (len(train), 2)
    assert (reducer.embedding_ == embedding).all()
    assert reducer.transform(test).shape == (len(test), 2)
    assert reducer.inverse_transform(embedding[:3]).shape == (3, train.shape[1])
    assert list(reducer.get_feature_names_out()) == ["umap0", "umap1"]
"""

SCIKIT_LEARN = """
    import pandas as pd
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    tsne = TSNE(
        n_components=2, perplexity=20.0, early_exaggeration=12.0, learning_rate="auto", max_iter=500,
        n_iter_without_progress=150, min_grad_norm=1e-7, metric="euclidean", init="pca", verbose=1,
        random_state=0, n_jobs=1,
    )
    pipeline = make_pipeline(StandardScaler(), PCA(30, random_state=0), tsne)
    embedding = pipeline.fit_transform(X)
    assert embedding.shape == (len(X), 2)
    assert 0.0 < tsne.kl_divergence_ < 2.0
    assert tsne.n_iter_ <= 500
    assert tsne.learning_rate_ == 500.0
    assert tsne.n_features_in_ == 30

    frame = pd.DataFrame(X[:100], columns=[f"pixel {i}" for i in range(X.shape[1])])
    places = TSNE(perplexity=10, max_iter=250, init="random", random_state=0).set_output(transform="pandas")
    assert list(places.fit_transform(frame).columns) == ["tsne0", "tsne1"]

    from sklearn.neighbors import KNeighborsClassifier
    score = KNeighborsClassifier().fit(embedding[::2], labels[::2]).score(embedding[1::2], labels[1::2])
"""

OPENTSNE = """
    from openTSNE import TSNE
    from sklearn.model_selection import train_test_split

    train, test, y_train, y_test = train_test_split(X, labels, test_size=0.3, random_state=42)
    tsne = TSNE(
        perplexity=30, early_exaggeration=12, early_exaggeration_iter=250, exaggeration=1.5, dof=1.0,
        metric="euclidean", max_step_norm=5, n_jobs=1, random_state=42, verbose=True,
    )
    embedding_train = tsne.fit(train)
    embedding_test = embedding_train.transform(test)
    assert embedding_test.shape == (len(test), 2)

    from sklearn.neighbors import KNeighborsClassifier
    score = KNeighborsClassifier().fit(embedding_train.transform(train), y_train).score(embedding_test, y_test)
"""


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize(
    ("program", "library", "name", "wanted"),
    [
        (UMAP_LEARN, "umap", "UMAP", 0.85),
        (SCIKIT_LEARN, "sklearn.manifold", "TSNE", 0.85),
        (OPENTSNE, "openTSNE", "TSNE", 0.85),
    ],
    ids=["umap-learn", "scikit-learn", "openTSNE"],
)
def test_a_program_runs_with_its_import_changed(program, library, name, wanted, capsys):
    line = f"from {library} import {name}"
    assert line in program
    scope = {"X": X, "labels": labels}
    exec(textwrap.dedent(program).replace(line, f"from gnomon import {name}"), scope)
    assert scope["score"] > wanted
    assert f"{name}: layout" in capsys.readouterr().err
    assert name in gn.__all__
    assert library == "sklearn.manifold" or library not in sys.modules
