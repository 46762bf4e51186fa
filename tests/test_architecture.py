"""The house stands as planned: rooms import only from lower floors, and each kernel belongs to one room."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import gnomon
from gnomon import _core

_PACKAGE = Path(gnomon.__file__).parent

_FLOORS = {
    0: [
        "_validation",
        "_machine",
        "_cached",
        "_run",
        "_entrance",
        "_estimator",
        "_random",
        "_threads",
        "_progress",
        "_archive",
        "_files",
        "_costs",
        "_memory",
        "_optional",
        "_palette",
        "_printed",
        "exceptions",
    ],
    1: ["_arithmetic"],
    2: ["_false_discoveries", "linalg", "kernels", "data", "surfaces"],
    3: ["completion", "neighbors", "storage"],
    4: ["affinities", "geometry", "scale"],
    5: ["initialization", "objectives", "explanations", "evaluation"],
    6: ["optimizers", "plot", "viewer"],
    7: ["extension", "theory", "notebook", "server"],
    8: ["methods"],
    9: ["clusters"],
    10: ["comparison", "spectrum", "datasets", "twins"],
    11: ["maps"],
    12: ["cli", "anndata"],
    13: ["__main__"],
}
_FLOOR = {room: floor for floor, rooms in _FLOORS.items() for room in rooms}
_FACADE = "__init__"  # src/gnomon/__init__.py: names what is public and imports nothing itself
_NO_KERNELS = {
    "data",
    "scale",
    "plot",
    "viewer",
    "notebook",
    "server",
    "methods",
    "comparison",
    "maps",
    "spectrum",
    "datasets",
    "cli",
    "anndata",
}  # compute through others


@dataclass(frozen=True)
class Import:
    """One imported module, in the file that imports it; `for_types` if only type checkers see it."""

    file: str
    line: int
    target: str
    for_types: bool


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # where a statement keeps others


def _statements(body: Iterable[ast.AST], for_types: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Walk statements, those of functions included; say of each whether it stands under `if TYPE_CHECKING`."""
    for one in body:
        yield one, for_types
        for part in _BODIES:
            inner = getattr(one, part, ())
            if inner and isinstance(inner, list):
                yield from _statements(inner, for_types or (part == "body" and _is_type_checking(one)))


