"""What a person sees in a terminal: tables of text and progress bars."""

from .html import STYLE, table_html
from .progress import show_progress, shows_progress
from .result import Result, as_columns, by_query, tables_of
from .tables import (
    Ranges,
    Table,
    bracketed,
    clip,
    definitions,
    number,
    paragraph,
    probability,
)
from .terminal import printable, warn
from .words import meaning
