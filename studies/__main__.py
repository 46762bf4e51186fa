"""Run the studies one after the other and print what each took.

python -m studies --data FOLDER --out build/studies
python -m studies --only faces rolled_sheet --jobs 1

Each study runs in a process of its own with its defaults. One that needs a package that is not installed, or a data set
that is not in the folder, is named with the reason and left out; the others go on. The exit status is 1 if one failed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["STUDIES", "main"]

STUDIES = (
    "adversarial_digits",
    "all_methods",
    "blind_spots",
    "class_colors",
    "conjecture_one",
    "deep_features",
    "density_adapted",
    "density_kept",
    "direct_maps",
    "direct_starts",
    "effective_loss",
    "faces",
    "gradient_pca",
    "illusions",
    "kernel_choice",
    "latent_space",
    "marker_genes",
    "method_comparison",
    "metric_table",
    "mnist_classical",
    "outlier_directions",
    "parts_as_dots",
    "pca_dimensions",
    "picture_mosaic",
    "pieces_joined",
    "proves",
    "recommended",
    "rolled_sheet",
    "saliency_maps",
    "sampled_frobenius",
    "simulation",
    "subclusters",
    "sublinear_pca",
    "two_kernel_maps",
    "video_background",
)
"""All studies, by the names of their modules."""
_MISSING = ("MissingDependencyError", "FileNotFoundError", "ModuleNotFoundError")
_WITHOUT_FOLDER = ("class_colors",)  # prints alone, and reads no data


def _run(name: str, options: argparse.Namespace, log: Path) -> str:
    """Run a study, what it prints in a file; return "done" or what stopped it."""
    command = [sys.executable, "-m", f"studies.{name}"]
    if name not in _WITHOUT_FOLDER:
        command += ["--out", str(options.out)]
        command += ["--data", str(options.data)] if options.data else []
        command += ["--jobs", str(options.jobs)] if options.jobs else []
    with log.open("w") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False, env=os.environ).returncode
    if status == 0:
        return "done"
    last = (log.read_text().strip().splitlines() or [f"exit status {status}"])[-1]
    missing = any(kind in last for kind in _MISSING)
    return f"{'left out' if missing else 'failed'}: {last}"


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all studies, or those that are named; return the exit status."""
    made = argparse.ArgumentParser(
        prog="python -m studies", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--data", type=Path, help="folder of the .npz data sets; GNOMON_DATA by default")
    made.add_argument("--out", type=Path, default=Path("build/studies"), help="folder for figures, pictures and logs")
    made.add_argument("--jobs", type=int, help="threads of each study; all by default")
    made.add_argument("--only", nargs="+", choices=STUDIES, metavar="STUDY", help="only these studies")
    options = made.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in options.only or STUDIES:
        began, before = time.perf_counter(), _cpu_seconds()
        outcome = _run(name, options, options.out / f"{name}.log")
        failed |= outcome.startswith("failed")
        taken = f"{time.perf_counter() - began:8.0f} s  {_cpu_seconds() - before:8.0f} CPU s"
        print(f"{name:20} {taken}  {outcome}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