@cache
def _imports(source: str, file: str) -> list[Import]:
    """Return what a file of gnomon imports from gnomon, as full dotted names.

    ``from gnomon.neighbors import graph`` gives "gnomon.neighbors.graph": whether the last part is a module does not
    matter for the room.
    """
    found = []
    parent = ["gnomon", *Path(file).parts[:-1]]
    for node, for_types in _statements(ast.parse(source).body):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parent[: len(parent) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        found += [Import(file, getattr(node, "lineno", 0), name, for_types) for name in names]
    return [one for one in found if one.target.split(".")[0] == "gnomon"]


def _room(file: str) -> str:
    return Path(file).parts[0].removesuffix(".py")


def _broken_floors(imports: list[Import]) -> list[str]:
    """Name the imports that do not lead down to a lower floor; those for types may also lead to the same one."""
    broken = []
    for one in imports:
        room, parts = _room(one.file), one.target.split(".")
        target = parts[1] if len(parts) > 1 else _FACADE
        if target in (room, "_core", "__version__") or room == _FACADE:
            continue
        here, there = _FLOOR[room], _FLOOR.get(target, _FLOOR["maps"])  # public names of the facade: for the cli alone
        if there == here == 0:
            continue  # the foundation's files may use each other; a test below excludes circles
        if there > here or (there == here and not one.for_types):
            broken.append(f"{one.file}:{one.line} imports {one.target}")
    return broken


@cache
def _core_functions(source: str, file: str) -> set[str]:
    """Return the functions of gnomon._core that a file uses; classes such as OutputKernel may cross doors as values."""
    aliases, used = set(), set()
    if "_core" not in source:
        return used
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "gnomon._core":
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            aliases |= {alias.asname or alias.name for alias in node.names if alias.name == "_core"}
        elif isinstance(node, ast.Import):
            aliases |= {alias.asname or alias.name for alias in node.names if alias.name == "gnomon._core"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in aliases:
            used.add(node.attr)
    return {name for name in used if not isinstance(getattr(_core, name, None), type)}


_SOURCES = {str(path.relative_to(_PACKAGE)): path.read_text() for path in sorted(_PACKAGE.rglob("*.py"))}


def _all_imports() -> list[Import]:
    return [one for file, source in _SOURCES.items() for one in _imports(source, file)]


def test_every_room_has_a_floor():
    assert {_room(file) for file in _SOURCES} <= _FLOOR.keys() | {_FACADE}


def test_rooms_import_only_from_lower_floors():
    assert _broken_floors(_all_imports()) == []


def test_the_facade_imports_nothing_at_run_time():
    assert [one for one in _all_imports() if one.file == "__init__.py" and not one.for_types] == []


def test_each_kernel_is_used_by_one_room_that_owns_kernels():
    users: dict[str, set[str]] = {}
    for file, source in _SOURCES.items():
        for function in _core_functions(source, file):
            users.setdefault(function, set()).add(_room(file))
    assert {function: rooms for function, rooms in users.items() if len(rooms) > 1} == {}
    allowed = _FLOOR.keys() - _NO_KERNELS - set(_FLOORS[0])
    assert {function: rooms for function, rooms in users.items() if not rooms <= allowed} == {}


def test_every_kernel_that_is_used_exists():
    used = {function for file, source in _SOURCES.items() for function in _core_functions(source, file)}
    assert {function for function in used if not hasattr(_core, function)} == set()


def test_each_kernel_is_registered_once():
    """Two bindings of one name make an overload set, of which the first registered silently answers every call."""
    bindings = Path(__file__).parent.parent / "cpp" / "bindings"
    where: dict[str, set[str]] = {}
    for path in bindings.glob("*.cpp"):
        for name in re.findall(r"""\bm\.def\(\s*"(\w+)\"""", path.read_text()):
            where.setdefault(name, set()).add(path.name)
    assert "wait" in where
    assert {name: files for name, files in where.items() if len(files) > 1} == {}


@cache
def _homes() -> dict[str, str]:
    """Name of a room, where a stub says which file holds it: "gnomon.neighbors.k_means" to the module."""
    stubs = {str(path.relative_to(_PACKAGE)): path.read_text() for path in sorted(_PACKAGE.rglob("__init__.pyi"))}
    found = {}
    for file, source in stubs.items():
        room = ".".join(["gnomon", *Path(file).parts[:-1]])
        for one in _imports(source, file):
            home, _, name = one.target.rpartition(".")
            found[f"{room}.{name}"] = home
    return found


def test_no_name_of_a_room_is_that_of_a_file_in_it():
    """Importing such a file would put the module in the place of what the room means by its name."""
    files = {path.relative_to(_PACKAGE.parent).with_suffix("") for path in _PACKAGE.rglob("*")}
    named = {name for name, home in _homes().items() if name.rpartition(".")[0] != home}
    assert "gnomon.neighbors.k_means" in named
    assert [name for name in sorted(named) if Path(*name.split(".")) in files] == []


def _circles(edges: dict[str, set[str]]) -> list[str]:
    """Return files that reach themselves through their imports."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(edges[start])
        while waiting:
            file = waiting.pop()
            if file not in seen:
                seen.add(file)
                waiting += edges.get(file, ())
        return seen

    return [file for file in edges if file in reached(file)]


def _edges(sources: dict[str, str]) -> dict[str, set[str]]:
    """File to file: the module that is imported, or the one that holds the imported name; not the packages above it."""
    modules = {"gnomon." + file.removesuffix(".py").replace("/", "."): file for file in sources}
    modules |= {name.removesuffix(".__init__"): file for name, file in modules.items() if name.endswith(".__init__")}
    modules |= {name: modules[home] for name, home in _homes().items() if home in modules and name not in modules}
    edges: dict[str, set[str]] = {}
    for file, source in sources.items():
        targets = edges.setdefault(file, set())
        for one in _imports(source, file):
            found = modules.get(one.target) or modules.get(one.target.rpartition(".")[0])
            if found is not None and not one.for_types and found != file and found != "__init__.py":
                targets.add(found)
    return edges


def test_no_file_imports_itself_through_others():
    assert _circles(_edges(_SOURCES)) == []


@cache
def _exported(source: str) -> frozenset[str] | None:
    """Return the names in a file's list of what it gives; None for a file without a list."""
    listed = re.search(r"^__all__ = ([\[(][^])]*[\])])", source, re.MULTILINE)
    return frozenset(ast.literal_eval(listed[1])) if listed else None


def _unlisted(sources: dict[str, str]) -> list[str]:
    """Name the imports of what the giver's ``__all__`` does not list."""
    modules = {"gnomon." + file.removesuffix(".py").replace("/", "."): file for file in sources}
    found = []
    for file, source in sources.items():
        for one in _imports(source, file):
            home, _, name = one.target.rpartition(".")
            given = _exported(sources[modules[home]]) if home in modules and one.target not in modules else None
            if given is not None and name not in given:
                found.append(f"{file}:{one.line} imports {one.target}")
    return found


def test_what_a_file_imports_is_listed_by_the_one_that_gives_it():
    assert _unlisted(_SOURCES) == []


# The tests above pass on any house if the walker is blind: it has to see each kind of trespass.


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("neighbors/exact.py", "from gnomon.methods import UMAP"),
        ("neighbors/exact.py", "import gnomon.methods.neighbor.umap"),
        ("neighbors/exact.py", "from ..methods import UMAP"),
        ("neighbors/deep/exact.py", "from ...methods.umap import UMAP"),
        ("neighbors/exact.py", "def f():\n    if True:\n        from gnomon.maps import Map"),
        ("neighbors/exact.py", "try:\n    pass\nexcept ValueError:\n    from gnomon.maps import Map"),
        ("neighbors/exact.py", "match 1:\n    case 1:\n        with f():\n            from gnomon.maps import Map"),
        ("neighbors/exact.py", "from gnomon import UMAP"),
        ("neighbors/exact.py", "import gnomon"),
        ("neighbors/exact.py", "from gnomon import map"),
        ("neighbors/exact.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gnomon.maps import Map"),
        ("explanations/base.py", "from gnomon.evaluation import evaluate"),
        ("explanations/base.py", "if TYPE_CHECKING:\n    pass\nelse:\n    from gnomon.evaluation import evaluate"),
        ("_random.py", "from gnomon.linalg import svd"),
        ("maps.py", "from gnomon.cli import main"),
        ("maps.py", "import gnomon"),
    ],
)
def test_a_way_up_or_aside_is_seen(file, source):
    assert len(_broken_floors(_imports(source, file))) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("methods/umap.py", "from gnomon.neighbors import compute_neighbors"),
        ("methods/umap.py", "from .base import Method"),
        ("methods/umap.py", "from ..neighbors.graph import NeighborGraph\nfrom gnomon._machine import usable_cpus"),
        (
            "explanations/base.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gnomon.evaluation import Evaluation",
        ),
        ("neighbors/exact.py", "from gnomon import _core\nimport numpy\nfrom gnomonics import methods"),
        ("_random.py", "from gnomon._validation import message"),
        ("cli/main.py", "from gnomon import __version__"),
        ("cli/main.py", "def f():\n    import gnomon\n    from gnomon import UMAP"),
    ],
)
def test_a_way_down_is_no_trespass(file, source):
    assert _broken_floors(_imports(source, file)) == []


