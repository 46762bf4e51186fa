"""Tables as people have them, each mapped by one command, against maps of the same tables cleaned and standardised.

python -m benchmarks.front_door --data wine iris penguins --spellings european everything --json out.json
GNOMON_DATA=FOLDER python -m benchmarks.front_door --around mnist --rows 20000   # what is around the fit
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import gnomon
from benchmarks.machine import describe_machine
from benchmarks.measure import run_child
from benchmarks.missing import hide_values
from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon.exceptions import GnomonWarning

__all__ = ["DATA", "SPELLINGS", "load", "main", "measure_around", "neighbor_accuracy"]

_N_NEIGHBORS = 15
_SHARE_MISSING = 0.05
_ALLOWED = 0.01
_LABEL = "kind of row"


def _of_scikit_learn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return found.data.assign(**{_LABEL: np.array([f"class {k}" for k in found.target])})


def _inside(package: str, path: str) -> Path:
    """Return a file of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{package} is not installed")
    return Path(spec.origin).parent / path


def _penguins() -> pd.DataFrame:
    table = pd.read_csv(_inside("palmerpenguins", "data/penguins.csv"))
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    return table[[*columns, "species"]].rename(columns={"species": _LABEL})


def _cars() -> pd.DataFrame:
    table = pd.read_json(_inside("vega_datasets", "_data/cars.json"))
    return table.drop(columns=["Name", "Year"]).rename(columns={"Origin": _LABEL})


def _continents() -> pd.DataFrame:
    table = pd.read_csv(_inside("plotly", "package_data/datasets/gapminder.csv.gz"))
    return table[["lifeExp", "pop", "gdpPercap", "year", "continent"]].rename(columns={"continent": _LABEL})


DATA: dict[str, Callable[[], pd.DataFrame]] = {
    "wine": lambda: _of_scikit_learn("wine"),
    "iris": lambda: _of_scikit_learn("iris"),
    "breast_cancer": lambda: _of_scikit_learn("breast_cancer"),
    "digits": lambda: _of_scikit_learn("digits"),
    "penguins": _penguins,
    "cars": _cars,
    "continents": _continents,
}


def load(name: str) -> pd.DataFrame:
    """Return complete rows of numbers, and their labels in the last column."""
    table = DATA[name]().dropna().reset_index(drop=True)
    return table.rename(columns=lambda text: text.replace(",", " "))


def _numbers(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns=_LABEL)


def _widest(table: pd.DataFrame) -> str:
    return str(_numbers(table).std(numeric_only=True).idxmax())


def _with_identifiers(table: pd.DataFrame) -> pd.DataFrame:
    order = np.random.default_rng(0).permutation(len(table))
    table.insert(0, "record id", 100_000 + 7 * order)
    table.insert(1, "number", np.arange(1, len(table) + 1))
    table.insert(2, "name", [f"sample {i:05}" for i in order])
    return table


def _with_dates(table: pd.DataFrame) -> pd.DataFrame:
    """Write the most spread column as days since 2015."""
    name = _widest(table)
    values = table[name].to_numpy(dtype=float)
    days = np.round(2000.0 * (values - values.min()) / np.ptp(values)).astype("timedelta64[D]")
    return table.assign(**{name: np.datetime_as_string(np.datetime64("2015-01-01") + days)})


def _with_levels(table: pd.DataFrame) -> pd.DataFrame:
    """Add the third and the half of the rows, by the most spread column, in which a row lies."""
    values = table[_widest(table)]
    low, middle, high = np.quantile(values, [1 / 3, 0.5, 2 / 3])
    return table.assign(size=1.0 * (values > low) + (values > high), large=1.0 * (values > middle))


def _with_categories(table: pd.DataFrame) -> pd.DataFrame:
    """Add the levels as words."""
    levels = _with_levels(table)
    words = np.array(["low", "medium", "high"])[levels["size"].astype(int)]
    return levels.assign(size=words, large=np.where(levels["large"] > 0, "yes", "no"))


def _with_gaps(table: pd.DataFrame) -> pd.DataFrame:
    columns = [name for name in table.columns if name != _LABEL]
    hidden = hide_values((len(table), len(columns)), _SHARE_MISSING, "random", 0)
    kept = table[columns].mask(pd.DataFrame(hidden, columns=columns, index=table.index))
    return kept.assign(**{_LABEL: table[_LABEL]})


