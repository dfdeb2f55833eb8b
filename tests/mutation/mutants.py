"""Find the small changes that could be made to a source file, each like a slip of the hand."""

from __future__ import annotations

import ast
import re
from bisect import bisect
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
SYMMETRIC = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "min", "max"}
"""Calls whose swapped arguments change nothing, or fail at once."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function."""

    file: str
    """Path in the tree, with slashes."""
    function: str
    """Qualified name in the file: ``Class.method``, ``outer.inner``."""
    function_line: int
    """Line of the ``def`` of that function."""
    line: int
    kind: str
    old: str
    """The changed lines before the change, as one line."""
    new: str
    """The same lines after it."""
    start: int
    """Offset of the change in the file, in bytes."""
    end: int
    text: str
    """What stands between ``start`` and ``end`` after the change."""
    nth: int = 1
    """Tells apart equal changes of equal lines of one function, from the top."""

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """Name the change without line numbers, which other edits move."""
        return self.file, self.function, self.old, self.new, self.nth

    def apply(self, source: str) -> str:
        """Return ``source``, the text of the file, with this change and as many lines."""
        raw = source.encode()
        removed_lines = raw[self.start : self.end].count(b"\n") - self.text.count("\n")
        changed = self.text + "\\\n" * removed_lines
        return (raw[: self.start] + changed.encode() + raw[self.end :]).decode()


def find_mutants(file: str, source: str) -> list[Mutant]:
    """Return every change of ``file``, from the top to the bottom; not all can be compiled."""
    finder = _Finder(file, source)
    tree = ast.parse(source)
    finder.visit(tree)
    counts: Counter[tuple[str, str, str, str, int]] = Counter()
    mutants = []
    for mutant in sorted(finder.mutants, key=lambda mutant: (mutant.start, mutant.end)):
        counts[mutant.key] += 1
        mutants.append(replace(mutant, nth=counts[mutant.key]))
    return mutants


def is_valid(mutant: Mutant, source: str) -> bool:
    """Tell whether the changed file can be compiled."""
    try:
        ast.parse(mutant.apply(source))
    except SyntaxError:
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Collects the changes of one file."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source.encode()
        self.line_starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line))
        self.names: list[str] = []
        self.function_line = 0
        self.mutants: list[Mutant] = []

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return where ``node`` starts and ends, in bytes."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.line_starts[node.lineno - 1] + node.col_offset,
            self.line_starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, kind: str, start: int, end: int, text: str) -> None:
        """Keep a change, if it stands in a function."""
        if not self.function_line:
            return
        line = bisect(self.line_starts, start)
        line_start = self.line_starts[line - 1]
        line_end = self.source.find(b"\n", end)
        line_end = len(self.source) if line_end < 0 else line_end
        before, after = self.source[line_start:start], self.source[end:line_end]
        changed = before + text.encode() + after
        self.mutants.append(
            Mutant(
                file=self.file,
                function=".".join(self.names),
                function_line=self.function_line,
                line=line,
                kind=kind,
                old=" ".join(self.source[line_start:line_end].decode().split()),
                new=" ".join(changed.decode().split()),
                start=start,
                end=end,
                text=text,
            )
        )

    def replace_operator(self, kind: str, left: ast.expr, right: ast.expr, words: tuple[str, str]) -> None:
        """Replace the first of ``words`` by the second, between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        between = self.source[start:end].decode()
        old, new = words
        pattern = r"\s+".join(map(re.escape, old.split()))
        changed, count = re.subn(pattern, new, between)
        if count == 1 and "#" not in between:
            self.add(kind, start, end, changed)

    # What belongs to which function

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        outer_line = self.function_line
        self.names.append(node.name)
        self.function_line = 0 if _is_stub(node) else node.lineno
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self.names.pop()
        self.function_line = outer_line

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.names.pop()

    # What is left alone: annotations, messages of errors, and texts

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    # What is changed

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = pairwise([node.left, *node.comparators])
        for (left, right), operator in zip(operands, node.ops, strict=True):
            self.replace_operator("comparison", left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            self.replace_operator("boolean operator", left, right, words)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = ARITHMETIC.get(type(node.op))
        if words and not any(map(_is_sequence, (node.left, node.right))):
            self.replace_operator("arithmetic", node.left, node.right, words)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start, _ = self.span(node)
            self.add("negation dropped", start, start + len("not"), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add("flag", *self.span(node), str(not node.value))
        elif isinstance(node.value, int | float):
            self.add("number", *self.span(node), repr(node.value + 1))

    def visit_If(self, node: ast.If) -> None:
        leaves = isinstance(node.body[0], ast.Return | ast.Raise | ast.Continue | ast.Break)
        if leaves and not node.orelse:
            self.add("guard dropped", *self.span(node.test), "False")
        self.negate_condition(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negate_condition(node)

    def visit_While(self, node: ast.While) -> None:
        self.negate_condition(node)

    def negate_condition(self, node: ast.If | ast.IfExp | ast.While) -> None:
        if isinstance(node.test, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            self.add("condition negated", *self.span(node.test), f"not {self.text(node.test)}")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self.add("filter dropped", *self.span(condition), "True")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.add("loop control", *self.span(node), "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add("loop control", *self.span(node), "break")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call | ast.Await):
            self.drop_statement(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.drop_statement(node)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        if not any(isinstance(target, ast.Name) for target in node.targets):
            self.drop_statement(node)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Drop an assignment to a place, or one that changes a variable it reads."""
        (target, *others) = node.targets
        changes_variable = isinstance(target, ast.Name) and any(
            isinstance(part, ast.Name) and part.id == target.id for part in ast.walk(node.value)
        )
        if not others and (isinstance(target, ast.Attribute | ast.Subscript) or changes_variable):
            self.drop_statement(node)
        self.generic_visit(node)

    def drop_statement(self, node: ast.stmt) -> None:
        self.add("statement dropped", *self.span(node), "pass")

    def visit_Call(self, node: ast.Call) -> None:
        called = self.text(node.func)
        if called in OPPOSITES:
            self.add("opposite function", *self.span(node.func), OPPOSITES[called])
        if len(node.args) >= 2 and called not in SYMMETRIC:
            first, second = node.args[:2]
            plain = all(isinstance(part, ast.Name | ast.Attribute) for part in (first, second))
            if plain and self.text(first) != self.text(second):
                start, end = self.span(first)[0], self.span(second)[1]
                swapped = f"{self.text(second)}, {self.text(first)}"
                self.add("arguments swapped", start, end, swapped)
        self.forget_keywords(node, called)
        self.visit(node.func)
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            if not _changes_nothing(keyword, called):
                self.visit(keyword.value)

    def forget_keywords(self, node: ast.Call, called: str) -> None:
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        parts = sorted(arguments, key=self.span)
        for index, part in enumerate(parts):
            if not isinstance(part, ast.keyword) or not part.arg:
                continue
            if _changes_nothing(part, called):
                continue
            start, end = self.span(part)
            if index + 1 < len(parts):
                end = self.span(parts[index + 1])[0]
            elif index:
                start = self.span(parts[index - 1])[1]
            self.add("keyword forgotten", start, end, "")


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a function only declares a signature: its body is a text or three dots."""
    return all(isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body)


def _is_sequence(node: ast.expr) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return text or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple)


def _changes_nothing(keyword: ast.keyword, called: str) -> bool:
    """Tell whether a keyword matters only elsewhere: on other systems, or after another bug."""
    return keyword.arg in ("encoding", "stacklevel") or (keyword.arg, called) == ("strict", "zip")
