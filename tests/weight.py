"""How much a reader has to take in: ``python -m tests.weight`` lowers the limits.

Counts tokens of Python, without comments and docstrings, so that line breaks change
nothing. `weight.toml` has a limit for each count, and `test_weight.py` holds them. A
change that removes code lowers the limits in the same commit. A change that adds code
raises them in that file by hand, and its commit message gives the reason.
"""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMITS = Path(__file__).with_suffix(".toml")
NOT_COUNTED = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NL,
}
#: names that do not tell what they hold
PRONOUNS = {"every", "found", "given", "got", "how", "mine", "new", "of", "old"}
PRONOUNS |= {"one", "ones", "other", "others", "rule", "said", "some", "theirs"}
PRONOUNS |= {"there", "way", "ways", "what", "worth"}
HABITS = {
    "lists_times_a_condition": re.compile(
        r"""["')\]]\s\*\s(?:\(|bool\()[^)\n]*(?:is not|is None|not |>|<|==|bool)"""
    ),
    "require": re.compile(r"\brequire\("),
    "methodcaller": re.compile(r"\bmethodcaller\("),
    "frames": re.compile(r"_getframe|f_locals|f_globals"),
    "names_by_position": re.compile(r"^[A-Z_, ]+ = range\(", re.MULTILINE),
    "import_module": re.compile(r"\bimport_module\("),
    "fmt_skip": re.compile(r"# fmt: skip"),
}


def files(folder: str) -> list[Path]:
    """Return the Python files of a folder of the project."""
    return sorted((ROOT / folder).rglob("*.py"))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that are docstrings."""
    lines: set[int] = set()
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False):
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or 0) + 1))
    return lines


def tokens_per_statement(text: str) -> list[int]:
    """Return the number of tokens of each statement."""
    skipped = docstring_lines(ast.parse(text))
    statements = []
    n_tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if n_tokens:
                statements.append(n_tokens)
            n_tokens = 0
        elif token.type not in NOT_COUNTED and token.start[0] not in skipped:
            n_tokens += 1
    return statements


def assigned_names(text: str) -> Iterator[str]:
    """Yield the names of variables, arguments and functions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name.lstrip("_")


def public_names() -> set[str]:
    """Return the names that the fronts of the package list in `__all__`."""
    names = set()
    for path in files("tieaware_sklearn"):
        if path.name != "__init__.py":
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "__all__":
                constants = ast.walk(node.value)
                names |= {c.value for c in constants if isinstance(c, ast.Constant)}
    return names


def weigh() -> dict[str, float]:
    """Return all counts by name."""
    counts: dict[str, float] = {}
    for folder in ("tieaware_sklearn", "tests", "benchmarks"):
        statements = []
        for path in files(folder):
            statements += tokens_per_statement(path.read_text())
        n_long = sum(n_tokens > 40 for n_tokens in statements)
        if folder == "tieaware_sklearn":
            counts["tokens"] = sum(statements)
        counts[f"{folder}_tokens_per_statement"] = sum(statements) / len(statements)
        counts[f"{folder}_percent_above_40_tokens"] = 100 * n_long / len(statements)
    package = [path.read_text() for path in files("tieaware_sklearn")]
    names = [name for text in package for name in assigned_names(text)]
    counts["public_names"] = len(public_names())
    counts["pronouns"] = sum(name in PRONOUNS for name in names)
    for habit, pattern in HABITS.items():
        counts[habit] = sum(len(pattern.findall(text)) for text in package)
    return {name: round(count, 2) for name, count in counts.items()}


def limits() -> dict[str, float]:
    """Return the limits of all counts."""
    return tomllib.loads(LIMITS.read_text())


def lower_limits() -> None:
    """Write the counts that are below their limits as the new limits."""
    text = LIMITS.read_text()
    for name, count in weigh().items():
        if count < limits()[name]:
            text = re.sub(rf"^{name} = .*", f"{name} = {count:g}", text, flags=re.M)
    LIMITS.write_text(text)


if __name__ == "__main__":
    lower_limits()
    for name, count in weigh().items():
        print(f"{name:<45} {count:>10g} of {limits()[name]:g}")
