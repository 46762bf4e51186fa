"""The panel of what the map alone can show: other tables with the same map, and claims that cannot be read from it."""

import numpy as np

import gnomon as gn


def _asked():
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b", "c"], 30)
    X = 40.0 * rng.normal(size=(3, 5)).repeat(30, axis=0) + rng.normal(size=(90, 5))
    made = gn.map(X, "tsne", perplexity=8, labels=kind, label_name="kind", scale=None, n_jobs=1)
    made.blind_spots(n_shifts=0, n_seeds=1)
    made.proves(("wider", "c", "b"), n_seeds=1)
    made.proves(("nearer", "a", "b", "c"), n_seeds=1, n_random=0, budget=2)
    return made


def test_the_page_tells_which_tables_have_the_same_map(open_page, tmp_path):
    asked = _asked()
    asked.to_html(tmp_path / "m.html")
    opened = open_page(tmp_path / "m.html")
    panel = opened.page.locator("#alone")
    panel.locator("> summary").click()
    text = panel.inner_text()
    assert "These two tables have this same map" in text
    assert "Scores and verdicts look at the data. This looks at the map only" in text
    told = panel.locator(".claim h4").all_inner_texts()
    assert [one.startswith("c is wider than b") for one in told] == [True, False]
    assert "cannot be read from it" in told[0]
    assert "no counterexample found" in told[1]
    n_pictures = len(asked._alone.pictures) + sum(one["picture"] is not None for one in asked._alone.claims)
    assert panel.locator("canvas").count() == 4 * n_pictures
    assert opened.problems == []
