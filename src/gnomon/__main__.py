"""`python -m gnomon`: the command line, where the script `gnomon` is not on the path."""

from gnomon.cli import main

if __name__ == "__main__":
    main(prog_name="python -m gnomon")
