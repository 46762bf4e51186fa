"""Text tables: found layout, mixed columns, errors that name the place."""

import gzip
import logging

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data import delimited, read_table
from gnomon.data.delimited.layout import find_layout
from gnomon.exceptions import DataWarning


@pytest.fixture
def write(tmp_path):
    def write(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        return path

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiter_and_header_are_found(write, delimiter, end):
    rows = [["width", "height"], ["1.5", "2"], ["-3e2", "4"]]
    data = read_table(write(end.join(delimiter.join(row) for row in rows) + end))
    assert data.feature_names == ["width", "height"]
    np.testing.assert_array_equal(data.X, [[1.5, 2], [-300, 4]])


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;", "sep=|"])
@pytest.mark.parametrize("texts", ["", "x"])
def test_a_first_line_that_names_the_delimiter_is_followed(write, line, texts):
    text = "a;b,c\n1;2{0}\n3;4{0}\n".replace(";", line.strip('"')[-1]).format(texts)
    data = read_table(write(f"\ufeff{line}\r\n{text}"))
    assert [*data.feature_names, *data.text_columns] == ["a", "b,c"]
    np.testing.assert_array_equal(data.X[:, 0], [1, 3])
    with pytest.raises(ValueError, match="line 4 has 3 fields"):
        read_table(write(f"sep=;\na;b\n1;2{texts}\n3;4;5\n"))
    assert read_table(write("sep=\t\n1\t2\n3\t4\n")).X.tolist() == [[1, 2], [3, 4]]


def test_without_header_columns_have_no_names_but_can_be_chosen(write):
    path = write("1,2,7\n3,4,8\n")
    data = read_table(path)
    assert data.feature_names is None
    np.testing.assert_array_equal(data.X, [[1, 2, 7], [3, 4, 8]])
    data = read_table(path, labels="2")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert data.labels.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id,0,1\na,1,2\nb,3,4\n", ["0", "1"]),  # columns that pandas numbered
        ("label,1x1,1x2\n5,0,255\n4,9,9\n", ["label", "1x1", "1x2"]),
        ("1st,2\n5,6\n7,8\n", ["1st", "2"]),
        ("setosa,5.1,3.5\nvirginica,5.2,3\n", None),
        ("country,2019,2020\na,1.5,2\nb,3,4\n", ["2019", "2020"]),
        (",2020,2010,2005\na,1.5,2,7\nb,3,4,9\n", ["2020", "2010", "2005"]),
        ("country,1,2,3\na,1.5,2,7\nb,3,4,9\n", ["1", "2", "3"]),
        ("a,1,2,3\nb,4,2,7\na,3,4,9\n", None),  # an a is below as well
    ],
)
def test_header_is_told_from_a_row(write, text, names):
    data = read_table(write(text))
    assert data.feature_names == names
    assert not any("first row" in said for said in data.notes)


@pytest.mark.parametrize(
    ("text", "names", "n_rows"),
    [
        ("1.0D+00,2.5D+01\n3.0D+00,4.5D+01\n5.0D+00,1.5D-01\n", ["0", "1"], 3),
        ("0.17000-102,-.25000+100\n0.10582+103,.5D+00\n", ["0", "1"], 2),
        ("a,b\n1.0D+00,2.5D+01\n3.0D+00,4.5D+01\n", ["a", "b"], 2),
        ("a,1950\n1.0D+00,2.5D+01\n3.0D+00,4.5D+01\n", ["a", "1950"], 2),
    ],
)
def test_a_first_row_of_numbers_as_fortran_writes_them_is_data(write, text, names, n_rows):
    data = read_table(write(text))
    assert list(data.metadata) == names
    assert data.n_samples == n_rows


@pytest.mark.parametrize("text", ["a,1,2,3\nb,4,5,6\n", "a,1,2\nb,5,4\n", "1,2,3\n0.5,0.2,0.7\n"])
def test_a_first_row_that_may_be_a_header_is_told(write, text):
    data = read_table(write(text))
    assert data.n_samples == 2
    assert "the first row is read as data; if it names the columns, begin its names with a letter" in data.notes


WAVES = np.geomspace(400, 2500, 9).round(2)
SPECTRA = np.random.default_rng(0).normal(size=(6, 9)).round(3)


