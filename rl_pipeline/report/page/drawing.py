"""A chart as inline SVG of a page: small, inert, in the page's own colours, at any width.

vl-convert evaluates the chart's one specification; the SVG is then rebuilt from an allowed set of elements
and attributes, so that nothing else can reach the page, and written as short as it can be. Colours are CSS
variables (`palette.PAGE`): the same picture serves light, dark and print. Title and legend are left to
HTML, which wraps. Every mark keeps the number of its row in the chart's table (`data-r`), from which the
page tells what it is.

Why not the Vega runtime in the page: its bundle alone weighs 0.9 MB, needs `unsafe-eval`, and draws nothing
with scripts off or in a mail's preview.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from xml.etree import ElementTree

from rl_pipeline.report.charts.chart import WIDTH, Chart
from rl_pipeline.report.vega import svg_of

NARROW_WIDTH, NARROW_POINTS = 300, 700
SEPARATE_LABELS = {"labelFlush": False, "labelSeparation": 6}
SMALL_MARK = 40  # square pixels; larger marks say something of their own
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "tspan", "circle", "clipPath", "defs"}
ATTRIBUTES = (
    "viewBox", "transform", "d", "x", "y", "x1", "y1", "x2", "y2", "r", "cx", "cy", "width", "height", "dx", "dy",
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
    "opacity", "text-anchor", "font-size", "font-weight", "clip-path", "id", "data-r",
)  # fmt: skip
# Passed on from a group to what it holds, so that equal ones can stand on the group.
INHERITED = (
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
    "text-anchor", "font-size", "font-weight",
)  # fmt: skip
INVISIBLE = {"", "none", "transparent"}
DEFAULTS = {"opacity": "1", "fill-opacity": "1", "stroke-opacity": "1", "font-weight": "normal"}
NUMBER_AXES = ("axisQuantitative", "axisTemporal")
HOVERED_MARKS = {"point", "bar", "circle", "rect", "square", "tick"}
ROW_OF_MARK = re.compile(r"^\d{1,7}$")
CIRCLE = re.compile(r"^M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0$")
PLACE = re.compile(r"^translate\((-?[\d.]+),(-?[\d.]+)\)$")
NUMBER = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """A colour or a sign and what it means."""

    colour: str
    sign: str
    text: str


class Evaluated(NamedTuple):
    """A chart without title and legend as Vega draws it, as SVG text.

    Attributes:
        wide: at its own width.
        narrow: for a phone; None for small charts, which fit.
    """

    wide: str
    narrow: str | None


def evaluated(chart: Chart) -> Evaluated:
    """A chart made with `palette.PAGE`, evaluated once for each width."""
    spec = _bare(dict(chart.spec))
    narrow = None if chart.is_small else _thinned(_resized(_apart(spec), NARROW_WIDTH / WIDTH), len(chart.rows))
    return Evaluated(svg_of(spec), None if narrow is None else svg_of(narrow))


def drawing(svg: str, name: str) -> str:
    """What Vega drew, as a page can hold it.

    Args:
        svg: of `evaluated`.
        name: that no other drawing of the page has; what is referred to inside is named by it.
    """
    return ElementTree.tostring(_tree(svg, name), encoding="unicode")


def legend(chart: Chart) -> tuple[LegendEntry, ...]:
    """What the chart's colours and signs mean, in its own order."""
    signs = {"triangle-up": "▲", "diamond": "◆", "circle": "●"}
    entries: dict[str, LegendEntry] = {}
    for channel, encoding in _encodings(chart.spec):
        scale = encoding.get("scale", {})
        if encoding.get("legend") is None or "domain" not in scale or "range" not in scale:
            continue
        for text, mark in zip(scale["domain"], scale["range"], strict=False):
            is_colour = channel == "color"
            entry = LegendEntry(colour=mark if is_colour else "", sign="" if is_colour else signs[mark], text=str(text))
            entries.setdefault(str(text), entry)
    return tuple(entries.values())


