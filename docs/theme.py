"""Pictures of the pages: for light and for dark ones, wide and as narrow as a phone."""

import math
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib import rcParams
from matplotlib.transforms import ScaledTranslation

#: colour of words, and of words in colour, which are read on white
INK, QUIET = "#2a2f35", "#5c6269"
BLUE, ORANGE, GREEN = "#0072b2", "#b04a00", "#00775a"
#: the marks of all displays: a bar is a range over the orders of ties, a diamond a mean
BAR = {"color": "#56B4E9", "linewidth": 12}
DIAMOND = {"color": "#E69F00", "marker": "D", "linestyle": "none"}
#: what each colour is on dark pages, where black stands for words of the default style
ON_DARK = {
    INK: "#d6dbe1",
    QUIET: "#a3a9b0",
    "#000000": "#d6dbe1",
    "#767676": "#9a9fa6",
    BLUE: "#4ea6e0",
    ORANGE: "#f08a4b",
    GREEN: "#3fbf96",
    "#d55e00": "#f08a4b",
    "#009e73": "#3fbf96",
    # inside hollow marks and behind names: the colour of the page
    "#ffffff": "#14181e",
    # below lines of blue
    "#56b4e9": "#2b6a94",
}
_WORDS = ["text.color", "axes.labelcolor", "axes.titlecolor", "axes.edgecolor"]
_WORDS += ["xtick.color", "ytick.color"]
_BACKGROUNDS = ["figure.facecolor", "axes.facecolor", "savefig.facecolor"]
THEME = dict.fromkeys(_WORDS, INK) | dict.fromkeys(_BACKGROUNDS, "none")
# equal pictures are equal files
THEME |= {"svg.hashsalt": "tieaware", "figure.constrained_layout.use": True}
#: inches of the text of a page, of a phone, and of figures that keep their panels
_PAGE, _PHONE, _KEPT = 7.66, 4.4, 8.2
#: inches of a line of a legend, of half a bar, and what a name above a row adds to it
_LINE, _HALF_BAR, _NAME = 0.22, 0.09, 0.1
#: order of drawing of what covers lines and points
_ABOVE_LINES = 3
#: share of the width above which names are long
_LONG = 0.4


def use_theme(gallery_conf, fname):
    """Draw the pictures of the gallery like those of the guide."""
    rcParams.update(THEME)
    # of examples that are small to be quick
    warnings.filterwarnings("ignore", "the values per query of")


def write(figure, path: Path) -> None:
    """Write a figure in four variants, and its first panel alone in two."""
    write_widths(figure, path)
    for legend in list(figure.legends):
        legend.remove()
    figure.draw_without_rendering()
    box = figure.axes[0].get_tightbbox().transformed(figure.dpi_scale_trans.inverted())
    panel = path.with_stem(f"{path.stem}_panel")
    _write_both(figure, panel, bbox_inches=box.padded(0.06))


def write_widths(figure, path: Path, **options) -> None:
    """Write a figure as SVG for light and dark, and for wide and narrow pages."""
    if figure.get_figwidth() > _KEPT:
        arrange(figure, 2, _PAGE)
    _write_both(figure, path, **options)
    arrange(figure, 1, _PHONE)
    put_long_names_above_rows(figure)
    _write_both(figure, path.with_stem(f"{path.stem}_phone"), **options)


def arrange(figure, columns: int, width: float) -> None:
    """Put the panels of a figure into columns, and one legend below them."""
    axes = figure.axes
    grid = axes[0].get_subplotspec().get_gridspec()
    height = figure.get_figheight() / grid.nrows
    if axes[0].get_aspect() == 1:  # a square panel is lower if it is narrower
        height -= max(figure.get_figwidth() / grid.ncols - width / columns, 0)
    label = axes[0].get_ylabel()
    columns = min(columns, len(axes))
    rows = math.ceil(len(axes) / columns)
    new = figure.add_gridspec(rows, columns)
    for place, axis in enumerate(axes):
        axis.set_subplotspec(new[place])
        shares = len(axis.get_shared_y_axes().get_siblings(axis)) > 1
        if shares:
            is_first = place % columns == 0
            axis.tick_params(labelleft=is_first)
            axis.set_ylabel(label if is_first else "")
    lines = 0
    for legend in list(figure.legends):
        handles = legend.legend_handles
        names = [text.get_text() for text in legend.get_texts()]
        legend.remove()
        abreast = max(int(width // (0.5 + 0.085 * max(map(len, names)))), 1)
        lines = math.ceil(len(names) / abreast)
        figure.legend(
            handles, names, ncols=abreast, loc="outside lower center", frameon=False
        )
    figure.set_size_inches(width, height * rows + _LINE * lines)


def put_long_names_above_rows(figure) -> None:
    """Put names of rows that take much of the width above their rows.

    A background of the colour of the page keeps lines from running through them.
    """
    figure.draw_without_rendering()
    labels = [label for axis in figure.axes for label in axis.get_yticklabels()]
    widths = [label.get_window_extent().width for label in labels]
    if max(widths, default=0) < _LONG * figure.bbox.width:
        return
    above = ScaledTranslation(0, _HALF_BAR, figure.dpi_scale_trans)
    for axis in figure.axes:
        axis.tick_params(axis="y", pad=-4)
        axis.yaxis.set_zorder(_ABOVE_LINES)
        for label in axis.get_yticklabels():
            label.set(ha="left", va="bottom", fontsize="small")
            label.set_transform(label.get_transform() + above)
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    figure.set_figheight(figure.get_figheight() + _NAME * len(labels))


def _write_both(figure, path: Path, **options) -> None:
    figure.savefig(path, format="svg", metadata={"Date": None}, **options)
    plain = path.read_text(encoding="utf-8")
    dark_path = path.with_stem(f"{path.stem}_dark")
    dark_path.write_text(on_dark(plain), encoding="utf-8")


def on_dark(svg: str) -> str:
    """Replace the colours of a picture by those of dark pages."""
    known = re.compile("|".join(ON_DARK), re.IGNORECASE)
    return known.sub(lambda found: ON_DARK[found[0].lower()], svg)


def scrape(block, block_vars, gallery_conf):
    """Write the figures of a gallery page, for `sphinx_gallery_conf`."""
    source = Path(block_vars["src_file"])
    question = source.read_text(encoding="utf-8").splitlines()[1]
    lines = []
    for number in plt.get_fignums():
        path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
        write(plt.figure(number), path)
        inside = path.relative_to(gallery_conf["src_dir"]).as_posix()
        lines += [f".. image:: /{inside}", f"   :alt: {question}", "   :class: drawn"]
    plt.close("all")
    return "\n".join(["", *lines, ""])
