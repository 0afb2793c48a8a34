"""Files of rankings: LETOR text, CSV, Parquet and TREC, whole and in batches.

The readers are public in `tieaware_sklearn.datasets`.
"""
