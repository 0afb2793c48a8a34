"""What several tests of this room share."""

from __future__ import annotations

from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=60, random_state=1)
TEXT, CLICKS = WEB.data[:, 5], WEB.data[:, 11]
SYSTEMS = {
    "text": TEXT,
    "clicks": CLICKS,
    "both": TEXT + CLICKS,
    "length": -WEB.data[:, 3],
}
LEVELS = ["rho=1.5", "bits=3", "decimals=0", "bits=float16", "rho=2.0"]
NAMES = ("exact", "rho=1.5", "bits=3", "decimals=0", "bits=float16", "rho=2.0")
