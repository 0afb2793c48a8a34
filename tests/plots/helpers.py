"""Texts, bars and points of a figure, and a check of its layout."""

import itertools

import matplotlib
import numpy as np


def tick_labels(axis):
    """Return the labels of the ticks of an axis, and the set of ids of hidden ones.

    Labels of ticks outside the limits of the axis are hidden.
    """
    labels = []
    hidden = set()
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if low <= tick.get_loc() <= high:
            labels.append(tick.label1)
        else:
            hidden.add(id(tick.label1))
    return labels, hidden


def luminance(colour):
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(first, second):
    """Return the contrast of two colours, by the formula of WCAG 2."""
    light = [luminance(first), luminance(second)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def assert_ticks_do_not_overlap(labels, renderer):
    boxes = []
    for label in labels:
        if label.get_visible() and label.get_text() and not label.get_rotation():
            boxes.append(label.get_window_extent(renderer))
    for first, second in itertools.combinations(boxes, 2):
        assert not first.overlaps(second), "labels of ticks overlap"


def texts_of(figure):
    """Return the visible texts of a drawn figure."""
    hidden = set()
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            hidden |= tick_labels(axis)[1]
    texts = []
    for text in figure.findobj(matplotlib.text.Text):
        is_blank = not text.get_visible() or not text.get_text().strip()
        if not is_blank and id(text) not in hidden:
            texts.append(text)
    return texts


def check_layout(figure):
    """Check texts and return their number.

    All text lies in the picture and can be read on white. No labels of ticks overlap.
    """
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            assert_ticks_do_not_overlap(tick_labels(axis)[0], renderer)
    texts = texts_of(figure)
    for text in texts:
        box = text.get_window_extent(renderer)
        assert -1 <= box.x0 <= box.x1 <= width + 1, text
        assert -1 <= box.y0 <= box.y1 <= height + 1, text
        assert contrast(text.get_color(), "white") >= 4.5, text
    return len(texts)


def check_boxes(figure):
    """Check that nothing overlaps or leaves the figure.

    No two texts overlap, titles are no wider than their panels, and the legend covers
    no panel.
    """
    figure.draw_without_rendering()
    boxes = []
    for text in texts_of(figure):
        box = text.get_window_extent()
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, text
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, text
        # The box of a slanted text is larger than the text.
        if text.get_rotation() in (0, 90):
            boxes.append((text, box.padded(-1)))
    for (text, box), (other, other_box) in itertools.combinations(boxes, 2):
        assert not box.overlaps(other_box), (text, other)
    for axis in figure.axes:
        title = axis._left_title.get_window_extent()
        assert title.x1 <= axis.bbox.x1 + 1, axis.get_title(loc="left")
        for legend in figure.legends:
            assert not legend.get_window_extent().overlaps(axis.bbox)


def rows_of(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


RANGE = "range over the orders of ties"
GREY_RANGE = "side of chance depends on ties"
INTERVAL = "95% confidence interval over queries"
MEAN = "mean over orders of ties"


def segments(axis, *labels):
    """Return the ends of the bar of each row, by default of blue and of grey bars."""
    by_row = {}
    for bars in axis.collections:
        if bars.get_label() in (labels or (RANGE, GREY_RANGE)):
            for segment in bars.get_segments():
                if len(segment):
                    by_row[segment[0, 1]] = segment[:, 0].tolist()
    return [by_row[row] for row in sorted(by_row)]


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


def line(axis, label):
    """Return the x of the points of a line."""
    (points,) = [points for points in axis.lines if points.get_label() == label]
    return np.asarray(points.get_xdata()).tolist()