@pytest.mark.parametrize("waves", [WAVES, WAVES[::-1], np.arange(9), np.arange(9) * 12.5])
@pytest.mark.parametrize("index", [False, True])
def test_a_first_row_of_many_numbers_in_order_names_the_columns(tmp_path, waves, index):
    pd.DataFrame(SPECTRA, columns=waves).to_csv(tmp_path / "X.csv", index=index)
    data = read_table(tmp_path / "X.csv")
    np.testing.assert_array_equal(data.X, SPECTRA)
    assert [float(name) for name in data.feature_names] == waves.tolist()
    told = f"the first row holds numbers in order and is read as names: {data.feature_names[-1]} is a column"
    assert (told in data.notes) == (not index)


@pytest.mark.parametrize("rows", [SPECTRA, np.sort(SPECTRA, axis=1), np.vstack([WAVES[:7], SPECTRA[:, :7]])])
def test_rows_in_order_as_others_are_and_few_numbers_are_data(tmp_path, rows):
    np.savetxt(tmp_path / "X.csv", rows, delimiter=",", fmt="%.3f")
    np.testing.assert_array_equal(read_table(tmp_path / "X.csv").X, rows)


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
@pytest.mark.parametrize("above", ["", "# time phi psi\n", '@ title "phi"\n', "#! FIELDS time phi\n#! SET min -pi\n"])
def test_numbers_between_spaces_are_read_below_comments_and_refused_if_rows_differ(tmp_path, above, ending):
    rows = ["  ".join(map(str, row)) for row in SPECTRA]
    path = tmp_path / f"X.{ending}"
    path.write_text(above + "\n".join(rows) + "\n")
    np.testing.assert_array_equal(read_table(path).X, SPECTRA)
    path.write_text(above + "\n".join([*rows[:3], rows[3] + "  7", *rows[4:]]) + "\n")
    line = above.count("\n") + 4
    with pytest.raises(
        ValueError, match=rf"numbers, 10 in line {line} and 9 in most others\)\. Is the file complete\?"
    ):
        read_table(path)


def test_fields_between_single_spaces_below_names_are_read(write):
    rows = [f"fam{i} HG{i:03d} {1 + i % 2} {i % 3} NA {2 - i % 3}" for i in range(40)]
    text = "\n".join(["FID IID SEX rs1_A rs2_C rs3_T", *rows, ""])
    data = read_table(write(text, "plink.csv"), missing="keep")
    assert data.feature_names == ["SEX", "rs1_A", "rs3_T"]
    np.testing.assert_array_equal(data.X[:, 1], np.arange(40) % 3)
    for other in (
        text.replace("fam3 ", "fam3  "),  # not alike in all rows
        text.replace("FID", "7"),  # no names
        text.replace("HG", "a,b"),
        "\n".join(["my own four words", *["more of the same"] * 40]),
    ):
        assert find_layout(str(write(other, "other.csv")), "utf-8").delimiter != " "


def as_r_writes(quote, names, rows, *, unnamed=True):
    header = " ".join(f"{quote}{name}{quote}" for name in names)
    lines = [f"{quote}{i}{quote} {row}" if unnamed else row for i, row in enumerate(rows, 1)]
    return "\n".join([header, *lines, ""])


@pytest.mark.parametrize("quote", ["", '"'])
def test_tables_as_r_writes_them_are_read_with_their_names_of_rows(write, quote):
    rows = [f"{20 + i} {i * 1.5} {'NA' if i == 3 else -i}" for i in range(60)]
    data = read_table(write(as_r_writes(quote, ["age", "income", "score"], rows), "r.txt"), missing="keep")
    assert data.feature_names == ["age", "income", "score"]
    assert data.point_names[:2].tolist() == ["1", "2"]
    np.testing.assert_array_equal(data.X[:, 1], np.arange(60) * 1.5)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(data.X[:, 2])), [3])


@pytest.mark.parametrize("unnamed", [True, False])
def test_tables_of_texts_in_quotes_as_r_writes_them_are_read(write, unnamed):
    rows = [f'"Lane {i}, left" "{"mf"[i % 2]}" {i}' for i in range(40)]
    data = read_table(write(as_r_writes('"', ["street", "sex", "age"], rows, unnamed=unnamed), "r.txt"))
    assert data.feature_names == ["age"]
    assert data.metadata["street"][3] == "Lane 3, left"
    assert data.metadata["sex"][:2].tolist() == ["m", "f"]


