"""Sphinx: ``sphinx-build -W -b html docs build/docs``."""

from docutils import nodes

import tieaware_sklearn

project = "tieaware-sklearn"
author = "The tieaware-sklearn developers"
version = release = tieaware_sklearn.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
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


def unlink_measures(app, doctree):
    """NDCG@10 is not an e-mail address."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def setup(app):
    app.connect("doctree-read", unlink_measures)
