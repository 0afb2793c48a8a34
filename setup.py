"""Build the compiled kernel; pyproject.toml has the rest of the build.

The environment variable TIEAWARE_KERNEL says how:

- unset: the kernel is compiled; if that fails, the library is installed without it,
- ``skip``: the kernel is left out, and the wheel is pure Python,
- ``require``: the kernel is compiled; if that fails, so does the installation.
"""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import SetupError

mode = os.environ.get("TIEAWARE_KERNEL", "")
if mode not in ("", "skip", "require"):
    sys.exit(f"TIEAWARE_KERNEL must be unset, 'skip' or 'require', got {mode!r}")


class BuildKernel(build_ext):
    """Compiles with the options of the compiler at hand, and says what failed."""

    def build_extension(self, ext):
        # no a * b + c in one instruction: it would not round as NumPy does
        ext.extra_compile_args = (
            ["/O2", "/fp:precise"]
            if self.compiler.compiler_type == "msvc"
            else ["-O2", "-g0", "-ffp-contract=off", "-fno-math-errno"]
        )
        try:
            super().build_extension(ext)
        except Exception as error:
            if ext.optional:  # setuptools warns, and goes on
                raise
            raise SetupError(
                "the kernel could not be compiled, and TIEAWARE_KERNEL=require allows "
                f"no installation without it: {error}"
            ) from error


kernel = [
    Extension(
        "tieaware_sklearn._kernel.walks",
        ["tieaware_sklearn/_kernel/walks.pyx"],
        depends=["tieaware_sklearn/_kernel/" + n for n in ("rows.pxd", "formulas.pxd")],
        optional=mode != "require",
    )
]


def readme():
    """README.md, whose links and pictures PyPI has to find elsewhere."""
    front = Path("tieaware_sklearn/_version.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', front, re.MULTILINE)
    at = "tieaware-sklearn/tieaware-sklearn"
    picture = rf"\1https://raw.githubusercontent.com/{at}/v{version}/"
    link = rf"\1https://github.com/{at}/blob/v{version}/"
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^]]*\]\()(?!https?:)", picture, text)
    return re.sub(r"(\]\()(?!https?:|#)", link, text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    ext_modules=[] if mode == "skip" else kernel,
    cmdclass={"build_ext": BuildKernel},
)