@pytest.mark.parametrize(
    "source",
    [
        "from gnomon import _core\n_core.distances(1)",
        "from gnomon import _core as kernels\nkernels.distances(1)",
        "import gnomon._core\ngnomon._core.distances(1)",
        "import gnomon._core as c\ndef f(): return c.distances",
        "from gnomon._core import distances as d",
        "from .. import _core\n_core.distances(1)",
    ],
)
def test_the_use_of_a_kernel_is_seen(source):
    assert _core_functions(source, "neighbors/exact.py") == {"distances"}


def test_a_circle_is_seen():
    sources = {
        "a/__init__.py": "from gnomon.a.one import f",
        "a/one.py": "from gnomon.a.two import g",
        "a/two.py": "def g():\n    from .one import f",
        "a/three.py": "from gnomon.a import one",
    }
    assert sorted(_circles(_edges(sources))) == ["a/one.py", "a/two.py"]


def test_an_import_of_what_is_not_listed_is_seen():
    sources = {
        "a/one.py": '__all__ = ["f"]\ndef f(): ...\ndef g(): ...',
        "a/two.py": "def h(): ...",
        "a/three.py": "from gnomon.a.one import f\nfrom gnomon.a.two import h\nfrom gnomon.a import one",
        "b.py": "def k():\n    from gnomon.a.one import f, g",
    }
    assert _unlisted(sources) == ["b.py:2 imports gnomon.a.one.g"]