def _with_groups(table: pd.DataFrame) -> pd.DataFrame:
    """Write the numbers with their thousands apart, and one as a price."""
    written = {name: table[name].map("{:,.3f}".format) for name in _numbers(table).columns}
    first = next(iter(written))
    written[first] = table[first].map("${:,.4f}".format)
    return table.assign(**written)


def _write(table: pd.DataFrame, path: Path, **options: Any) -> None:
    table.to_csv(path, **{"index": False, **options})


def _write_european(table: pd.DataFrame, path: Path) -> None:
    _write(table, path, sep=";", decimal=",")


def _write_spreadsheet(table: pd.DataFrame, path: Path) -> None:
    """Write as spreadsheets do: Windows-1252, semicolons, decimal commas, at the end an empty column and empty rows."""
    table = table.rename(columns={_widest(table): "größe"})
    text = table.assign(**{"": None}).to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")
    path.write_bytes((text + (";" * len(table.columns) + "\r\n") * 3 + "\r\n").encode("cp1252"))


def _write_everything(table: pd.DataFrame, path: Path) -> None:
    gaps = _with_gaps(_with_dates(_with_categories(table)))
    text = _with_identifiers(gaps).to_csv(sep=";", decimal=",")
    path.write_text(text + ";" * (len(table.columns) + 5) + "\n\n", encoding="utf-8-sig")


SPELLINGS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "raw": _write,
    "european": _write_european,
    "index": lambda table, path: _write(table, path, index=True),
    "identifiers": lambda table, path: _write(_with_identifiers(table), path),
    "dates": lambda table, path: _write(_with_dates(table), path),
    "categories": lambda table, path: _write(_with_categories(table), path),
    "missing": lambda table, path: _write(_with_gaps(table), path, na_rep="NA"),
    "thousands": lambda table, path: _write(_with_groups(table), path),
    "utf-16": lambda table, path: _write(table, path, sep="\t", encoding="utf-16"),
    "spreadsheet": _write_spreadsheet,
    "everything": _write_everything,
}
"""How a table of numbers and labels is spoiled in a file.

With "categories" and "everything" the clean table holds the same levels as numbers.
"""


def neighbor_accuracy(places: npt.NDArray[Any], labels: npt.NDArray[Any]) -> float:
    """Return the share of rows whose label most of their 15 nearest rows in a map have, the row itself not counted."""
    from sklearn.neighbors import NearestNeighbors

    classes, codes = np.unique(labels.astype(str), return_inverse=True)
    near = NearestNeighbors(n_neighbors=_N_NEIGHBORS).fit(places).kneighbors(return_distance=False)
    votes = (codes[near][:, :, None] == np.arange(len(classes))).sum(axis=1)
    return float(np.mean(votes.argmax(axis=1) == codes))


