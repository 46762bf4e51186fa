"""Tables of numbers with blanks between fields, as programs of physics write them, are read with their names."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import gnomon as gn
from gnomon.data import read_table

X = np.round(np.random.default_rng(0).normal(size=(60, 4)) * [1, 20, 3, 400], 4)
X[:, 3] = -np.abs(X[:, 3])


def lines(write="{:.4f}".format, between="  ", lead=""):
    return "".join(lead + between.join(map(write, row)) + "\n" for row in X)


WRITTEN = {
    "blanks": lines(),
    "right-aligned": lines("{:12.4f}".format, ""),
    "glued": lines("{:9.4f}".format, "", ""),
    "tabs": lines(between=" \t"),
    "led": lines(lead="   "),
    "Fortran": lines(lambda value: f"{value:16.8E}".replace("E", "D")),
    "blocks": lines().replace("\n", "\n\n", 30),
}
ABOVE = {
    "plumed": ("#! FIELDS time phi psi metad.bias\n#! SET min_phi -pi\n", ["time", "phi", "psi", "metad.bias"]),
    "savetxt": ("# t x y z\n# units nm\n", ["t", "x", "y", "z"]),
    "last of two": ("# made by hand today\n# t x y z\n", ["t", "x", "y", "z"]),
    "grace": (
        '# gromacs\n@ title "a"\n@ xaxis  label "Time (ps)"\n@TYPE xy\n@ s0 legend "Bond"\n@ s1 legend "Angle, all"\n'
        '@ s2 legend "E"\n',
        ["Time (ps)", "Bond", "Angle, all", "E"],
    ),
    "matlab": ("% of no name\n! nor this one\n", None),
    "row": ("t  x  y  z\n", ["t", "x", "y", "z"]),
    "nothing": ("", None),
}


@pytest.mark.parametrize("ending", ["dat", "txt"])
@pytest.mark.parametrize("how", WRITTEN)
def test_numbers_are_read_however_blanks_part_them(tmp_path, how, ending):
    path = tmp_path / f"X.{ending}"
    path.write_text("# t x y z\n" + WRITTEN[how])
    assert ("-" in WRITTEN[how].replace(" -", "").replace("E-", "").replace("D-", "").replace("\n-", "")) == (
        how in ("glued", "tabs")
    )
    data = read_table(path)
    np.testing.assert_allclose(data.X, X, rtol=1e-12)
    assert data.feature_names == ["t", "x", "y", "z"]
    assert "blanks part the fields; lines that begin with # are comments, which name the columns" in data.notes


@pytest.mark.parametrize("name", ["X.xvg", "COLVAR", "colvar.0", "HILLS", "X.csv", "X.tsv", "X.dat.gz"])
@pytest.mark.parametrize("above", ABOVE)
def test_comments_and_rows_above_name_the_columns(tmp_path, above, name):
    text, names = ABOVE[above]
    content = (text + lines()).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    data = read_table(tmp_path / name)
    np.testing.assert_array_equal(data.X, X)
    assert data.feature_names == names


def test_comments_among_the_rows_and_stars_are_no_numbers(tmp_path):
    path = tmp_path / "COLVAR"
    rows = lines().splitlines()
    rows[20] = rows[20].replace(rows[20].split()[1], "********")
    path.write_text("\n".join(["#! FIELDS a b c d", *rows[:30], "#! FIELDS a b c d", *rows[30:], ""]))
    data = read_table(path, missing="keep")
    assert len(data.X) == 60
    assert data.text_columns == ["b"]
    with pytest.warns(gn.exceptions.DataWarning):
        made = gn.map(read_table(path, missing="keep"), "pca")
    assert made.feature_names == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(np.delete(made.X, 20, axis=0), np.delete(X, 20, axis=0))


def test_rows_of_other_lengths_are_refused_with_their_line(tmp_path):
    path = tmp_path / "X.dat"
    path.write_text("# a b\n" + "1.5 2.5\n" * 300 + "3.5\n")
    with pytest.raises(ValueError, match="line 302"):
        read_table(path)


OTHERS = {
    "sentences": ("text\n" + "more of the same\n" * 30, ["text"]),
    "an address": ("my street\n" + "".join(f"Main {i}\n" for i in range(30)), ["my street"]),
    "commas": ("a,b\n" + "1 2,3 4\n" * 30, ["a", "b"]),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("ending", ["csv", "txt", "dat"])
def test_other_texts_are_read_as_before(tmp_path, name, ending):
    text, names = OTHERS[name]
    path = tmp_path / f"X.{ending}"
    path.write_text(text)
    if (name, ending) == ("an address", "dat"):
        return
    data = read_table(path, missing="keep")
    assert [*(data.feature_names or []), *data.text_columns] == names


def test_thousands_with_blanks_are_not_taken_for_two_columns(tmp_path):
    (tmp_path / "X.csv").write_text("people\n" + "".join(f"{i} 345\n" for i in range(10, 60)))
    with pytest.raises(ValueError, match="spaces stand between numbers"):
        read_table(tmp_path / "X.csv")


@pytest.mark.parametrize("ending", ["xyz", "pdb", "xtc"])
def test_trajectories_are_refused_with_what_makes_features_of_them(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    path.write_text("2\nframe\nC 0 0 0\nH 1 1 1\n")
    with pytest.raises(ValueError, match=r"distances and dihedral angles, by MDAnalysis, mdtraj or ase\.io\.read"):
        read_table(path)


@pytest.mark.parametrize("ending", ["dat", "txt", "csv"])
@pytest.mark.parametrize("above", ["", "t x y z\n", "# t x y z\n"])
def test_decimal_commas_between_blanks_are_no_delimiters(tmp_path, ending, above):
    path = tmp_path / f"X.{ending}"
    path.write_text(above + lines().replace(".", ","))
    data = read_table(path)
    np.testing.assert_allclose(data.X, X, rtol=1e-12)
    assert data.feature_names == (["t", "x", "y", "z"] if above else None)
    assert "numbers are read with a decimal comma" in data.notes
    path.write_text("1,5 2\n3 4,25\n5,0 -6,5E1\n")
    np.testing.assert_array_equal(read_table(path).X, [[1.5, 2], [3, 4.25], [5, -65]])


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("1 200,3\n2 450,4\n3 125,9\n", 2),  # blanks between thousands
        ("1 200,3 400\n2 450,4 100\n3 125,9 650\n", 2),
        ("1.5,2 3\n2.5,4 1\n3.5,5 2\n", 2),  # numbers with a point
        ("1,200 3,400\n5,600 7,800\n9,100 2,300\n", 3),  # commas between thousands, or between fields
        ("a b,c\n1 x,2\n3 y,4\n", 2),
        ("1,5\n2,5\n3,5\n", 2),
    ],
)
def test_other_commas_part_fields(tmp_path, text, width):
    (tmp_path / "X.csv").write_text(text)
    data = read_table(tmp_path / "X.csv")
    assert "blanks part the fields" not in data.notes
    assert data.X.shape[1] + len(data.metadata) == width


@pytest.mark.parametrize(
    ("write", "line"), [("{:.4f}".format, 61), (lambda value: f"{value:.4f}".replace(".", ","), 61)]
)
def test_a_file_that_ends_within_a_line_is_refused_with_its_number(tmp_path, write, line):
    path = tmp_path / "X.dat"
    path.write_text(lines(write) + "1 2")
    with pytest.raises(ValueError, match=rf"line {line} has 2 fields, the rows before it 4\). Is the file complete"):
        read_table(path)
    path.write_text(lines() + "1 2\n" + lines())
    with pytest.raises(ValueError, match=r"spaces stand between numbers, 2 in line 61 and 4 in most others"):
        read_table(path)