def _encodings(node: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401 - a specification
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name == "encoding":
                yield from ((channel, value[channel]) for channel in ("color", "shape") if channel in value)
            elif name != "data":
                yield from _encodings(value)
    elif isinstance(node, list):
        for value in node:
            yield from _encodings(value)


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """Without title, legend and paper, and without what nobody will see; marks named by their row."""
    made: dict[str, Any] = _map(spec, _bare_unit)
    made.pop("title", None)
    made["config"] = {**_quick(made["config"]), "background": None, "padding": 4}
    return made


def _quick(config: Mapping[str, Any]) -> dict[str, Any]:
    """Axes that are drawn the same with less work.

    Nothing is told of an axis that the page leaves out. Numbers and times are never as long as the limit of a label,
    and where there is none they are measured half as often, which is what costs most in drawing an axis.
    """
    short = {name: {**config.get(name, {}), "labelLimit": 0} for name in NUMBER_AXES}
    return {**config, **short, "axis": {**config.get("axis", {}), "aria": False}}


def _bare_unit(node: dict[str, Any]) -> dict[str, Any]:
    node = {name: value for name, value in node.items() if name != "tooltip"}  # the page tells a mark by its row
    mark = node.get("mark")
    kind = mark.get("type") if isinstance(mark, Mapping) else mark
    pointed = isinstance(mark, Mapping) and bool(mark.get("point"))
    own = _first_record(node)
    if "encoding" not in node:
        return node
    encoding = {channel: _without_legend(value) for channel, value in node["encoding"].items()}
    if (kind in HOVERED_MARKS or pointed) and (own is None or "row" in own):
        encoding["description"] = {"field": "row", "type": "nominal"}
    return {**node, "encoding": encoding}


def _without_legend(channel: Any) -> Any:  # noqa: ANN401 - a specification
    return {**channel, "legend": None} if isinstance(channel, Mapping) and "legend" in channel else channel


def _first_record(node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    values = node.get("data", {}).get("values") or []
    return values[0] if values else None


def _map(node: Any, change: Any) -> Any:  # noqa: ANN401 - a specification
    """The specification with `change` made to every dictionary outside its data, inner ones first."""
    if isinstance(node, Mapping):
        return change({name: value if name == "data" else _map(value, change) for name, value in node.items()})
    return [_map(value, change) for value in node] if isinstance(node, list) else node


def _resized(spec: dict[str, Any], factor: float) -> dict[str, Any]:
    """Plots, and bars with a width of their own, `factor` times as wide."""

    def change(node: dict[str, Any]) -> dict[str, Any]:
        width = node.get("width")
        if isinstance(width, int | float) and ("type" in node or "encoding" in node or "layer" in node):
            return {**node, "width": max(1.0, round(width * factor, 2))}
        return node

    made: dict[str, Any] = _map(spec, change)
    return made


def _apart(spec: dict[str, Any]) -> dict[str, Any]:
    """Labels of the horizontal axis farther apart: in another font they are wider, and a phone has little room.

    A first label that was moved inwards, to end flush with the axis, would run into the next one.
    """
    config = spec["config"]
    return {**spec, "config": {**config, "axisX": {**config.get("axisX", {}), **SEPARATE_LABELS}}}


def _thinned(spec: dict[str, Any], rows: int) -> dict[str, Any]:
    """A small picture of very many points draws some of them only: more would not be told apart."""
    every = -(-rows // NARROW_POINTS)

    def change(node: dict[str, Any]) -> dict[str, Any]:
        mark = node.get("mark")
        is_one_of_many = isinstance(mark, Mapping) and mark.get("type") == "point" and mark.get("size", 0) <= SMALL_MARK
        if is_one_of_many and "row" in (_first_record(node) or {"row": 0}):
            return {**node, "transform": [*node.get("transform", []), {"filter": f"datum.row % {every} === 0"}]}
        return node

    made: dict[str, Any] = _map(spec, change) if every > 1 else spec
    return made


def _tree(text: str, name: str) -> ElementTree.Element:
    """The picture rebuilt from allowed elements, equal attributes on their group."""
    root = ElementTree.fromstring(text)
    width, height = root.get("width", "1"), root.get("height", "1")
    made = _element(root, name)
    assert made is not None
    made.attrib = {"viewBox": f"0 0 {width} {height}"}
    _hoist(made)
    return made


def _element(node: ElementTree.Element, name: str) -> ElementTree.Element | None:
    """The element with what it may keep; None when nothing of it shows."""
    tag = node.tag.removeprefix(SVG)
    if tag not in ELEMENTS or node.get("display") == "none" or _is_background(node) or _is_left_out(node):
        return None
    made = ElementTree.Element(tag, _attributes(node, name))
    made.text = node.text if tag in {"text", "tspan"} else None
    made.extend([child for child in (_element(child, name) for child in node) if child is not None])
    if tag == "g":
        return _group(made)
    return _circle(made) if tag == "path" else made


def _is_background(node: ElementTree.Element) -> bool:
    """Invisible shapes that Vega draws behind groups to catch the pointer."""
    return node.get("class") in {"background", "foreground"} and not (node.get("stroke") or node.get("fill"))


def _is_left_out(node: ElementTree.Element) -> bool:
    """Labels for which an axis has no room: Vega makes them invisible, and a search of the page would find them."""
    return node.tag == f"{SVG}text" and node.get("opacity") == "0"


def _attributes(node: ElementTree.Element, name: str) -> dict[str, str]:
    given = node.attrib
    kept = {key: given[key] for key in _allowed(tuple(given)) if DEFAULTS.get(key) != given[key]}
    if kept.get("transform") == "translate(0,0)":
        del kept["transform"]
    if "opacity" in kept and node.tag != f"{SVG}g":
        _of_the_paint(kept)
    kept = {key: NUMBER.sub(_short, value) if "." in value else value for key, value in kept.items()}
    label = given.get("aria-label", "")
    if ROW_OF_MARK.match(label) and "line mark" not in given.get("aria-roledescription", ""):
        kept["data-r"] = label
    if "id" in kept:
        kept["id"] = f"{name}-{kept['id']}"
    if "clip-path" in kept:
        kept["clip-path"] = kept["clip-path"].replace("url(#", f"url(#{name}-")
    if "font-size" in kept:
        kept["font-size"] = kept["font-size"].removesuffix("px")
    return kept


@lru_cache(256)
def _allowed(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those that may be kept, in the order in which they are written; Vega has few sets of names."""
    return tuple(name for name in ATTRIBUTES if name in names)


def _of_the_paint(kept: dict[str, str]) -> None:
    """The opacity of a shape that is only filled or only stroked becomes that of its paint: it looks the same.

    A shape with an opacity of its own is drawn by itself and then laid over the others, which doubles its cost.
    """
    paints = [paint for paint in ("fill", "stroke") if kept.get(paint, "") not in INVISIBLE]
    if len(paints) == 1:
        of_paint = f"{paints[0]}-opacity"
        kept[of_paint] = f"{float(kept.pop('opacity')) * float(kept.get(of_paint, 1)):.6f}"


def _short(found: re.Match[str]) -> str:
    """A number with at most two decimals where that is finer than a pixel."""
    value = float(found.group())
    return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1 else f"{value:.2f}".rstrip("0").rstrip(".")


def _group(made: ElementTree.Element) -> ElementTree.Element | None:
    """A group that says nothing gives way to its only child."""
    if len(made) == 0:
        return None
    return made[0] if len(made) == 1 and not made.attrib else made


def _circle(made: ElementTree.Element) -> ElementTree.Element:
    shape, place = CIRCLE.match(made.get("d", "")), PLACE.match(made.get("transform", ""))
    if not shape or not place:
        return made
    kept = {key: value for key, value in made.attrib.items() if key not in {"d", "transform"}}
    radius = f"{float(shape.group(1)):.2f}".rstrip("0").rstrip(".")
    return ElementTree.Element("circle", {"cx": place.group(1), "cy": place.group(2), "r": radius, **kept})


def _hoist(node: ElementTree.Element) -> None:
    """Move attributes that all children share to the group, innermost groups first."""
    for child in node:
        _hoist(child)
    if node.tag != "g" or len(node) < 2:
        return
    for key in INHERITED:
        values = {child.get(key) for child in node}
        if len(values) == 1 and None not in values and key not in node.attrib:
            node.set(key, str(values.pop()))
            for child in node:
                del child.attrib[key]
