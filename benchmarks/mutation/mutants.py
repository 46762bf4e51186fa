"""Small errors that programmers make, each put into one place of a source text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["Mutant", "mutants_of"]

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_OPPOSITES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "nanmin": "nanmax",
    "nanmax": "nanmin",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
}


@dataclass(frozen=True)
class Mutant:
    """One error in one place.

    Attributes
    ----------
    file : str
        Path below src.
    function : str
        The function or class that holds the place, with dots; "" at the top of the file.
    first, last : int
        Lines from the head of the statement to the end of what changes; 1 is the first of the file.
    line : int
        Where what changes begins.
    before, after : str
        The lines that change, without what differs only by space.
    at_import : bool
        Whether the place is reached when the file is imported, not when a function is called.
    begin, end : int
        The bytes of the source in whose place `new` stands.
    new : str
        What stands there.
    """

    file: str
    function: str
    first: int
    last: int
    line: int
    before: str
    after: str
    at_import: bool
    begin: int
    end: int
    new: str

    @property
    def key(self) -> str:
        """What names the mutant whatever stands above it in the file."""
        return f"{self.file} {self.function or '-'}: {self.before} -> {self.after}"

    def put_into(self, source: str) -> str:
        """Return the source with the error."""
        encoded = source.encode()
        return (encoded[: self.begin] + self.new.encode() + encoded[self.end :]).decode()


def mutants_of(source: str, file: str) -> list[Mutant]:
    """Return all mutants of a source text.

    Annotations, decorators of dataclasses, docstrings, f-strings, `__all__` and what only type checkers see are left
    as they are, and so is every text: what messages say is compared by people.
    """
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: dict[tuple[int, int, str], Mutant] = {}
    for place, new in _errors(ast.parse(source)):
        first, last = place.node.lineno, place.node.end_lineno or place.node.lineno
        begin = starts[first - 1] + place.node.col_offset
        end = starts[last - 1] + (place.node.end_col_offset or 0)
        head, tail = b"".join(lines[first - 1 : last]), lines[last - 1][end - starts[last - 1] :]
        found[begin, end, new] = Mutant(
            file=file,
            function=place.function,
            first=min(place.statement.lineno, first),
            last=last,
            line=first,
            before=" ".join(head.decode().split()),
            after=" ".join((head[: place.node.col_offset].decode() + new + tail.decode()).split()),
            at_import=place.at_import,
            begin=begin,
            end=end,
            new=new,
        )
    return list(found.values())


@dataclass(frozen=True)
class _Place:
    node: ast.expr | ast.stmt
    statement: ast.stmt
    function: str
    at_import: bool


def _errors(tree: ast.Module) -> Iterator[tuple[_Place, str]]:
    """Yield places with the text that takes their place."""
    yield from _of_body(tree.body, "", at_import=True)


def _of_body(body: list[ast.stmt], function: str, *, at_import: bool) -> Iterator[tuple[_Place, str]]:
    for statement in body:
        is_import = isinstance(statement, (ast.Import, ast.ImportFrom))
        if not (is_import or _for_types(statement) or _is_of_names(statement)):
            yield from _of_statement(_Place(statement, statement, function, at_import))


def _of_statement(place: _Place) -> Iterator[tuple[_Place, str]]:
    statement, inside, at_import = place.statement, place.function, place.at_import
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        inside = f"{inside}.{statement.name}".lstrip(".")
        at_import = at_import and isinstance(statement, ast.ClassDef)
    if _can_go(statement):
        yield place, "pass"
    if isinstance(statement, (ast.Break, ast.Continue)):
        yield place, "continue" if isinstance(statement, ast.Break) else "break"
    if isinstance(statement, ast.Return) and statement.value is not None and not _is_none(statement.value):
        yield place, "return None"
    if isinstance(statement, (ast.If, ast.While)):
        yield _negated(statement.test, place)
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _OPERATORS:
        other = ast.AugAssign(statement.target, _OPERATORS[type(statement.op)](), statement.value)
        yield place, ast.unparse(other)
    for part in _parts(statement):
        yield from _of_expression(part, replace(place, function=inside))
    for name in ("body", "orelse", "finalbody"):
        yield from _of_body(getattr(statement, name, None) or [], inside, at_import=at_import)
    for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
        yield from _of_body(handler.body, inside, at_import=at_import)


def _parts(statement: ast.stmt) -> list[ast.expr]:
    """Return the expressions of a statement itself, not of what it holds, without annotations."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*statement.decorator_list, *_defaults(statement)]  # those of classes are decorators of dataclasses
    if isinstance(statement, ast.ClassDef):
        return []
    if isinstance(statement, ast.AnnAssign):
        return [] if statement.value is None else [statement.value]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return []
    entered = [item.context_expr for item in getattr(statement, "items", [])]  # of a `with`
    return [*(one for one in ast.iter_child_nodes(statement) if isinstance(one, ast.expr)), *entered]


