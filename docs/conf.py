"""Sphinx: ``sphinx-build -W -b html docs build/docs``."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import tieaware_sklearn

project = "tieaware-sklearn"
author = "The tieaware-sklearn developers"
version = release = tieaware_sklearn.__version__
extensions = [
    "sphinx.ext.autodoc",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "myst_nb",
]
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
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# formulas are MathML, which browsers draw by themselves, without network or scripts
html_math_renderer = "mathml"
# pictures of the guide are drawn by code when the pages are built
plot_formats = ["svg"]
plot_include_source = plot_html_show_source_link = plot_html_show_formats = False
plot_rcparams = {
    "svg.fonttype": "path",
    "font.size": 10,
    "figure.constrained_layout.use": True,
}
plot_apply_rcparams = True
# notebooks show what is committed; the tests execute them
nb_execution_mode = "off"


def unlink_measures(app, doctree):
    """NDCG@10 is not an e-mail address."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def inline_formula(translator, node):
    """Write a formula of a sentence."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def formula(translator, node):
    """Write a formula that stands alone, and scrolls where it is too long."""
    shown = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{shown}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    app.connect("doctree-read", unlink_measures)
