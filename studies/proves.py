"""Which claims can be read from a map? Two hundred, half of them false of the data, asked of twenty maps.

A claim is unreadable where another table has the same map and the opposite is true of it. Each such table is mapped
again here, by a new copy of the method, and compared by SciPy's Procrustes analysis instead of gnomon's; the claim is
asked of it again. A claim false of the data is refuted by the data itself, whatever its map shows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.spatial
import sklearn.datasets

from gnomon import PCA, TSNE, UMAP, proves, running
from gnomon._threads import resolve_n_threads
from gnomon.twins import Apart, Claim, Denser, Empty, Near, Nearer, Proof, Twin, Wider
from studies.output import parse, parser, write_json
from studies.rates import told_share

__all__ = ["main"]

Points = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]
_EACH = 5  # claims of a table that are true of it, and false
_TABLES = 20


def _table(number: int, seed: int) -> tuple[str, Points, Groups]:
    """Return a table: three real ones, then four groups of random size, width and place."""
    rng = np.random.default_rng([seed, number])
    if number < 3:
        name = ("iris", "wine", "digits")[number]
        data = getattr(sklearn.datasets, f"load_{name}")()
        few = data.target < 4
        X, groups = data.data[few].astype(np.float64), data.target[few].astype(np.int64)
        if name != "digits":
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        X, first = np.unique(X, axis=0, return_index=True)
        chosen = np.sort(rng.choice(len(X), min(150, len(X)), replace=False))
        return name, X[chosen], groups[first][chosen]
    groups = np.repeat(np.arange(4), rng.integers(20, 40, size=4))
    centres = rng.choice([3.0, 6.0, 12.0]) * rng.normal(size=(4, 5))
    widths = rng.uniform(0.5, 2.0, size=4)
    return "groups", centres[groups] + widths[groups, None] * rng.normal(size=(len(groups), 5)), groups


def _method(number: int) -> tuple[str, Any]:
    """Return the methods in turn, with starts that know the table and starts that do not."""
    made = (
        ("t-SNE", TSNE(perplexity=8, random_state=0)),
        ("UMAP", UMAP(n_neighbors=10, random_state=0)),
        ("PCA", PCA()),
        ("t-SNE, random start", TSNE(perplexity=8, init="random", random_state=0)),
        ("UMAP, random start", UMAP(n_neighbors=10, init="random", random_state=0)),
    )
    return made[number % len(made)]


def _claims(X: Points, groups: Groups, rng: np.random.Generator) -> list[Claim]:
    """Return as many claims that are true of a table as are false, of all kinds while they last."""
    names = range(int(groups.max()) + 1)
    pairs, triples = list(permutations(names, 2)), list(permutations(names, 3))
    rows = [tuple(map(int, rng.choice(len(X), 2, replace=False))) for _ in range(20)]
    near = [(x, int(np.argsort(np.linalg.norm(X - X[x], axis=1))[rng.integers(1, 30)])) for x, _ in rows]
    about = {Apart: pairs, Empty: pairs, Nearer: triples, Denser: pairs, Wider: pairs, Near: near}
    kept: list[Claim] = []
    for truth in (True, False):
        by_kind = [
            [one for one in (kind(*of) for of in rng.permutation(those).tolist()) if one.holds(X, groups) == truth]
            for kind, those in about.items()
        ]
        first = [those[place] for place in range(_EACH) for those in by_kind if place < len(those)]
        head = rng.permutation(min(len(about), len(first)))
        order = [*head.tolist(), *range(len(head), len(first))]
        kept += [first[k] for k in order[:_EACH]]
    return kept


def _same_again(method: Any, X: Points, proof: Proof, twin: Twin) -> float:
    """Return SciPy's disparity of new maps of two tables."""
    made = [(X, proof.parameters), (twin.table, twin.parameters)]
    maps = [type(method)(**{**method.get_params(), **own}).fit_transform(Z) for Z, own in made]
    return float(scipy.spatial.procrustes(*(np.asarray(Y, dtype=np.float64) for Y in maps))[2])


def _asked(number: int, options: Any) -> list[dict[str, Any]]:
    """Return the answers about all claims of a table."""
    name, X, groups = _table(number, options.seed)
    told, method = _method(number)
    answers = []
    for claim in _claims(X, groups, np.random.default_rng([options.seed, number, 1])):
        proof = proves(method, X, claim, labels=groups, random_state=options.seed, n_jobs=options.jobs)
        answer: dict[str, Any] = {
            "table": name,
            "method": told,
            "kind": type(claim).__name__.lower(),
            "claim": proof.claim,
            "holds": proof.holds,
            "refuted": proof.refuted,
            "unreadable": proof.unreadable,
            "tried": len(proof.tried),
            "threshold": proof.threshold,
            "same_seeds": proof.same_seeds,
            "same_random": proof.same_random,
        }
        if proof.twin is not None:
            answer["change"] = proof.twin.told
            answer["disparity_again"] = _same_again(method, X, proof, proof.twin)
            answer["confirmed"] = (
                answer["disparity_again"] <= proof.threshold and claim.holds(proof.twin.table, groups) != proof.holds
            )
        answers.append(answer)
    return answers


def _summary(answers: list[dict[str, Any]]) -> str:
    """Return the counts in Markdown, by method and by kind."""
    lines = ["| of | true: unreadable | false: unreadable | false: refuted | confirmed | random changes that pass |"]
    lines.append("|---|---|---|---|---|---|")
    heads = [("all", answers)]
    for key in ("method", "kind"):
        heads += [(one, [a for a in answers if a[key] == one]) for one in dict.fromkeys(a[key] for a in answers)]
    for head, those in heads:
        true, false = ([a for a in those if a["holds"] == truth] for truth in (True, False))
        cells = [told_share(sum(a["unreadable"] for a in some), len(some)) for some in (true, false)]
        cells.append(f"{sum(a['refuted'] for a in false)} of {len(false)}")
        twins = [a for a in those if a["unreadable"]]
        cells.append(f"{sum(a['confirmed'] for a in twins)} of {len(twins)}")
        random = [a["same_random"] for a in those if np.isfinite(a["same_random"])]
        cells.append(f"{100.0 * np.mean(random):.0f} %" if random else "-")
        lines.append(f"| {head} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    made = parser("proves", __doc__ or "")
    made.add_argument("--tables", type=int, default=_TABLES)
    options = parse(made, arguments)
    answers: list[dict[str, Any]] = []
    begin = time.process_time()
    with running(n_threads=resolve_n_threads(options.jobs)):
        for number in range(options.tables):
            answers += _asked(number, options)
            write_json(options.out, "proves", {"cpu_seconds": time.process_time() - begin, "answers": answers})
    print(_summary(answers))
    print(f"{len(answers)} claims, {sum(not a['holds'] for a in answers)} of them false of the data")
    none = [a for a in answers if not a["tried"]]
    print(f"{len(none)} of which no change that is tried turns them: " + "; ".join(a["claim"] for a in none[:5]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