def _defaults(statement: ast.stmt) -> list[ast.expr]:
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    return [one for one in [*statement.args.defaults, *statement.args.kw_defaults] if one is not None]


def _of_expression(node: ast.expr, around: _Place) -> Iterator[tuple[_Place, str]]:
    if isinstance(node, ast.JoinedStr):
        return
    for new in _instead(node):
        yield replace(around, node=node), f"({ast.unparse(new)})"
    if isinstance(node, ast.IfExp):
        yield _negated(node.test, around)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _of_expression(child, around)
        elif isinstance(child, ast.keyword):
            yield from _of_expression(child.value, around)
        elif isinstance(child, ast.comprehension):
            yield from _of_expression(child.iter, around)
            for test in child.ifs:
                yield _negated(test, around)
                yield from _of_expression(test, around)
    if isinstance(node, ast.Slice):
        yield from _moved(node, around)


def _instead(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what may stand where an expression stands."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            if type(operator) in _COMPARISONS:
                operators = [*node.ops]
                operators[i] = _COMPARISONS[type(operator)]()
                yield ast.Compare(node.left, operators, node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and not _joins_texts(node):
        yield ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield from node.values if len(node.values) == 2 else ()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, (int, float)):
            yield from (ast.Constant(value) for value in (node.value + 1, node.value - 1) if value != node.value)
    elif isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _OPPOSITES:
            function: ast.expr = ast.Name(_OPPOSITES[name])
            if isinstance(node.func, ast.Attribute):
                function = ast.Attribute(node.func.value, _OPPOSITES[name])
            yield ast.Call(function, node.args, node.keywords)


def _negated(test: ast.expr, around: _Place) -> tuple[_Place, str]:
    return replace(around, node=test), f"(not ({ast.unparse(test)}))"


def _moved(node: ast.Slice, around: _Place) -> Iterator[tuple[_Place, str]]:
    """Yield slices that begin or end one place away; bounds that are numbers change as all numbers do."""
    if node.lower is not None and not isinstance(node.lower, ast.Constant):
        yield replace(around, node=node.lower), f"{ast.unparse(node.lower)} + 1"
    if node.upper is not None and not isinstance(node.upper, ast.Constant):
        yield replace(around, node=node.upper), f"{ast.unparse(node.upper)} - 1"


def _can_go(statement: ast.stmt) -> bool:
    """Whether a program without this statement is still a program: calls, errors, and assignments to parts."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, (ast.Call, ast.Await))
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets)
    return isinstance(statement, (ast.Raise, ast.AugAssign, ast.Delete))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _joins_texts(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)))
        for side in sides
    ) or any(isinstance(side, ast.BinOp) and _joins_texts(side) for side in sides)


def _for_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _is_of_names(statement: ast.stmt) -> bool:
    """Whether a statement is `__all__ = [...]` or gives a name to a type."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    return statement.targets[0].id == "__all__" or statement.targets[0].id.endswith(("Array", "Arrays"))
