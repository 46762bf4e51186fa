"""`python -m benchmarks.mutation`: see run.py."""

import sys

from benchmarks.mutation.run import main

if __name__ == "__main__":
    sys.exit(main())
