"""What the library costs, and what it finds, measured."""

import os

# one thread each, said before the libraries that read it are imported
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
