"""Archives are read without trust: damage of any kind is one error, and no size is believed that cannot be."""

import errno
import io
import json
import struct
import time
import tracemalloc
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from gnomon._archive import (
    _check_description,
    _check_members,
    _read_header,
    read_archive,
    read_kind,
    write_archive,
)
from gnomon._run import running

ARRAYS = {"a": np.arange(12.0).reshape(3, 4), "flags": np.array([True, False]), "text": np.array(["ä", "bc"])}
ABOUT = {"kind": "thing", "version": 1}


def save(path):
    with running(name="save"):
        write_archive(path, kind="thing", version=1, arrays=ARRAYS, description={"more": [1, "x"]})
    return path


def load(path):
    with running(name="load"):
        return read_archive(path, kind="thing", version=1)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array))
    return stream.getvalue()


def headed(header, data=b""):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header + b"\n" + data


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(path, fact):
    form = rf"^load: file '.*' must be a complete thing file \(.*{fact}.*\)\. Save it again\.$"
    return pytest.raises(ValueError, match=form)


def test_what_is_written_is_read(tmp_path):
    arrays, description = load(save(tmp_path / "x"))
    assert description == {**ABOUT, "more": [1, "x"]}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_no_damage_to_a_byte_escapes_the_form(tmp_path):
    whole = save(tmp_path / "x").read_bytes()
    path = tmp_path / "damaged"
    refusals = []
    for place in range(len(whole)):
        for value in (0xFF, whole[place] ^ 0x01):
            path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            try:
                arrays, description = load(path)
            except ValueError as error:
                refusals.append(str(error))
            else:  # a byte that says nothing, such as a date
                assert description == {**ABOUT, "more": [1, "x"]}
                assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())
    assert len(refusals) > len(whole)
    assert all(text.startswith(f"load: file {str(path)!r} must be ") for text in refusals)


def test_no_cut_escapes_the_form(tmp_path):
    whole = save(tmp_path / "x").read_bytes()
    path = tmp_path / "damaged"
    for end in range(0, len(whole), 3):
        path.write_bytes(whole[:end])
        with refused(path, ""):
            load(path)


