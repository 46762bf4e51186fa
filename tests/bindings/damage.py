"""Calls bindings with damaged arguments: python -m tests.bindings.damage N_MUTANTS NAME...

Prints for each binding how many calls returned and how many were refused. What the process was about to do stands in
the last line of its output, so that a crash can be told.
"""

import faulthandler
import sys
from collections import Counter
from typing import Any

import numpy as np
from tests.bindings.cases import cases

# Numbers that say how long a computation lasts: large ones are valid, and would last.
_DURATIONS = {"rounds", "max_iter", "max_products", "end", "n_starts", "n_chunks", "n_draws", "n_threads"}
# Numbers that say how large a result is.
_SIZES = {"n_rows", "n_columns", "n_triplets", "n", "n_features", "table", "new"}
_REFUSALS = (ValueError, TypeError, MemoryError, OverflowError)
_WILD = [-(10**6), -1, 0, 1, 2, 2**30, 2**31 - 1]
_NUMBERS = [np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 0.0, -1.0, 3.7]
_LONG = 2**12  # entries that a mutant may ask for along one side of a result


def damaged_array(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a changed copy: entries, shape, type or order."""
    a = a.copy()
    kind = rng.integers(8)
    if kind == 0 and a.ndim:
        a = np.delete(a, rng.integers(a.shape[0]), axis=0) if a.shape[0] else a
    elif kind == 1 and a.ndim == 2:
        a = np.ascontiguousarray(a[:, : rng.integers(a.shape[1] + 1)])
    elif kind == 2:
        a = np.concatenate([a, a[:1]]) if a.ndim else a
    elif kind == 3:
        a = a[: rng.integers(a.shape[0] + 1)] if a.ndim else a
    elif kind == 4 and rng.random() < 0.3:
        a = a.astype(rng.choice([np.float64, np.float32, np.int32, np.int64, np.uint8]))
    elif kind == 5 and a.ndim == 2:
        a = a.T if rng.random() < 0.5 else np.ascontiguousarray(a.T)
    elif a.size:
        places = rng.integers(a.size, size=rng.integers(1, 4))
        values = _NUMBERS if a.dtype.kind == "f" else [*_WILD, a.size, *(int(x) for x in a.ravel()[:3])]
        with np.errstate(all="ignore"):
            a.reshape(-1)[places] = np.array(rng.choice(values)).astype(a.dtype)
    return a


def damaged(name: str, value: Any, rng: np.random.Generator) -> Any:
    """Return a changed value of the same kind, or of another now and then."""
    if isinstance(value, np.ndarray):
        return damaged_array(value, rng)
    if isinstance(value, tuple):
        place = int(rng.integers(len(value)))
        return (*value[:place], damaged(name, value[place], rng), *value[place + 1 :])
    if rng.random() < 0.05:
        return rng.choice([None, "x", 1.5])
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return str(
            rng.choice(["", "log", "value", "square", "log_deficit", "sum", "contrast", "umap", "linear", value])
        )
    if name in _DURATIONS:
        return type(value)(rng.integers(-1, 6))
    if name == "seconds":
        return float(rng.choice([-1.0, np.nan, 0.0, 0.01]))
    if isinstance(value, float):
        return float(rng.choice(_NUMBERS))
    if name in _SIZES:
        return int(rng.choice([-1, 0, 1, int(rng.integers(_LONG)), 2**62]))
    return int(rng.choice([*_WILD, 2**62]))


def main() -> None:
    """Damage one to three arguments of each named call, again and again."""
    faulthandler.enable()
    n_mutants, names = int(sys.argv[1]), sys.argv[2:]
    examples = dict(cases())
    for name in names:
        call, counts = examples[name], Counter[str]()
        for number in range(n_mutants):
            rng = np.random.default_rng([number, len(name)])
            print(f"\r{name} {number}", end="", flush=True)
            chosen = set(rng.choice(list(call.arguments), size=rng.integers(1, 4)))
            # Kernels write to some arguments: each call gets arrays of its own.
            fresh = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in call.arguments.items()}
            given = {k: damaged(k, v, rng) if k in chosen else v for k, v in fresh.items()}
            try:
                with np.errstate(all="ignore"):
                    call.function(**given)
                counts["returned"] += 1
            except _REFUSALS as error:
                counts[type(error).__name__] += 1
        print(f"\r{name}: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
