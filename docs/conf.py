"""Sphinx: ``sphinx-build -W -b html docs build/docs``."""

import os
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.inspect import stringify_signature
from sphinx.util.nodes import make_refnode
from sphinx_gallery.directives import imgsgnode

import tieaware_sklearn

sys.path.insert(0, str(Path(__file__).parent))
from theme import THEME

project = "tieaware-sklearn"
author = copyright = "The tieaware-sklearn developers"
version = release = tieaware_sklearn.__version__
extensions = [
    "sphinx.ext.autodoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_title = f"tieaware-sklearn {version}"
templates_path = ["_templates"]
# what the gallery is made of; its pages are in auto_gallery
exclude_patterns = ["gallery"]


def public_objects():
    """Every public name with the module that it is documented in."""
    rooms = ["evaluation", "measures", "comparison", "feature_selection", "inspection"]
    rooms += ["model_selection", "score_precision", "judgments", "datasets", "plots"]
    companions = ["lightgbm", "xgboost", "catboost", "optuna", "dask", "ir_measures"]
    homes = {}
    for room in ("", *rooms, *companions):
        module = import_module(f"tieaware_sklearn.{room}".rstrip("."))
        for name in module.__all__:
            homes.setdefault(name, f"{module.__name__}.{name}")
    return homes


PUBLIC = public_objects()


# the reference: a page per public object, written to api/generated
autosummary_generate = True
# what scikit-learn adds for metadata routing is in its own manual
requests = ["fit", "partial_fit", "predict", "score", "split", "transform"]
routing = [f"set_{name}_request" for name in requests]
autodoc_default_options = {
    "members": True,
    "exclude-members": ", ".join(["get_metadata_routing", *routing]),
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
# of types, only our own are links
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = PUBLIC
# what is in single backticks is a link where it names something, else code
default_role = "py:obj"

# The objects of other projects are links where their inventories can be read: builds
# need no network, so only those that are published ask for it.
intersphinx_mapping = {}
if os.environ.get("DOCS_INTERSPHINX"):
    intersphinx_mapping = {
        name: (url, None)
        for name, url in {
            "lightgbm": "https://lightgbm.readthedocs.io/en/stable/",
            "matplotlib": "https://matplotlib.org/stable/",
            "numpy": "https://numpy.org/doc/stable/",
            "optuna": "https://optuna.readthedocs.io/en/stable/",
            "pandas": "https://pandas.pydata.org/docs/",
            "python": "https://docs.python.org/3/",
            "scipy": "https://docs.scipy.org/doc/scipy/",
            "sklearn": "https://scikit-learn.org/stable/",
        }.items()
    }

# the blank line that ends an example for doctest is not shown
highlight_options = {"python": {"stripnl": True}}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# formulas are MathML, which browsers draw by themselves, without network or scripts
html_math_renderer = "mathml"
# pictures of the guide are drawn by code when the pages are built
plot_formats = ["svg"]
plot_include_source = plot_html_show_source_link = plot_html_show_formats = False
plot_rcparams = {"figure.constrained_layout.use": True, **THEME}
plot_apply_rcparams = True
# notebooks show what is committed; the tests execute them
nb_execution_mode = "off"
# neither prompts nor what is printed is copied
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": ".*",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("tieaware_sklearn",),
    "backreferences_dir": "api/generated/backreferences",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "theme.use_theme"),
    # what is printed is shown, the last value is not
    "capture_repr": (),
    "download_all_examples": False,
    "notebook_extensions": set(),
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
}


def link_public_names(app, env, node, contnode):
    """Link a bare public name, or a method of one, wherever it stands."""
    name, dot, method = node.get("reftarget", "").partition(".")
    if node.get("reftype") != "obj" or name not in PUBLIC:
        return None
    target = PUBLIC[name] + dot + method
    found = env.get_domain("py").objects.get(target)
    if found is None:
        return None
    return make_refnode(
        app.builder, node["refdoc"], found.docname, found.node_id, contnode, target
    )


def hide_private_constructors(app, what, name, *_):
    """Show no signature of a class that only a function of ours makes."""
    return ("", None) if name.endswith(".RankingScorer") else None


def link_no_other_types(app):
    """Leave numpydoc's own links out: their targets are not there without network."""
    app.config.numpydoc_xref_aliases_complete = PUBLIC


def unlink_measures(app, doctree):
    """NDCG@10 is not an e-mail address."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def parameters_of_measures(app, what, name, obj, options, shown, returned):
    """Show the fields of a measure, not what its `__new__` takes."""
    if what != "class" or shown != "(*args, **kwargs)":
        return None
    hidden = {"show_annotation": False, "show_return_annotation": False}
    return stringify_signature(signature(obj), **hidden), None


def frame_pictures(app, doctree):
    """Put each picture of the gallery into a box, which scrolls on small screens."""
    for picture in list(doctree.findall(imgsgnode)):
        picture.replace_self(
            nodes.container("", picture.deepcopy(), classes=["picture"])
        )


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
    app.connect("builder-inited", link_no_other_types)
    app.connect("missing-reference", link_public_names)
    app.connect("autodoc-process-signature", hide_private_constructors)
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    app.connect("doctree-read", unlink_measures)
    app.connect("autodoc-process-signature", parameters_of_measures)
    app.connect("doctree-read", frame_pictures)