def test_names_of_rows_that_come_again_are_no_names_between_spaces(write):
    text = "\n".join(["two words", *[f"row {i} {i}" for i in range(40)]])
    assert find_layout(str(write(text, "x.txt")), "utf-8").delimiter != " "


def test_a_column_of_thousands_with_spaces_between_is_no_table_between_spaces(write):
    data = read_table(write("amount\n1 200\n12 300\n950\n1 000 000\n", "table.tsv"))
    assert data.text_columns == ["amount"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("# made by x\nphi,psi,e\n1,2,3\n4,5,6\n", "its first line is a comment, '# made by x'"),
        ("# made by x, y\n# again\nphi,psi,e\n1,2,3\n4,5,6\n7,8,9\n", "a comment, '# "),
        ("# made by x\nphi,psi\n1,2\n4,5\n", "its first line is a comment, '# made by x'"),
        ("phi,psi\n1,2\n# restart\n4,5\n", "line 3 is a comment, '# restart'"),
    ],
)
def test_comments_are_named_with_what_leaves_them_out(write, text, fact):
    with pytest.raises(ValueError, match=rf"{fact}.*or pass pandas\.read_csv\(path, comment='#'\)"):
        read_table(write(text))


def test_a_header_may_begin_as_comments_do(write):
    assert read_table(write("#chrom,start\n1,2\n4,5\n")).feature_names == ["#chrom", "start"]


def test_text_columns_become_metadata_and_are_noted(write, caplog):
    caplog.set_level(logging.INFO, logger="gnomon.data")
    data = read_table(write('name,a,when,b\n"Doe, J.",1,2020-01-01,2\n"said ""x""",3,2020-01-02,4\n'))
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert data.metadata["name"].tolist() == ["Doe, J.", 'said "x"']
    assert list(data.metadata) == ["name", "when"]
    assert data.notes == ["columns without numbers are kept as metadata: 'name', 'when'"]
    assert caplog.messages == data.notes


def test_labels_are_no_feature(write):
    path = write("a,kind,b\n1,x,2\n3,y,4\n")
    data = read_table(path, labels="kind")
    assert data.feature_names == ["a", "b"]
    assert data.labels.tolist() == ["x", "y"]
    assert data.label_name == "kind"
    data = read_table(write("a,y\n1,0\n3,1\n"), labels="y")
    assert data.labels.tolist() == [0, 1]
    assert data.labels.dtype == np.int64


def test_a_column_that_looks_like_labels_is_pointed_out(write):
    assert "column 'label' is read as a feature" in read_table(write("label,a\n1,2\n3,4\n")).notes[0]


def test_missing_labels_are_allowed(write):
    assert np.isnan(read_table(write("a,y\n1,0\n2,\n"), labels="y").labels[1])


def test_byte_order_mark_duplicates_and_nameless_columns(write):
    with pytest.warns(DataWarning, match="2 columns are called 'a': they are told apart by their order"):
        data = read_table(write("\ufeffa,a,\n1,2,3\n4,5,6\n"))
    assert data.feature_names == ["a", "a (2)", "column 2"]


@pytest.mark.parametrize("text", [",a\n0,5\n1,6\n", ",a\n1,5\n4,6\n", ",a\nx,5\ny,6\n", '"a"\n"x",5\n"y",6\n'])
def test_a_nameless_first_column_names_the_points(write, text):
    data = read_table(write(text))
    assert data.feature_names == ["a"]
    np.testing.assert_array_equal(data.X, [[5], [6]])
    assert len(data.point_names) == 2
    assert "row names" in data.notes[0]


@pytest.mark.parametrize("text", [",a\n4,5\n1,6\n", ",a\n0.5,5\n1,6\n"])
def test_a_nameless_first_column_that_does_not_go_up_is_a_feature_and_told(write, text):
    data = read_table(write(text))
    assert data.feature_names == ["column 0", "a"]
    assert "no name and is read as a feature" in data.notes[0]


def test_missing_values_are_refused_with_their_places(write):
    with pytest.raises(
        ValueError, match=r"2 missing values, at line 3, column 'b'; line 4, column 'a'\)\. Pass missing='keep'"
    ):
        read_table(write("a,b,c\n1,2,x\n3,,x\nNA,4,x\n"))
    with pytest.raises(ValueError, match=r"gnomon\.map\(gnomon\.read_table\(.*, missing=.keep.\)\), as `gnomon map"):
        read_table(write("a,b\n1,\n3,4\n"))
    with pytest.raises(ValueError, match=r"1 missing value, at line 2, column 'b'"):
        read_table(write("a,b\n1,nan\n3,4\n"))
    with pytest.raises(ValueError, match="6 missing values, the first at line 2"):
        read_table(write("a,b\n" + "1,\n" * 6 + "1,2\n"))


