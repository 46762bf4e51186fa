"""Measure the page of a map: its bytes, what writing it takes, how soon it opens and what it holds in memory.

python -m benchmarks.page                                     # 70,000 x 784 and 1,000,000 x 50 real numbers
python -m benchmarks.page --shapes 70000x784 --no-browser
GNOMON_DATA=FOLDER python -m benchmarks.page --mnist          # a map of MNIST, with the time that its trust takes

Each shape is measured in a fresh process. The points of a shape are a Gaussian mixture whose positions, explanation,
scores and neighbours are random numbers: no page of so many points compresses worse. Opening needs Chromium and
Playwright, where WebGL runs in software.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

if __package__ in (None, ""):  # started as `python benchmarks/page.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.tables import load_table
from gnomon.viewer import PageContent, write_html

__all__ = ["main", "open_page", "random_content", "weigh"]

_NEIGHBORS = 15
_FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
_WATCH = """window.seen = {}; (() => { const look = () => {
  if (document.getElementById("fallback")?.hidden) seen.map ??= performance.now();
  if (window.gnomon?.ready) seen.complete = performance.now(); else setTimeout(look, 5); }; look(); })()"""
_READY = """() => new Promise((done) => { const look = () => window.gnomon?.ready
  ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(look, 10); look(); })"""


def random_content(n: int, n_features: int, seed: int = 0) -> PageContent:
    """Return what a page can show of n points, all of it random."""
    rng = np.random.default_rng(seed)
    group, centers = rng.integers(0, 20, n), 4 * rng.normal(size=(20, n_features))
    X = np.empty((n, n_features), dtype=np.float32)
    for start in range(0, n, 50_000):
        rows = slice(start, min(n, start + 50_000))
        X[rows] = centers[group[rows]] + rng.normal(size=(rows.stop - start, n_features))
    Y = (8 * rng.normal(size=(20, 2))[group] + rng.normal(size=(n, 2))).astype(np.float32)
    top = np.argsort(rng.random((n, min(n_features, 8))), axis=1)
    arrows = rng.normal(size=(n, top.shape[1], 2)).astype(np.float32)
    factors = rng.normal(size=(n, 2, 2)).astype(np.float32)
    explanation = SimpleNamespace(
        r2=rng.random(n),
        ellipses=factors @ factors.transpose(0, 2, 1),
        global_importance=np.linspace(2, 1, n_features),
        top_features=lambda k: SimpleNamespace(
            indices=top[:, :k], arrows=arrows[:, :k], importance=np.linalg.norm(arrows[:, :k], axis=2)
        ),
        distortion=SimpleNamespace(
            log_area=rng.normal(size=n), anisotropy=1 + rng.lognormal(size=n), tear=rng.random(n) < 0.05
        ),
        jacobians=SimpleNamespace(
            rows=np.arange(n),
            weights=np.ones((n, _NEIGHBORS), dtype=np.float32),
            indices=(np.arange(n)[:, None] + rng.integers(1, n - 1, (n, _NEIGHBORS))) % n,
            coefficients=rng.normal(size=(n, _NEIGHBORS, 2)).astype(np.float32),
            mask=np.ones(n, dtype=bool),
            pooling=1,
        ),
        graph=SimpleNamespace(distances=np.sort(rng.random((n, _NEIGHBORS)).astype(np.float32), axis=1)),
        scale=None,
    )
    counts = {name: rng.integers(0, 16, n).astype(float) for name in ("false_neighbors", "missing_neighbors")}
    smooth = ("trustworthiness", "continuity", "triplet_accuracy", "radius_ratio", "outlier", "local_dimension")
    return PageContent(
        embedding=Y,
        title=f"{n:,} x {n_features}",
        labels=np.array([f"class {k}" for k in range(20)])[group],
        X=X,
        explanation=explanation,
        evaluation=SimpleNamespace(trustworthiness=0.95, continuity=0.95, shepard=0.6, per_point={}),
        points=counts | {name: rng.lognormal(size=n) for name in smooth},
    )


def weigh(content: Any, path: Path) -> dict[str, float]:
    """Write a page with its side file in this process and return bytes, seconds and memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    write_html(path, content, side_file=True)
    return {
        "MB": path.stat().st_size / 1e6,
        "side MB": path.with_suffix(".data").stat().st_size / 1e6,
        "write CPU s": time.process_time() - cpu,
        "write wall s": time.perf_counter() - wall,
        "added peak MB": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 1e6,
    }


def open_page(path: Path) -> dict[str, float]:
    """Open a page in Chromium and return seconds until the map is there and until all is, and megabytes held then."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=chromium, headless=True, args=_FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 850})
        page.add_init_script(_WATCH)
        page.goto(path.resolve().as_uri(), wait_until="commit", timeout=120_000)
        page.evaluate(_READY)
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        heap, seen = session.send("Runtime.getHeapUsage"), page.evaluate("window.seen")
        browser.close()
    arrays = heap.get("backingStorageSize", 0)
    return {
        "map after s": seen["map"] / 1000,
        "complete after s": seen["complete"] / 1000,
        "objects MB": heap["usedSize"] / 1e6,
        "arrays MB": arrays / 1e6,
    }


def _trust_of_mnist(rows: int | None) -> tuple[Any, dict[str, float]]:
    """Return a map of MNIST with its trust in every point, and the CPU seconds of both."""
    X, labels = load_table("mnist", rows)
    spent = {}
    start = time.process_time()
    made = gnomon.map(X.astype(np.uint8), labels=labels, image_shape=(28, 28), random_state=0)
    spent["map CPU s"], start = time.process_time() - start, time.process_time()
    made.explain()
    made.evaluate()
    spent["explain, evaluate CPU s"], start = time.process_time() - start, time.process_time()
    scores = made.point_scores()
    spent["trust of every point CPU s"] = time.process_time() - start
    spent["missing scores %"] = 100 * max(float(np.isnan(values).mean()) for values in scores.values())
    return made, spent


def _measure(job: str, rows: int | None, *, browser: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "map.html")
        if job == "mnist":
            content, found = _trust_of_mnist(rows)
        else:
            content, found = random_content(*map(int, job.split("x"))), {}
        found |= weigh(content, path)
        return found | (open_page(path) if browser else {})


def main(arguments: list[str] | None = None) -> None:
    """Measure each page in a process of its own and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="*", default=["70000x784", "1000000x50"], help="rows x columns")
    parser.add_argument("--mnist", action="store_true", help="a map of MNIST instead of random numbers")
    parser.add_argument("--rows", type=int, help="of MNIST; all by default")
    parser.add_argument("--no-browser", action="store_true", help="do not open the pages")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(_measure(given.one, given.rows, browser=not given.no_browser)))
        return
    options = [*(["--rows", str(given.rows)] if given.rows else []), *(["--no-browser"] if given.no_browser else [])]
    told = {}
    for job in ["mnist"] if given.mnist else given.shapes:
        command = [sys.executable, "-m", "benchmarks.page", "--one", job, *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
        told[job] = json.loads(done.stdout.splitlines()[-1])
        print(job, *(f"{name} {value:.4g}" for name, value in told[job].items()), sep="\n  ", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
