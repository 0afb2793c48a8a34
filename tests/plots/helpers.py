"""What a figure shows."""

import itertools

import matplotlib
import numpy as np


def tick_labels(axis):
    """Labels of the ticks inside the limits of an x or y axis, and the others."""
    shown, beyond = [], []
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        (shown if low <= tick.get_loc() <= high else beyond).append(tick.label1)
    return shown, beyond


def contrast(colour, other):
    """Contrast of two colours, by the formula of WCAG 2."""
    light = []
    for one in (colour, other):
        rgb = np.array(matplotlib.colors.to_rgb(one))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(light) / min(light)


def check_layout(figure):
    """All text lies in the picture, and no labels of ticks cover each other.

    It can be read on white.
    """
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    both = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    beyond = {id(label) for axis in both for label in tick_labels(axis)[1]}
    texts = [
        text
        for text in figure.findobj(matplotlib.text.Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in beyond
    ]
    for text in texts:
        box = text.get_window_extent(renderer)
        assert -1 <= box.x0 <= box.x1 <= width + 1, text
        assert -1 <= box.y0 <= box.y1 <= height + 1, text
        assert contrast(text.get_color(), "white") >= 4.5, text
    for axis in both:
        boxes = [
            label.get_window_extent(renderer)
            for label in tick_labels(axis)[0]
            if label.get_visible() and label.get_text() and not label.get_rotation()
        ]
        for one, other in itertools.combinations(boxes, 2):
            assert not one.overlaps(other), "labels of ticks overlap"
    return len(texts)


def rows_of(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


def segments(axis, label="worst to best order of ties"):
    """Ends of the bars of each row."""
    (bars,) = [one for one in axis.collections if one.get_label() == label]
    return [segment[:, 0].tolist() for segment in bars.get_segments()]


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


def line(axis, label):
    """Where the points of a line stand."""
    (found,) = [one for one in axis.lines if one.get_label() == label]
    return np.asarray(found.get_xdata()).tolist()
