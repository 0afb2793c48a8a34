"""Files of rankings: LETOR text, CSV, Parquet and TREC, whole and in batches.

The readers are public in `tieaware_sklearn.datasets`.
"""

from ._batches import iter_batches, rows_of_batch, scan_files, track
from ._bunch import as_asked
from ._convert import check_form, convert, feature_numbers
from ._file_names import find_files
from ._letor import dump_letor, load_letor
from ._letor_format import GROUP_SUFFIXES
from ._query_digests import query_digests
from ._saved import Saved, kept_of, kept_sums, result_of, sums_of
from ._saved_file import Kept, UnreadableError, from_bytes, to_bytes
from ._scan import Scan
from ._sizes import bytes_of_tables
from ._sorted import SortedScan, sorted_by_query
from ._subtopic_qrels import load_subtopics
from ._table_columns import OneKind
from ._table_pieces import (
    GATHERED_ROWS,
    Piece,
    as_tables,
    check_different,
    gathered,
    of_all,
    pieces,
)
from ._tabular import load_table
from ._tabular_frames import all_tabular, is_tabular
from ._tabular_scan import is_nameless
from ._text_source import Location, TextSource
from ._trec import load_qrels, load_run, load_trec, trec_rows
from ._trec_dump import dump_qrels, dump_trec_run
from ._trec_files import read_qrels, read_run
from ._trec_given import given_qrels, given_run, is_table, run_names
from ._trec_lines import SCORE, TrecLines, as_text, spelled
from ._urls import is_url
from ._whole_file import check_writable, whole_file, write_whole
from ._whole_queries import whole_queries
from ._wording import in_one_line, listed