def test_missing_values_are_kept_as_nan_on_request(write):
    data = read_table(write("a,b,c,d\n1,2,x,\n3,,x,\nNA,4,x,?\n"), missing="keep")
    assert data.feature_names == ["a", "b"]
    np.testing.assert_array_equal(data.X, [[1, 2], [3, np.nan], [np.nan, 4]])
    assert sorted(data.metadata) == ["c", "d"]
    with pytest.raises(ValueError, match="read_table: missing='drop' must be 'error' or 'keep'"):
        read_table(write("a,b\n1,2\n"), missing="drop")


def test_rows_of_unequal_length_are_refused_with_the_line(write):
    with pytest.raises(ValueError, match="line 4 has 1 fields, the rows before it 2"):
        read_table(write("a,b\n1,2\n3,4\n5\n"))


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (['1,"two', 'lines"', '2,"5 inch'], 202),
        (['1,"two', 'lines"', '2,"5 inch', *["3,x"] * 250, '4,"fine"', "5,x"], 202),
        (['"1', '2","5 inch pipe', "3,x"], 201),
        (['1,"2', *["a long text,"] * 12_000], 200),
        (['"1'], 200),
    ],
)
def test_a_quote_that_is_not_closed_is_refused_with_its_line(write, rows, line):
    text = "\n".join(["a,b", *["0,x"] * 198, *rows])
    with pytest.raises(ValueError, match=f"the quote in line {line} opens a field that does not end"):
        read_table(write(text))
    with pytest.raises(ValueError, match="the quote in line 2 opens a field that does not end"):
        read_table(write('1,2\n3,"45'))  # of numbers alone


def test_a_stray_quote_within_a_line_is_read_as_before(write):
    texts = ['5" pipe', '"said "so" twice"', "plain"]
    read = read_table(write("a,b\n" + "".join(f"1,{text}\n" for text in texts))).metadata["b"].tolist()
    assert read == ['5" pipe', 'said so" twice"', "plain"]


def test_a_number_may_turn_out_to_be_text_in_the_last_row(write):
    data = read_table(write("a,code\n" + "1,2\n" * 9000 + "1,x\n"))
    assert data.X.shape == (9001, 1)
    assert data.metadata["code"][[0, -1]].tolist() == ["2", "x"]


def test_underscores_are_no_digits(write):
    assert read_table(write("a,sample\n1,10_1\n2,10_2\n")).metadata["sample"].tolist() == ["10_1", "10_2"]


def test_compressed_and_chosen_delimiter(write):
    assert read_table(write(gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")).X.tolist() == [[1, 2]]
    assert read_table(write("a|b\n1|2\n"), delimiter="|").X.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="a single character"):
        read_table(write("a||b\n"), delimiter="||")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "it is empty"),
        (b",", "no field of its first 1 lines holds anything"),
        (b" ,\n,\n", "no field of its first 2 lines holds anything"),
        (b"a,b\n", "a header alone"),
        (b"a,b\nx,\xff\x00\n", "0xff is no UTF-8"),
        (b"a,b\nx,\x81\n", "0x81 is no UTF-8"),  # nor Windows-1252
        (b"\xff\xfea\x00,\x00b", "a text file in UTF-8, UTF-16 or Windows-1252"),
    ],
)
def test_files_that_are_no_table_of_numbers(write, content, text):
    with pytest.raises(ValueError, match=text):
        read_table(write(content))


