"""What a person sees: tables in print and on pages, progress bars, warnings."""

from .html import (
    Result,
    as_columns,
    by_query,
    conclusion_of,
    figure_html,
    page,
    tables_of,
)
from .progress import show_progress, shows_progress
from .tables import Ranges, Table
from .words import (
    AVERAGES,
    bracketed,
    clip,
    counted,
    definitions,
    meaning,
    number,
    paragraph,
    printable,
    probability,
    warn,
    warn_of_removal,
)
