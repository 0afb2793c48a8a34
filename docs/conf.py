"""Sphinx: ``sphinx-build -W -b html docs build/docs``."""

import os
import runpy
import sys
import tomllib
from html import escape
from importlib import import_module
from inspect import signature
from pathlib import Path
from urllib.parse import urlsplit

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.utils.math.latex2mathml import tex2mathml
from markupsafe import Markup
from sphinx.util.inspect import stringify_signature
from sphinx.util.nodes import make_refnode

import tieaware_sklearn

sys.path.insert(0, str(Path(__file__).parent))
from theme import THEME, write

DOCS = Path(__file__).parent

project = "tieaware-sklearn"
author = copyright = "The tieaware-sklearn developers"
version = release = tieaware_sklearn.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# guide pages come before the reference, notebooks and pages for contributors
html_search_scorer = str(DOCS / "search_scorer.js")
html_title = f"tieaware-sklearn {version}"
templates_path = ["_templates"]

PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
REPOSITORY = PROJECT["urls"]["Source"]
html_baseurl = PROJECT["urls"]["Documentation"]
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "logo": {
        "text": "tieaware-sklearn",
        "image_light": "_static/tie.svg",
        "image_dark": "_static/tie_dark.svg",
    },
    # the seven tasks of a reader, and the pages of the project
    "header_links_before_dropdown": 8,
    "icon_links": [
        {"name": "Source code", "url": REPOSITORY, "icon": "fa-solid fa-code"},
        {
            "name": "Report a problem",
            "url": PROJECT["urls"]["Issues"],
            "icon": "fa-solid fa-circle-exclamation",
        },
    ],
    "show_toc_level": 2,
    "use_edit_page_button": True,
    "primary_sidebar_end": [],
    "secondary_sidebar_items": ["page-toc", "edit-this-page"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
_, html_user, html_repository = urlsplit(REPOSITORY).path.split("/")
html_context = {
    "github_user": html_user,
    "github_repo": html_repository,
    "github_version": "main",
    "doc_path": "docs",
}
html_show_sourcelink = False
# these pages have no further pages in their section
html_sidebars = {page: [] for page in ["index", "start", "tutorial", "404"]}
# what the gallery is made of; its pages are in auto_gallery
exclude_patterns = ["gallery"]


def public_objects():
    """Every public name with the module that it is documented in."""
    rooms = ["evaluation", "measures", "comparison", "feature_selection"]
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
# "fit()", not "RankingFeatureSelector.fit()"
toc_object_entries_show_parents = "hide"
# a table of the methods of each class; displays inherit all of theirs
numpydoc_show_inherited_class_members = {
    home: home.startswith("tieaware_sklearn.plots.") for home in PUBLIC.values()
}
numpydoc_class_members_toctree = False
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
    "image_scrapers": ("theme.scrape",),
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


class Picture(Directive):
    """A picture of the guide, which a script draws when the pages are built."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012

    def run(self):
        env = self.state.document.settings.env
        source = DOCS / self.arguments[0]
        path = Path(env.app.outdir, "_drawn", f"{source.stem}.svg")
        path.parent.mkdir(exist_ok=True)
        with plt.rc_context(THEME):
            runpy.run_path(str(source))
            write(plt.gcf(), path)
        plt.close("all")
        env.note_dependency(str(source))
        uri = os.path.relpath(path, Path(env.doc2path(env.docname)).parent)
        return [nodes.image(uri=uri, alt=self.options["alt"], classes=["drawn"])]


#: endings of the files of a picture, and the classes of those that show it
VARIANTS = {
    "": ["only-light", "wide"],
    "_dark": ["only-dark", "wide"],
    "_phone": ["only-light", "phone"],
    "_phone_dark": ["only-dark", "phone"],
}


def show_variants(app, doctree):
    """Show a picture in light or dark, wide or narrow, if there are such files of it.

    The gallery shows the first panel of each.
    """
    page = Path(app.env.doc2path(app.env.docname))
    for image in list(doctree.findall(nodes.image)):
        uri = image["uri"]
        if "/thumb/" in uri:
            uri = uri.replace("/thumb/", "/").replace("_thumb.", "_001_panel.")
        path = Path(app.srcdir, uri[1:]) if uri[0] == "/" else page.parent / uri
        shown = []
        for ending, classes in VARIANTS.items():
            if path.with_stem(path.stem + ending).exists():
                variant = image.deepcopy()
                variant["uri"] = str(Path(uri).with_stem(path.stem + ending))
                added = {"drawn", *classes} - set(variant["classes"])
                variant["classes"] += sorted(added)
                variant["loading"] = "lazy"
                shown.append(variant)
        if len(shown) == len(VARIANTS) // 2:  # the same for all widths
            for variant in shown:
                variant["classes"].remove("wide")
        if len(shown) > 1:
            image.replace_self(shown)


def describe(app, pagename, templatename, context, doctree):
    """Give search engines and cards of links a title, a sentence and a picture."""
    first = [] if doctree is None else doctree.findall(nodes.paragraph)
    texts = (" ".join(one.astext().split()) for one in first)
    said = next(filter(None, texts), PROJECT["description"])
    if len(said) > 160:
        said = f"{said[:157].rpartition(' ')[0]} …"
    facts = {
        "description": said,
        "og:title": context.get("title", project),
        "og:description": said,
        "og:type": "website",
        "og:site_name": project,
        "og:url": context.get("pageurl", html_baseurl),
        "og:image": f"{html_baseurl}_static/card.png",
        "twitter:card": "summary_large_image",
    }
    tags = [
        f'<meta {"property" if ":" in name else "name"}="{name}" '
        f'content="{escape(Markup(text).striptags())}">'
        for name, text in facts.items()
    ]
    if pagename == "404":  # shown at any address
        tags.append(f'<base href="{urlsplit(html_baseurl).path}">')
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])
    # what is written when the pages are built has no source to edit
    if pagename.startswith(("auto_gallery", "api/generated")):
        context["page_source_suffix"] = ""


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
    app.connect("html-page-context", describe)
    # before Sphinx collects the images of a page
    app.connect("doctree-read", show_variants, priority=400)
    app.add_directive("picture", Picture)