def test_truncated_compressed_file(write):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    with pytest.raises(ValueError, match="a readable table"):
        read_table(write(whole[: len(whole) // 2], "t.csv.gz"))


def test_unknown_column_lists_what_there_is(write):
    with pytest.raises(ValueError, match=r"labels='speceis' must be one .*available: 'a', 'species'.*mean 'species'\?"):
        read_table(write("a,species\n1,x\n"), labels="speceis")


def test_counts_are_kept_in_float32_and_fractions_in_float64(write):
    assert read_table(write("1,2\n3,255\n")).X.dtype == np.float32
    assert read_table(write("1,2\n3,0.1\n")).X.dtype == np.float64
    assert read_table(write("1,2\n3,16777217\n")).X.dtype == np.float64


def test_rows_as_pictures(write):
    data = read_table(write("kind,a,b,c,d\nx,0,1,2,4\n"), images=(2, 2))
    assert data.images.tolist() == [[[0, 64], [128, 255]]]
    assert data.image_shape == (2, 2)
    with pytest.raises(ValueError, match=r"image shape 3 x 3 must be that of a row \(9 pixels, 4 features\)"):
        read_table(write("a,b,c,d\n0,1,2,4\n"), images=(3, 3))
    with pytest.raises(ValueError, match="height x width x 3"):
        read_table(write("a,b,c,d\n0,1,2,4\n"), images=(1, 1, 4))


def test_fast_and_careful_reading_agree(write):
    X = np.random.default_rng(0).standard_normal((200, 4))
    rows = [",".join(map(repr, row)) for row in X.tolist()]
    fast = read_table(write("a,b,c,d\n" + "\n".join(rows)))
    careful = read_table(write("a,b,c,d,e\n" + "\n".join(f"{row},x" for row in rows)))
    np.testing.assert_array_equal(fast.X, X)
    np.testing.assert_array_equal(careful.X, X)


def test_rows_longer_than_a_field_may_be(write):
    """A delimiter that does not occur makes one field of a row, and a field may have 131,072 characters."""
    rows = [",".join(f"{i}.{j:05d}" for j in range(30_000)) for i in range(3)]
    assert read_table(write("\n".join(rows))).X.shape == (3, 30_000)


def test_many_columns_take_a_time_that_grows_with_their_number(write):
    data = read_table(write(",".join(f"c{j}" for j in range(40_000)) + "\n" + ",".join(["1"] * 39_999 + ["x"])))
    assert data.X.shape == (1, 39_999)


@pytest.mark.timeout(60)
def test_f99_a_small_file_that_unpacks_to_a_large_one(write):
    path = write(gzip.compress(b"1,2\n" * (2 * 2**20)), "bomb.csv.gz")
    with pytest.raises(ValueError, match=r"at most 100 times as many characters .*Unpack it with gunzip"):
        read_table(path)


@pytest.mark.parametrize("place", [20, 60])
def test_f99_damaged_compressed_file(write, place):
    content = bytearray(gzip.compress("\n".join(f"{i},{i * i}" for i in range(500)).encode(), mtime=0))
    content[place : place + 8] = b"\xff" * 8
    with pytest.raises(ValueError, match="a readable table"):
        read_table(write(bytes(content), "t.csv.gz"))


def test_f99_a_line_without_end(write, monkeypatch):
    monkeypatch.setattr(delimited.lines, "_LONGEST_LINE", 1000)
    assert read_table(write("1,2\n" * 500)).n_samples == 500
    with pytest.raises(ValueError, match="lines of fewer than 1,000 characters"):
        read_table(write("1,2\n" + "1" * 2000))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_lines_are_whole_wherever_the_file_is_cut(write, monkeypatch, end, chunk):
    monkeypatch.setattr(delimited.lines, "_CHUNK", chunk)
    texts = [f"a{i}" if i % 3 else f'"two{end}lines, {i}"' for i in range(40)]
    columns = delimited.read_columns(write(end.join(["number,text", *(f"{i},{t}" for i, t in enumerate(texts))]) + end))
    assert columns["number"].tolist() == list(range(40))
    assert columns["text"].tolist() == [text.strip('"') for text in texts]


@pytest.mark.parametrize("first", ["1,5", ""])
def test_a_column_that_is_text_from_a_later_row_on_keeps_its_first_rows(write, monkeypatch, first):
    monkeypatch.setattr(delimited.records, "_BLOCK", 4)
    cells = [first] * 6 + ["word"] * 3
    columns = delimited.read_columns(write("x;y;z\n" + "".join(f'"{cell}";a{cell};2,5\n' for cell in cells)))
    assert columns["x"].tolist() == cells
    assert columns["y"].tolist() == [f"a{cell}" for cell in cells]
    assert columns["z"].tolist() == [2.5] * 9


def test_f99_too_many_columns(write):
    with pytest.raises(ValueError, match=r"at most 1,000,000 columns \(1,000,002 fields"):
        read_table(write("," * 1_000_001 + "\n" + "," * 1_000_001))


def test_f99_one_long_text_does_not_widen_all(write):
    data = read_table(write("1,a\n" * 5000 + f"2,{'x' * 100_000}\n"))
    assert data.metadata["1"].dtype == object
    assert len(data.metadata["1"][-1]) == 100_000


def test_first_row_longer_than_the_others(write):
    with pytest.raises(ValueError, match=r"rows of equal length \(4 fields in the first row, 2 in the next"):
        read_table(write("a,b,c,d\n1,2\n3,4\n"))


@pytest.mark.parametrize("above", ["Export of 2024\n", "Export of 2024\n\n", "Shop,North\n2024,May\n\n"])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_lines_above_a_table_are_named_with_where_it_begins(write, above, sign):
    number = "2.5" if sign == "," else "2,5"
    rows = [sign.join(row) for row in [["a", "b", "c"], *[["1", number, "x"]] * 20]]
    n = above.count("\n")
    with pytest.raises(ValueError, match="equal length") as raised:
        read_table(write(above.replace(",", sign) + "\n".join(rows) + "\n"))
    first = "line" if n == 1 else f"{n} lines"
    assert f"Delete the first {first}: a table of 3 columns seems to begin in line {n + 1}." in str(raised.value)


def test_a_row_that_is_cut_is_no_title(write):
    with pytest.raises(ValueError, match="Is the file complete, and every field that holds"):
        read_table(write("a,b,c\n" + "1,2,3\n" * 60 + "1,2\n" + "1,2,3\n" * 9))


def test_numbers_beyond_float32_raise_no_warning(write):
    assert read_table(write("a\n1e300\n2\n")).X.tolist() == [[1e300], [2.0]]
    assert read_table(write("a,b\n1,1e300\n2,2\n"), labels="b").labels.tolist() == [1e300, 2.0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_files_are_read_in_the_encodings_of_spreadsheets(write, encoding):
    text = "größe;länge\n1,5;x\n2,5;ü\n"
    for name, content in (("t.csv", text.encode(encoding)), ("t.csv.gz", gzip.compress(text.encode(encoding)))):
        data = read_table(write(content, name))
        assert data.feature_names == ["größe"]
        assert data.X.tolist() == [[1.5], [2.5]]
        assert data.metadata["länge"].tolist() == ["x", "ü"]
        assert any("Windows-1252" in said for said in data.notes) == (encoding == "cp1252")


def test_empty_rows_are_passed_over_and_empty_fields_of_one_column_are_missing(write):
    data = read_table(write("a,b\n\n1,2\n,\n3,4\n , \n,\n\n"))
    assert data.X.tolist() == [[1, 2], [3, 4]]
    np.testing.assert_array_equal(read_table(write('a\n1\n""\n'), missing="keep").X, [[1], [np.nan]])


def test_tables_of_texts_are_read_for_what_may_become_of_them(write):
    data = read_table(write("a,b\nx,y\nz,y\n"))
    assert data.X.shape == (2, 0)
    assert data.text_columns == ["a", "b"]
    assert read_table(write("a;b\n1,5;x\n2,5;y\n")).X.tolist() == [[1.5], [2.5]]


def test_numbers_beside_texts_keep_their_number_without_a_header(write):
    lines = [f"{0.5 * i**2},{'xy'[i % 2]},{100.5 - i**3}" for i in range(12)]
    assert gn.map(read_table(write("\n".join(lines))), "pca", n_jobs=1).feature_names == ["0", "1 = y", "2"]


def test_strokes_between_the_fields_of_all_lines_separate(write):
    data = read_table(write("age|income|orders\n31|50.5|3\n44|20.25|1\n"))
    assert data.feature_names == ["age", "income", "orders"]
    assert data.X.tolist() == [[31, 50.5, 3], [44, 20.25, 1]]
    for text in ("kinds\na|b\nc|d\n", "x,kinds\n1,a|b\n2,c|d\n"):  # strokes within a field
        assert [*delimited.read_columns(write(text))][-1] == "kinds"


@pytest.mark.parametrize("sign", ":~^")
def test_another_separator_is_named_with_what_gives_it(write, sign):
    text = f"age{sign}income\n31{sign}50.5\n44{sign}20.25\n"
    told = rf"leave one column, and '\{sign}' stands between .*Write a first line sep=\{sign}, or in Python pass delim"
    with pytest.raises(ValueError, match=told):
        read_table(write(text))
    assert read_table(write(f"sep={sign}\n{text}")).feature_names == ["age", "income"]
    assert read_table(write(text), delimiter=sign).feature_names == ["age", "income"]


def test_times_are_no_fields_between_colons(write):
    assert [*delimited.read_columns(write("time\n12:30\n13:40\n"))] == ["time"]


def test_a_folder_without_pictures_names_its_tables(tmp_path):
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"one with pictures .*Name one of its tables, such as '.*p\.csv'\."):
        read_table(tmp_path)


@pytest.mark.parametrize("repeated", [[2], [1, 3]])
def test_rows_that_repeat_the_header_are_told(write, repeated):
    rows = ["1.5,x", "2.5,y", "3.5,x", "4.5,z"]
    path = write("size,kind\n" + "\n".join("size,kind" if i in repeated else row for i, row in enumerate(rows)) + "\n")
    which = "row 2 repeats" if repeated == [2] else "2 rows, the first 1, repeat"
    with pytest.warns(DataWarning, match=f"read_table: file .*: {which} the names of the columns. Delete such lines"):
        data = read_table(path)
    assert data.n_samples == 4
    read_table(write("size,kind\n" + "\n".join([*rows, "kind,size"])))  # without a warning


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1250", ["Łódź", "Köln"]),
        ("cp1250", ["złoty", "żyto"]),
        ("cp1250", ["miś", "pamięć", "więź"]),
        ("cp1251", ["Москва", "Тула"]),
    ],
)
def test_words_that_are_unlikely_in_windows_1252_are_told(write, encoding, words):
    text = "size,town\n" + "".join(f"{k}.5,{words[k % len(words)]}\n" for k in range(9))
    with pytest.warns(DataWarning, match=r"is no UTF-8 and is read as Windows-1252, which '.*' is unlikely in\. If"):
        read_table(write(text, encoding=encoding))


def test_words_of_languages_that_windows_1252_has_are_not_told(write):
    words = "Köln Zürich ¿Qué señor? São façade œuvre L'Haÿ Tromsø Ærø þjóð Übergröße £5 5£ m³ cm³ µm nº 1ª 20°C ¥100 ½"
    words += " Piña Čapek×2 Žižkov garçon naïve Noël ÎLE ÉTÉ"
    text = "size,word\n" + "".join(f"{k}.5,{word}\n" for k, word in enumerate(words.replace("Č", "C").split(" ")))
    data = read_table(write(text, encoding="cp1252"))
    assert "the file is no UTF-8 and is read as Windows-1252" in data.notes


def test_a_tsv_file_without_tabs_is_read_by_looking(tmp_path):
    rows = "".join(f"{i},{i * i % 7}\n" for i in range(12))
    (tmp_path / "commas.tsv").write_text("a,b\n" + rows)
    assert read_table(tmp_path / "commas.tsv").feature_names == ["a", "b"]
    (tmp_path / "one.tsv").write_text("amount\n1,5\n2,25\n3,5\n")
    assert read_table(tmp_path / "one.tsv").n_features == 1
    (tmp_path / "bare.tsv").write_text("1,5\n2,25\n3,5\n")
    assert read_table(tmp_path / "bare.tsv").n_features == 1
    (tmp_path / "tabs.tsv").write_text("a,b\tc\n" + "".join(f"{i}\t{i % 3}\n" for i in range(12)))
    assert read_table(tmp_path / "tabs.tsv").feature_names == ["a,b", "c"]


@pytest.mark.parametrize("above", ["Measurements 2024,,\n", "Measurements 2024,,\n,,\n", "A title,,\nof two lines,,\n"])
def test_a_title_filled_up_with_empty_fields_is_refused(write, above):
    rows = "".join(f"{i}.5,{i * i % 7},K\n" for i in range(9))
    with pytest.raises(ValueError, match=r"a table alone \(its first row holds '(Measurements 2024|A title)' alone"):
        read_table(write(f"{above}size,count,kind\n{rows}"))
    assert read_table(write(f"size,,\n{rows}")).n_samples == 9  # names that are lacking, and no other header


def commas(values, form):
    return [form.format(value).replace(".", ",") for value in values]


@pytest.mark.parametrize("names", [[], ["amount"]])
@pytest.mark.parametrize("form", ["{:.2f}", "{:.5f}", "{!r}", "{:g}"])
@pytest.mark.parametrize("shift", [0.0, 40.0])
def test_numbers_with_a_decimal_comma_alone_in_their_rows_are_one_column(write, names, form, shift):
    n_digits = {"{:.5f}": 5, "{:g}": 1}.get(form, 2)
    values = np.random.default_rng(0).normal(3.0 + shift, 1.0, 60).round(n_digits).tolist()
    data = read_table(write("\n".join(names + commas(values, form)) + "\n"))
    assert data.X[:, 0].tolist() == [float(form.format(value)) for value in values]
    assert data.feature_names == (names or None)
    assert "each row is read as one number; if its comma separates two begin the file with a line sep=," in data.notes
    asked = read_table(write("\n".join(["sep=,", "a,b", *commas(values, "{:.2f}")])))
    assert asked.feature_names == ["a", "b"]


def two_columns():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 90, (2, 60)).tolist()
    yield a, b
    yield a, [f"{k % 12 + 1:02d}" for k in b]  # months
    yield a, [f"{k * 600:05d}" for k in b]  # codes of 00600 to 53400
    yield range(60), [f"{k * 1117:05d}" for k in b]  # codes of 00000 to 99999 beside numbers of rows


