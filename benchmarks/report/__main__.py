"""Measure gnomon beside its peers on tables of 1,800 to 1,000,000 rows and write one page with pictures.

GNOMON_DATA=FOLDER python -m benchmarks.report --out report
python -m benchmarks.report --out report --peer-python ../peers/bin/python --methods umap --rows-to 20000 --repeats 5
GNOMON_DATA=FOLDER python -m benchmarks.report --out report --site docs        # docs/benchmarks.md and its pictures

Results are kept in the folder by table and method, so that an interrupted report goes on where it was; delete a file
to measure it again.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from benchmarks.report.measure import measure_subject, read_results
from benchmarks.report.page import page
from benchmarks.report.site import PAGE, write_site
from benchmarks.report.subjects import SUBJECTS, Subject
from benchmarks.run import MODES, Plan
from benchmarks.tools import TOOLS

_PEERS = ("umap-learn", "umap-learn-seeded", "openTSNE", "pacmap", "trimap", "pymde", "torchdr", "scikit-learn")
_LIMIT = 1200.0


def _chosen(options: argparse.Namespace) -> list[Subject]:
    """Return the tables asked for, those that are not there named and left out."""
    most = options.rows_to
    chosen = [s for s in SUBJECTS if s.rows is None or most is None or s.rows <= most]
    chosen = [s for s in chosen if options.data is None or s.data in options.data]
    missing = sorted({s.data for s in chosen if not s.exists()})
    if missing:
        print(f"left out, not in GNOMON_DATA: {', '.join(missing)}", file=sys.stderr)
    return [s for s in chosen if s.data not in missing]


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing and write the page; return 1 if there is no table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the results and report.html")
    parser.add_argument("--site", type=Path, metavar="FOLDER", help=f"docs, whose {PAGE} gets tables and pictures")
    parser.add_argument("--methods", nargs="+", default=["umap", "tsne"], choices=["umap", "tsne"])
    parser.add_argument("--data", nargs="+", choices=sorted({s.data for s in SUBJECTS}), help="only these tables")
    parser.add_argument("--rows-to", type=int, help="leave longer tables out")
    parser.add_argument("--peers", nargs="*", default=list(_PEERS), choices=list(TOOLS))
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, with the seeds 0, 1, ...")
    parser.add_argument("--mode", default="both", choices=list(MODES))
    parser.add_argument("--limit", type=float, default=_LIMIT, help="seconds of a run; slower peers are left out")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    subjects = _chosen(options)
    if not subjects:
        print("no table is left", file=sys.stderr)
        return 1
    plan = Plan(
        methods=options.methods,
        peers=options.peers,
        repeats=options.repeats,
        modes=MODES[options.mode],
        peer_python=options.peer_python,
        limit=options.limit,
    )
    for method in options.methods:
        slow: set[str] = set()
        for subject in subjects:
            print(f"{method}: {subject.name}", file=sys.stderr, flush=True)
            measure_subject(subject, method, options.out, plan, slow)
    results = {method: read_results(options.out, subjects, method) for method in options.methods}
    given = arguments if arguments is not None else sys.argv[1:]
    command = f"python -m benchmarks.report {shlex.join(given)}"
    written = options.out / "report.html"
    written.write_text(page(results, command), encoding="utf-8")
    print(written)
    if options.site is not None:
        print(write_site(results, command, options.site))
    return 0


if __name__ == "__main__":
    sys.exit(main())
