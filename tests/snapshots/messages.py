"""All messages of errors and warnings as a text, found in the source.

A message is shown as it is written, an expression in it in braces. A name that stands
for one text in its function is replaced by the text; where a name has several texts,
each has a line of its own. Lines are sorted, so that moving code changes none.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house import PACKAGE, ROOT

#: classes of errors, whether they are raised where they are made or further up
ERROR = re.compile(r"(Error|Warning|Exception|Interrupt|Exit)$")
#: functions that warn or report; their first argument is the message
REPORTING = {"warn": "warning", "note": "note", "add_note": "note", "error": "error"}
#: modules of ours whose functions take rules, which are parts of messages
MODULES = {"checks", "messages", "exact_numbers", "feature_matrix", "_resolved"}
MODULES |= {"_wording"}
BUILT_IN = {"field", "print", "getattr", "len", "isinstance", "open", "partial"}
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
Texts = dict[str, list[ast.expr]]


def is_text(node: ast.expr) -> bool:
    """Whether an expression is a text that is written out, whole or in part."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left, ast.Add(), right):
            return is_text(left) or is_text(right)
        case ast.IfExp(body=body, orelse=orelse):
            return is_text(body) or is_text(orelse)
    return False


def is_sentence(node: ast.expr) -> bool:
    """Whether an expression is a text of several words."""
    return is_text(node) and any(
        isinstance(part, ast.Constant) and " " in str(part.value).strip()
        for part in ast.walk(node)
    )


def is_ours(function: ast.expr) -> bool:
    """Whether a function may take part of a message: it is no class, nor of a text."""
    match function:
        case ast.Name(name):
            return name.islower() and name not in BUILT_IN
        case ast.Attribute(ast.Name(module), name):
            return module in MODULES and name not in REPORTING and name != "require"
    return False


def code(node: ast.expr) -> str:
    """Return the source of an expression; versions of Python quote differently."""
    return ast.unparse(node).replace("'", '"')


class Function:
    """The texts of a function or module, by the names that they are bound to."""

    def __init__(self, scope: Scope, outer: "Function | None" = None):
        self.scope = scope
        self.name = getattr(scope, "name", "module")
        self.outer = outer
        self.bound: Texts = defaultdict(list)
        #: names of texts that are shown on lines of their own
        self.pending: list[str] = []
        for node in self.nodes():
            match node:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ):
                    self.bound[name].append(value)
                case ast.AugAssign(ast.Name(name), _, value):
                    self.bound[name].append(value)
                case ast.For(ast.Name(name), values) | ast.NamedExpr(
                    ast.Name(name), values
                ):
                    self.bound[name].append(values)

    def nodes(self) -> Iterator[ast.AST]:
        """Yield the nodes of the scope in order, without those of inner functions."""
        waiting: list[ast.AST] = list(ast.iter_child_nodes(self.scope))[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                waiting += list(ast.iter_child_nodes(node))[::-1]

    def texts(self, name: str) -> list[ast.expr]:
        """Return what a name is bound to, here or further out."""
        if name in self.bound or self.outer is None:
            return self.bound.get(name, [])
        return self.outer.texts(name)

    def rendered(self, node: ast.expr, depth: int = 4) -> str:
        """Return a message with expressions in braces."""
        match node:
            case ast.Constant(str(text)):
                return text.replace("\n", "\\n")
            case ast.JoinedStr(parts):
                return "".join(self.rendered(part, depth) for part in parts)
            case ast.FormattedValue(value, -1, None) if is_text(value):
                return self.rendered(value, depth)
            case ast.FormattedValue(ast.Name() as name, -1, None):
                return self.rendered(name, depth)
            case ast.FormattedValue(value, conversion, spec):
                shown = code(value) + (f"!{chr(conversion)}" if conversion > 0 else "")
                if spec is not None:
                    shown += f":{self.rendered(spec, depth)}"
                self.note_names(value)
                return f"{{{shown}}}"
            case ast.BinOp(left, ast.Add(), right) if is_text(node):
                return self.rendered(left, depth) + self.rendered(right, depth)
            case ast.Name(name):
                values = self.texts(name)
                if len(values) == 1 and is_text(values[0]) and depth:
                    return self.rendered(values[0], depth - 1)
                self.note_names(node)
                return f"{{{name}}}"
        self.note_names(node)
        return f"{{{code(node)}}}"

    def note_names(self, node: ast.expr) -> None:
        """Remember the names in an expression, whose texts get lines of their own."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id not in self.pending:
                self.pending.append(inner.id)

    def message_lines(self) -> Iterator[str]:
        """Yield the messages that are written out where they are used."""
        for node in self.nodes():
            match node:
                case ast.Call(error, [message, *_]) if ERROR.search(code(error)):
                    yield f"{code(error)}: {self.rendered(message)}"
                case ast.Call(ast.Attribute(attr="require"), [_, rule, *values]):
                    shown = "".join(f", got {{{code(value)}!r}}" for value in values)
                    yield f"ValueError: {self.rendered(rule)}{shown}"
                case ast.Call(ast.Attribute(attr=name), [message, *_]) if (
                    name in REPORTING
                ):
                    yield f"{REPORTING[name]}: {self.rendered(message)}"

    def part_lines(self) -> Iterator[str]:
        """Yield texts that become parts of messages: bound, returned, handed on.

        Only names in the messages of `message_lines` are looked at.
        """
        for name in self.pending:  # grows while texts are rendered
            for value in self.texts(name):
                if is_text(value):
                    yield f"{name} = {self.rendered(value)}"
        for node in self.nodes():
            match node:
                case ast.Return(value) if value is not None and is_sentence(value):
                    yield f"{self.name}() = {self.rendered(value)}"
                case ast.Call(function, arguments, keywords) if is_ours(function):
                    for value in [*arguments, *(word.value for word in keywords)]:
                        if is_sentence(value):
                            yield f"{code(function)}({self.rendered(value)})"


def functions(node: ast.AST, outer: Function) -> Iterator[Function]:
    """Yield the functions inside of a node, from the outer to the inner ones."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = Function(child, outer)
            yield function
            yield from functions(child, function)
        else:
            yield from functions(child, outer)


def messages_of(path: Path) -> list[str]:
    """Return the messages of a file, sorted."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    whole = Function(module)
    lines: set[str] = set()
    for function in [whole, *functions(module, whole)]:
        lines |= set(function.message_lines())
        lines |= set(function.part_lines())
    return sorted(lines)


def messages() -> str:
    """Return the messages of the package, file by file."""
    paragraphs = []
    for path in sorted(PACKAGE.rglob("*.py")):
        lines = messages_of(path)
        if lines:
            paragraphs.append("\n".join([path.relative_to(ROOT).as_posix(), *lines]))
    return "\n\n".join(paragraphs) + "\n"