@pytest.mark.parametrize(("a", "b"), list(two_columns()))
def test_two_columns_of_whole_numbers_stay_two_and_are_told(write, a, b):
    rows = [f"{one},{other}" for one, other in zip(a, b, strict=True)]
    data = read_table(write("\n".join(rows) + "\n"))
    assert data.n_features + len(data.metadata) == 2
    told = f"each row is read as two numbers, {a[0]} and {b[0]}; if {rows[0]} is one number write {a[0]}.{b[0]}"
    assert (told in data.notes) == isinstance(a, list)
    with pytest.raises(ValueError, match="line 8 has 1 fields"):
        read_table(write("\n".join([*rows[:7], "57", *rows[7:]])))  # a row that lacks its last field


def test_names_of_rows_beside_one_named_column_are_no_decimals(write):
    rows = [f"{i + 1},{i * i % 7}" for i in np.random.default_rng(0).permutation(30)]
    assert read_table(write("\n".join(["amount", *rows]))).n_features == 2
    again = read_table(write("\n".join(["amount", *rows, "7,5", "7,5"])))
    assert again.feature_names == ["amount"]  # names of rows do not come again
    assert again.X[-1, 0] == 7.5


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("n_columns", [2, 3, 9])
def test_decimal_commas_part_no_fields_of_a_file_without_a_header(write, delimiter, n_columns):
    values = np.random.default_rng(0).normal(size=(8, n_columns)).round(2) + 7.0
    data = read_table(write("\n".join(delimiter.join(commas(row, "{:.2f}")) for row in values.tolist()) + "\n"))
    np.testing.assert_allclose(data.X, values)
    assert data.feature_names is None


