"""Run one of the parts: python -m benchmarks.large make|run|curve|slopes|constants|forecasts ..."""

from __future__ import annotations

import sys

from benchmarks.large import constants, curve, data, forecasts, run, slopes

_PARTS = {
    "make": data.main,
    "run": run.main,
    "curve": curve.main,
    "slopes": slopes.main,
    "constants": constants.main,
    "forecasts": forecasts.main,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in _PARTS:
        sys.exit(f"usage: python -m benchmarks.large {{{','.join(_PARTS)}}} ...; each has --help")
    sys.exit(_PARTS[sys.argv[1]](sys.argv[2:]))