HEADERS = {
    "objects": (b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "plain numbers or text"),
    "records": (b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "plain numbers or text"),
    "void": (b"{'descr': '|V8', 'fortran_order': False, 'shape': (1,), }", "plain numbers or text"),
    "column order": (b"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "column order"),
    "negative": (b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "plain numbers or text"),
    "fractions": (b"{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,), }", "plain numbers or text"),
    "huge": (b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }", "and has"),
    "no size": (b"{'descr': '<U0', 'fortran_order': False, 'shape': (99999999999,), }", "entries of no size"),
    "no such type": (b"{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", "data type"),
    "many axes": (b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"0, " * 90 + b"), }", "and has"),
    "code": (b"__import__('os').abort()", "plain numbers or text"),
    "open text": (b"'''", "plain numbers or text"),
    "deep": (b"(" * 1000, "plain numbers or text"),
    "long": (b"-" * 60_000, "a header of 60001 bytes"),
}


@pytest.mark.parametrize(("header", "fact"), HEADERS.values(), ids=HEADERS)
def test_headers_that_are_not_written_are_refused(tmp_path, header, fact):
    path = zipped(tmp_path / "x", {"description.json": json.dumps(ABOUT), "a.npy": headed(header, bytes(4))})
    with refused(path, fact):
        load(path)


MEMBERS = {
    "other version": ({"a.npy": b"\x93NUMPY\x02\x00" + bytes(20)}, "not an array"),
    "no array": ({"a.npy": b"nothing"}, "not an array"),
    "empty": ({"a.npy": b""}, "not an array"),
    "too long": ({"a.npy": npy([1.0]) + b"x"}, "states 8 bytes and has 9"),
    "too short": ({"a.npy": npy([1.0])[:-1]}, "states 8 bytes and has 7"),
    "half true": ({"a.npy": npy(np.array([True]))[:-1] + b"\x02"}, "truth values other than 0 and 1"),
    "no text": ({"a.npy": npy(np.array(["x"]))[:-4] + b"\xff" * 4}, "no Unicode"),
    "other member": ({"readme.txt": b"x"}, "'readme.txt' is no array"),
    "no description": ({"description.json": None}, "no description"),
    "a list": ({"description.json": b"[]"}, "not an object"),
    "no json": ({"description.json": b"{"}, "Expecting"),
    "no utf-8": ({"description.json": b'{"a": "\xff"}'}, "decode"),
    "surrogate": ({"description.json": b'{"kind": "thing", "version": 1, "a": "\\ud800"}'}, "surrogates"),
    "other kind": ({"description.json": b'{"kind": "else", "version": 1}'}, "it holds 'else'"),
    "no kind": ({"description.json": b"{}"}, "it holds None"),
    "no version": ({"description.json": b'{"kind": "thing"}'}, "its version is None"),
    "version of text": ({"description.json": b'{"kind": "thing", "version": "1"}'}, "its version is '1'"),
    "version 0": ({"description.json": b'{"kind": "thing", "version": 0}'}, "its version is 0"),
    "deep": ({"description.json": b'{"a": ' + b"[" * 9000 + b"]" * 9000 + b"}"}, "(?:recursion|it holds None)"),
    "many lists": ({"description.json": b"[" + b"[]," * 20_000 + b"[]]"}, "too large"),
    "long number": ({"description.json": b'{"a": ' + b"9" * 5000 + b"}"}, "digits"),
}


@pytest.mark.parametrize(("changes", "fact"), MEMBERS.values(), ids=MEMBERS)
def test_members_that_are_not_written_are_refused(tmp_path, changes, fact):
    members = {"description.json": json.dumps(ABOUT).encode(), "a.npy": npy([1.0]), **changes}
    path = zipped(tmp_path / "x", {name: content for name, content in members.items() if content is not None})
    with refused(path, fact):
        load(path)


def test_a_newer_layout_says_what_to_do(tmp_path):
    path = zipped(tmp_path / "x", {"description.json": b'{"kind": "thing", "version": 2}'})
    with pytest.raises(
        ValueError, match=r"must be of layout 1 at most \(a newer gnomon wrote layout 2\)\. Update gnomon"
    ):
        load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(tmp_path, method):
    path = zipped(tmp_path / "x", {"description.json": json.dumps(ABOUT), "a.npy": npy([1.0])}, method)
    with refused(path, "encrypted or compressed in another way"):
        load(path)


def test_encrypted_members_are_refused(tmp_path):
    path = zipped(tmp_path / "x", {"description.json": json.dumps(ABOUT)})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with refused(path, "encrypted"):
        load(path)


def test_members_of_one_name_are_refused(tmp_path):
    path = zipped(tmp_path / "x", {"description.json": json.dumps(ABOUT), "a.npy": npy([1.0]), "b.npy": npy([2.0])})
    path.write_bytes(path.read_bytes().replace(b"b.npy", b"a.npy"))
    with refused(path, "'a.npy' occurs twice"):
        load(path)


def test_a_size_beyond_what_deflate_can_make_is_refused_before_memory_is_taken(tmp_path):
    size = 2**32 - 2
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % (size - 128)
    path = zipped(tmp_path / "x", {"description.json": json.dumps(ABOUT), "a.npy": headed(header.ljust(117))})
    content = bytearray(path.read_bytes())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", size)
    path.write_bytes(content)
    tracemalloc.start()
    with refused(path, f"claims {size} bytes and can hold"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_members_that_share_their_bytes_are_refused(tmp_path):
    """A few bytes that many members claim as theirs would inflate to any size."""
    path = zipped(tmp_path / "x", {"description.json": json.dumps(ABOUT), "a.npy": npy(np.zeros(10**5))})
    content = path.read_bytes()
    directory = content.rindex(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entry = content[directory:end]
    copies = b"".join(entry.replace(b"a.npy", b"%c.npy" % letter) for letter in range(ord("b"), ord("z")))
    tail = bytearray(content[end:])
    tail[8:12] = struct.pack("<HH", 26, 26)
    start = content.index(b"PK\x01\x02")
    tail[12:16] = struct.pack("<I", end - start + len(copies))
    path.write_bytes(content[:end] + copies + bytes(tail))
    with refused(path, "claim more bytes than the file has"):
        load(path)


def test_a_directory_that_lost_a_member_is_refused(tmp_path):
    path = save(tmp_path / "x")
    content = path.read_bytes()
    last, end = content.rindex(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    tail = bytearray(content[end:])
    tail[12:16] = struct.pack("<I", last - content.index(b"PK\x01\x02"))
    path.write_bytes(content[:last] + bytes(tail))
    with refused(path, "its directory is not complete"):
        load(path)


def test_a_large_description_is_neither_written_nor_read(tmp_path):
    with (
        running(name="save"),
        pytest.raises(ValueError, match=r"^save: a thing must be one that a file can hold \(.*too large\)"),
    ):
        write_archive(tmp_path / "x", kind="thing", version=1, arrays={}, description={"many": [[]] * 20_000})
    assert not (tmp_path / "x").exists()
    text = json.dumps({**ABOUT, "brackets in text are none": "[{" * 20_000, "path": "C:\\udder\\new"})
    assert load(zipped(tmp_path / "y", {"description.json": text}))[1]["version"] == 1
    start = time.perf_counter()
    path = zipped(tmp_path / "z", {"description.json": b'{"a": "' + bytes(33 * 2**20) + b'"}'})
    with refused(path, "too large"):
        load(path)
    assert time.perf_counter() - start < 10.0


def test_what_is_not_there_is_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


@pytest.mark.parametrize(
    ("header", "fits"),
    [
        (b"[" * 10_000, True),
        (b"[" * 10_001, False),
        (b"{[" * 5_000 + b'"[[{{"', True),
        (b"{[" * 5_000 + b'"[[{{"{', False),
        (b'"' + b"[" * 10_001 + b'"', True),
        (b"x" * 32 * 2**20, True),
        (b"x" * (32 * 2**20 + 1), False),
    ],
)
def test_a_description_has_32_mib_and_10_000_lists_and_objects_at_most(header, fits):
    if fits:
        _check_description(header)
    else:
        with pytest.raises(ValueError, match=r"^its description is too large$"):
            _check_description(header)


def member(name="a.npy", size=8, packed=8, method=zipfile.ZIP_STORED, flags=0):
    info = zipfile.ZipInfo(name)
    info.file_size, info.compress_size, info.compress_type, info.flag_bits = size, packed, method, flags
    return info


def directory(*infos, size=1000, count=None, begins=b"PK\x05\x06"):
    """Check members as if a zip had them."""
    count = len(infos) if count is None else count
    end = begins + bytes(6) + count.to_bytes(2, "little") + b"\xff" * 10
    return _check_members(SimpleNamespace(infolist=lambda: list(infos)), size, end)


ABOUT_MEMBER = member("description.json")


def test_members_are_known_by_their_names():
    found = directory(ABOUT_MEMBER, member(), member("b.npy", 1032, 1, zipfile.ZIP_DEFLATED), size=17)
    assert list(found) == ["description.json", "a.npy", "b.npy"]
    many = [member(f"{i}.npy") for i in range(299)]
    assert len(directory(ABOUT_MEMBER, *many, size=2400)) == 300
    assert directory(member("description.json", 32 * 2**20, 32 * 2**20), size=2**26)


@pytest.mark.parametrize(
    ("infos", "options", "fact"),
    [
        ([member()], {}, "it has no description"),
        ([ABOUT_MEMBER, member()], {"count": 1}, "its directory is not complete"),
        ([ABOUT_MEMBER, member()], {"count": 258}, "its directory is not complete"),
        ([ABOUT_MEMBER, member()], {"begins": b"PK\x05\x07"}, "its directory is not complete"),
        ([ABOUT_MEMBER, member(), member()], {}, "member 'a.npy' occurs twice"),
        ([ABOUT_MEMBER, member("a.txt")], {}, "member 'a.txt' is no array"),
        ([ABOUT_MEMBER, member(flags=1)], {}, "member 'a.npy' is encrypted or compressed in another way than deflate"),
        ([ABOUT_MEMBER, member(method=zipfile.ZIP_LZMA)], {}, "member 'a.npy' is encrypted or compressed in another"),
        ([ABOUT_MEMBER, member(size=9)], {}, "member 'a.npy' claims 9 bytes and can hold 8 at most"),
        (
            [ABOUT_MEMBER, member("b.npy", 1033, 1, zipfile.ZIP_DEFLATED)],
            {},
            "member 'b.npy' claims 1033 bytes and can hold 1032 at most",
        ),
        ([ABOUT_MEMBER, member()], {"size": 15}, "its members claim more bytes than the file has"),
        ([member("description.json", 32 * 2**20 + 1, 2**26)], {"size": 2**27}, "its description is too large"),
    ],
)
def test_members_that_no_file_has_are_refused(infos, options, fact):
    with pytest.raises(ValueError, match=f"^{fact}"):
        directory(*infos, **options)
    directory(ABOUT_MEMBER, member(flags=2))  # how hard it was tried to compress


@pytest.mark.parametrize(("length", "fits"), [(1024, True), (1025, False)])
def test_headers_have_1024_bytes_at_most(length, fits):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(length - 1)
    stream = io.BytesIO(headed(header, bytes(24)))
    if fits:
        assert _read_header(stream, "a") == ((2, 3), np.dtype("<f4"), 10 + length)
        return
    with pytest.raises(ValueError, match=r"^a has a header of 1025 bytes, more than any that gnomon writes$"):
        _read_header(stream, "a")


def test_the_same_content_gives_the_same_file_and_any_size_has_room(tmp_path):
    assert save(tmp_path / "x").read_bytes() == save(tmp_path / "y").read_bytes()
    with zipfile.ZipFile(tmp_path / "x") as archive:
        infos = archive.infolist()
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert all(info.extract_version >= 45 for info in infos if info.filename.endswith(".npy"))  # beyond 4 GiB
    assert {info.compress_type for info in infos} == {zipfile.ZIP_DEFLATED}


def test_arrays_of_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="allow_pickle=False"):
        write_archive(tmp_path / "x", kind="thing", version=1, arrays={"a": np.array([None])}, description={})
    assert not (tmp_path / "x").exists()


def test_arrays_of_any_shape_and_text_of_any_letter_are_read(tmp_path):
    arrays = {
        "scalar": np.array(3.5),
        "empty": np.zeros((0, 3), np.float32),
        "none": np.zeros(0, bool),
        "last": np.array(["\U0010ffff", ""]),
        "turned": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "stamps": np.array(["2020-01-01"], dtype="M8[ns]"),
        "swapped": np.arange(3, dtype=">i2"),
    }
    write_archive(tmp_path / "x", kind="thing", version=1, arrays=arrays, description={})
    found, _ = load(tmp_path / "x")
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].flags.writeable


def test_what_else_gnomon_saves_is_told(tmp_path):
    path = zipped(tmp_path / "x", {"description.json": b'{"kind": "gnomon-atlas", "version": 1}'})
    with pytest.raises(
        ValueError,
        match=r"^load: file .* must be a thing file \(it holds 'gnomon-atlas'\)\. Read it with gnomon\.load\.$",
    ):
        load(path)
    assert read_kind(path, ["gnomon-map", "gnomon-atlas"]) == "gnomon-atlas"
    for text in (b'{"kind": "else"}', b'{"kind": ["gnomon-map"]}', b"{}"):
        zipped(path, {"description.json": text})
        with (
            running(name="load"),
            pytest.raises(ValueError, match=r"must be a complete gnomon-map or b file \(it holds"),
        ):
            read_kind(path, ["gnomon-map", "b"])


@pytest.mark.parametrize("version", [True, 1.0, -1, None])
def test_a_version_is_a_whole_number(tmp_path, version):
    path = zipped(tmp_path / "x", {"description.json": json.dumps({"kind": "thing", "version": version})})
    with refused(path, f"its version is {version!r}"):
        load(path)


def test_what_is_wrong_is_told_before_an_array_is_read(tmp_path):
    seen = []

    def check(description, shapes):
        seen.append((description, shapes))
        raise ValueError("it is of no use")

    save(tmp_path / "x")
    with (
        running(name="load"),
        pytest.raises(ValueError, match=r"must be a complete thing file \(it is of no use\)\. Save"),
    ):
        read_archive(tmp_path / "x", kind="thing", version=1, check=check)
    assert seen == [({**ABOUT, "more": [1, "x"]}, {name: array.shape for name, array in ARRAYS.items()})]


def test_errors_of_the_system_stay_what_they_are_but_for_places_outside_of_the_file(tmp_path):
    def ends(code):
        def check(description, shapes):
            raise OSError(code, "so it is")

        return read_archive(tmp_path / "x", kind="thing", version=1, check=check)

    save(tmp_path / "x")
    with pytest.raises(OSError, match="so it is") as caught:
        ends(errno.EIO)
    assert caught.value.errno == errno.EIO
    with pytest.raises(ValueError, match=r"must be a complete thing file \(an offset leads out of the file\)"):
        ends(errno.EINVAL)


def test_long_facts_are_cut(tmp_path):
    def check(description, shapes):
        raise ValueError("x" * 400 + ".")

    save(tmp_path / "x")
    with pytest.raises(ValueError, match=r"\(x{300}\)\. Save it again\.$"):
        read_archive(tmp_path / "x", kind="thing", version=1, check=check)
    path = zipped(tmp_path / "y", {"description.json": json.dumps({"kind": "k" * 90, "version": 1})})
    with refused(path, "it holds 'k{59}"):
        load(path)