def _map_file(path: Path, seed: int, threads: int) -> npt.NDArray[Any]:
    """Map a file by one command, and return the places."""
    out = path.with_suffix(".npy")
    command = [sys.executable, "-W", "ignore", "-m", "gnomon", "map", str(path), "--labels", _LABEL, "--quiet"]
    command += ["--seed", str(seed), "--threads", str(threads), "--coordinates", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{path.stem}: {done.stderr.strip()[-500:]}")
    return np.asarray(np.load(out))


def measure_around(name: str, rows: int | None = None, *, threads: int = 1, repeats: int = 3) -> dict[str, float]:
    """Time `gnomon map` of a table with nothing around its fit, and with explanation, scores, report and page.

    Each command is a fresh process, the two turn and turn about. The table is a file of numbers, its labels, if it has
    any, a column beside it, and rows of 784 whole numbers up to 255 are pictures.

    Parameters
    ----------
    name : str
        As `benchmarks.tables.load_table` takes it.
    rows : int or None, default=None
        A sample of so many rows.
    threads : int, default=1
        With one thread CPU seconds are what the work takes; more threads wait for each other.
    repeats : int, default=3
        Runs of each command, of which the medians count.

    Returns
    -------
    dict of str to float
        Seconds of CPU and by the clock of both, the ratio of the whole to the fit, and megabytes of the page.
    """
    X, labels = load_table(name, rows)
    pixels = X.shape[1] == 784 and np.array_equal(X, X.astype(np.uint8))
    spent: dict[str, list[tuple[float, float]]] = {"fit": [], "whole": []}
    with tempfile.TemporaryDirectory() as folder:
        path, page = Path(folder, "table.npy"), Path(folder, "map.html")
        np.save(path, X.astype(np.uint8) if pixels else X)
        command = [sys.executable, "-W", "ignore", "-m", "gnomon", "map", str(path), "--threads", str(threads)]
        command += ["--images", "28x28"] if pixels else []
        if labels is not None:
            beside = path.with_suffix(".csv")
            pd.DataFrame({_LABEL: [f"class {k}" for k in labels]}).to_csv(beside, index=False)
            command += ["--metadata", str(beside), "--labels", _LABEL]
        ends = {"fit": ["--quiet", "--coordinates", str(path.with_stem("places"))], "whole": ["-o", str(page)]}
        for _ in range(repeats):
            for kind, end in ends.items():
                one = run_child([*command, *end], Path(folder, "log.txt"))
                assert one is not None  # there is no limit
                spent[kind].append((one.cpu, one.wall))
        size = page.stat().st_size / 1e6
    found = {}
    for at, clock in enumerate(("CPU s", "wall s")):
        fit, whole = (statistics.median(one[at] for one in spent[kind]) for kind in ends)
        found |= {f"fit {clock}": fit, f"whole {clock}": whole, f"{clock.split()[0]} ratio": whole / fit}
    return found | {"page MB": size}


@cache
def _clean(name: str, levels: bool, seed: int, threads: int) -> float:
    table = _with_levels(load(name)) if levels else load(name)
    X = _numbers(table).to_numpy(dtype=float)
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        places = gnomon.UMAP(random_state=seed, n_jobs=threads).fit_transform(Z)
    return neighbor_accuracy(places, table[_LABEL].to_numpy())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, and write the measurements to a file if one is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.front_door", description=__doc__)
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--spellings", nargs="+", choices=list(SPELLINGS), default=list(SPELLINGS))
    parser.add_argument("--seeds", type=int, default=3, help="maps of each file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--around", metavar="TABLE", help="time one command with and without what is around the fit")
    parser.add_argument("--rows", type=int, help="of that table; all by default")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each of both commands")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    print(describe_machine())
    if options.around:
        spent = measure_around(options.around, options.rows, threads=options.threads, repeats=options.repeats)
        print(table_of(["table", *spent], [[options.around, *(f"{value:.2f}" for value in spent.values())]]))
        if options.json is not None:
            options.json.write_text(json.dumps(spent, indent=1))
        return
    found: list[dict[str, Any]] = []
    for name in options.data:
        try:
            table = load(name)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        for spelling in options.spellings:
            levels = spelling in ("categories", "everything")
            clean = [_clean(name, levels, seed, options.threads) for seed in range(options.seeds)]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, f"{spelling}.csv")
                SPELLINGS[spelling](table.copy(), path)
                maps = [_map_file(path, seed, options.threads) for seed in range(options.seeds)]
            spoiled = [neighbor_accuracy(places, table[_LABEL].to_numpy()) for places in maps]
            case = {"data": name, "spelling": spelling, "standardised": np.mean(clean), "as it is": np.mean(spoiled)}
            case["difference"] = case["as it is"] - case["standardised"]
            found.append({key: value if isinstance(value, str) else float(value) for key, value in case.items()})
            print(f"{name}, {spelling}: {case['as it is']:.3f}, standardised {case['standardised']:.3f}", flush=True)
    cells = [[value if isinstance(value, str) else f"{value:+.3f}" for value in case.values()] for case in found]
    print(f"\n{table_of(list(found[0]), cells)}" if found else "")
    low = [f"{case['data']} {case['spelling']}" for case in found if case["difference"] < -_ALLOWED]
    print(f"\n{len(found) - len(low)} of {len(found)} within {_ALLOWED}{': not ' + ', '.join(low) if low else ''}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
