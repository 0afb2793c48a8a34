"""Files of rankings: LETOR text, CSV, Parquet and TREC, read whole or in batches.

The readers are public in `tieaware_sklearn.datasets`.
"""