@pytest.mark.parametrize("header", ["a,b,c", ""])
def test_quoted_decimal_commas_between_commas_are_of_numbers(write, header):
    values = np.random.default_rng(0).normal(size=(30, 3)).round(2) + 7.0
    rows = [",".join(f'"{cell}"' for cell in commas(row, "{:.2f}")) for row in values.tolist()]
    data = read_table(write("\n".join(filter(None, [header, *rows]))))
    np.testing.assert_allclose(data.X, values)
    assert data.decimal == ","
    assert data.notes == ["numbers are read with a decimal comma"]
    beside = [f'{i}.5,"{i * i % 7},25","{i},{i * i % 5},3","1,{i + 100}"' for i in range(30)]
    data = read_table(write("\n".join(["point,comma,list,either", *beside])))
    assert data.feature_names == ["point", "comma"]  # what may be thousands is text as before
    np.testing.assert_array_equal(data.X, [[i + 0.5, i * i % 7 + 0.25] for i in range(30)])


def test_numbers_in_order_with_decimal_commas_name_columns_as_those_with_points(write):
    waves = commas(np.arange(400.5, 409.5).tolist(), "{}")
    rows = [";".join(commas(row, "{:.3f}")) for row in SPECTRA.tolist()]
    data = read_table(write("\n".join([";".join(waves), *rows])))
    np.testing.assert_array_equal(data.X, SPECTRA)
    assert data.feature_names == waves
    assert "the first row holds numbers in order and is read as names: 408,5 is a column" in data.notes
