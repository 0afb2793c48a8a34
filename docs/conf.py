"""Sphinx: ``sphinx-build -W -b html docs build/docs``."""

import tieaware_sklearn

project = "tieaware-sklearn"
author = "The tieaware-sklearn developers"
version = release = tieaware_sklearn.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb"]
html_theme = "furo"
html_title = f"tieaware-sklearn {version}"

# what scikit-learn adds for metadata routing is in its own manual
requests = ["fit", "partial_fit", "predict", "score", "split", "transform"]
generated = [f"set_{name}_request" for name in requests]
autodoc_default_options = {
    "members": True,
    "exclude-members": ", ".join(["get_metadata_routing", *generated]),
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
# what is in single backticks is code
default_role = "code"
myst_heading_anchors = 3
# notebooks show what is committed; the tests execute them
nb_execution_mode = "off"
