"""Files of rankings: LETOR text, CSV, Parquet and TREC, whole and in batches.

The readers are public in `tieaware_sklearn.datasets`.
"""

from ._batches import iter_batches, open_files, rows_of_batch, track
from ._frames import (
    GATHERED_ROWS,
    OneKind,
    Piece,
    as_tables,
    check_different,
    check_several,
    gathered,
    of_all,
    pieces,
    query_digests,
    whole_queries,
)
from ._letor import dump_letor, load_letor
from ._locate import (
    FORMATS,
    GROUP_SUFFIXES,
    Files,
    Location,
    Url,
    find_files,
    is_url,
    size_on_disk,
    which_file,
)
from ._rows import Rankings, as_asked
from ._saved import (
    Kept,
    Saved,
    UnreadableError,
    from_bytes,
    kept_of,
    kept_sums,
    sums_of,
    to_bytes,
)
from ._source import TextSource
from ._tables import is_nameless, load_table
from ._trec import load_qrels, load_run, load_subtopics, load_trec, trec_rows
from ._trec_dump import dump_qrels, dump_trec_run
from ._trec_lines import (
    SCORE,
    TrecLines,
    as_text,
    given_qrels,
    given_run,
    is_table,
    run_names,
    spelled,
)
from ._wording import listed, with_reasons
