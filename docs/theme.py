"""Colours of pictures: grey words and no background, for light and for dark pages."""

from matplotlib import rcParams

_WORDS = ["text.color", "axes.labelcolor", "axes.titlecolor", "axes.edgecolor"]
_WORDS += ["xtick.color", "ytick.color"]
_BACKGROUNDS = ["figure.facecolor", "axes.facecolor", "savefig.facecolor"]
THEME = dict.fromkeys(_WORDS, "#808080") | dict.fromkeys(_BACKGROUNDS, "none")


def use_theme(gallery_conf, fname):
    """Draw the pictures of the gallery like those of the guide."""
    rcParams.update(THEME)
