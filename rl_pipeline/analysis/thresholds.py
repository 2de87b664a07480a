"""All thresholds of the findings: default file, overrides, validation, and how they are shown.

The defaults stand in `thresholds.yaml` beside this module: rule → name → value, unit, allowed range,
source and meaning. A deployment overrides values with a YAML of the same two levels; each entry is a
number, or a mapping of `value` and `source`. All mistakes of such a file are told together, and an
override names itself as the source, so that a report never shows a changed number as ours.

The text of a file comes from the caller; only the defaults are read here, from the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from rl_pipeline.errors import ConfigurationError, shown

SHARED = "shared"
WHOLE_UNITS = ("steps", "trials", "lines", "errors", "tasks", "saves", "links", "bins")
TEXT_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One number a rule is judged by."""

    rule: str
    name: str
    value: float
    unit: str
    minimum: float
    maximum: float
    source: str
    meaning: str
    default: float

    @property
    def text(self) -> str:
        """The value as a person reads it: fractions as percent, units behind."""
        number = f"{self.value * 100:.4g} %" if self.unit.startswith("fraction") else f"{self.value:.6g}"
        return number if self.unit.startswith("fraction") or self.unit == "1" else f"{number} {self.unit}"


class Thresholds(Mapping[tuple[str, str], Threshold]):
    """Thresholds by (rule, name)."""

    def __init__(self, thresholds: Mapping[tuple[str, str], Threshold]) -> None:
        self._by_key = dict(thresholds)

    def __getitem__(self, key: tuple[str, str]) -> Threshold:
        return self._by_key[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def value(self, rule: str, name: str) -> float:
        """The number of one threshold, in its unit."""
        return self._by_key[rule, name].value

    def count(self, rule: str, name: str) -> int:
        """The same for thresholds that count something."""
        return round(self.value(rule, name))

    def of(self, rule: str) -> tuple[Threshold, ...]:
        """Every threshold of a rule, in the order of the file."""
        return tuple(threshold for (owner, _), threshold in self._by_key.items() if owner == rule)

    def overridden(self) -> tuple[Threshold, ...]:
        """Those that a deployment changed."""
        return tuple(threshold for threshold in self._by_key.values() if threshold.value != threshold.default)


class _UniqueKeyLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice instead of keeping the last one."""


def _unique_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    twice = sorted({str(key) for key in keys if keys.count(key) > 1})
    if twice:
        raise yaml.constructor.ConstructorError(None, None, f"given twice: {', '.join(twice)}", node.start_mark)
    return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))


FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # of the package's own file, which has no mistakes to tell

_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)


@lru_cache(maxsize=1)
def default_thresholds() -> Thresholds:
    """The thresholds of the package."""
    text = files("rl_pipeline.analysis").joinpath("thresholds.yaml").read_text(encoding="utf-8")
    found: dict[tuple[str, str], Threshold] = {}
    for rule, entries in yaml.load(text, Loader=FAST_LOADER).items():
        for name, entry in entries.items():
            found[rule, name] = Threshold(
                rule=rule,
                name=name,
                value=float(entry["value"]),
                unit=entry["unit"],
                minimum=float(entry["min"]),
                maximum=float(entry["max"]),
                source=entry["source"],
                meaning=entry["meaning"],
                default=float(entry["value"]),
            )
    return Thresholds(found)


def thresholds_from_text(text: str, *, where: str, base: Thresholds | None = None) -> Thresholds:
    """The defaults with the overrides of a YAML text.

    Args:
        text: YAML; rule → name → number, or rule → name → {value, source}.
        where: name of the file, for messages and as the source of the changed numbers.
        base: what is overridden; the package's thresholds when left out.

    Raises:
        ConfigurationError: not YAML, unknown rules or names, values that are no numbers or out of range.
    """
    base = default_thresholds() if base is None else base
    problems: list[str] = []
    changed = dict(base)
    for rule, name, entry in _entries(_mapping(text, where), problems):
        if (rule, name) not in base:
            problems.append(_unknown(rule, name, base))
            continue
        result = _overridden(base[rule, name], entry, where)
        if isinstance(result, str):
            problems.append(result)
        else:
            changed[rule, name] = result
    if problems:
        raise _refusal("The thresholds file has mistakes", where, "; ".join(problems))
    return Thresholds(changed)


def _mapping(text: str, where: str) -> dict[Any, Any]:
    if len(text) > TEXT_LIMIT:
        raise _refusal("The thresholds file is too large", where, f"{len(text)} characters, at most {TEXT_LIMIT}")
    try:
        tree = yaml.load(text, Loader=_UniqueKeyLoader)
    except (yaml.YAMLError, RecursionError, TypeError, ValueError) as error:
        raise _refusal("The thresholds file is not valid YAML", where, _told(error)) from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise _refusal("The thresholds file is not a mapping", where, f"found {shown(tree)}")
    return tree


def _told(error: Exception) -> str:
    """The mistake and its place on one line; YAML's own words tell it on several, with a copy of the file."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    problem = getattr(error, "problem", None) or getattr(error, "context", None)
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def _entries(tree: Mapping[Any, Any], problems: list[str]) -> Iterator[tuple[str, str, object]]:
    for rule, entries in tree.items():
        if not isinstance(entries, dict):
            problems.append(f"{shown(rule)}: expected names and values, found {shown(entries)}")
            continue
        for name, entry in entries.items():
            yield str(rule), str(name), entry


def _unknown(rule: str, name: str, base: Thresholds) -> str:
    known = [threshold.name for threshold in base.of(rule)]
    if not known:
        return f"{rule}: no such rule with thresholds"
    return f"{rule}.{name}: no such threshold; {rule} has {', '.join(known)}"


def _overridden(threshold: Threshold, entry: object, where: str) -> Threshold | str:
    label = f"{threshold.rule}.{threshold.name}"
    source = f"{where} (default {replace(threshold, value=threshold.default).text})"
    if isinstance(entry, dict):
        unknown = sorted(str(key) for key in entry if key not in ("value", "source"))
        if unknown or "value" not in entry:
            return f"{label}: expected value and source, found {shown(entry)}"
        source = f"{entry['source']}; {source}" if entry.get("source") else source
        entry = entry["value"]
    if isinstance(entry, bool) or not isinstance(entry, int | float) or not math.isfinite(entry):
        return f"{label}: expected a number, found {shown(entry)}"
    if not threshold.minimum <= entry <= threshold.maximum:
        return f"{label}: expected {threshold.minimum:g} to {threshold.maximum:g}, found {entry:g}"
    if threshold.unit in WHOLE_UNITS and entry != int(entry):
        return f"{label}: expected a whole number of {threshold.unit}, found {entry:g}"
    return replace(threshold, value=float(entry), source=source)


def _refusal(what: str, where: str, found: str) -> ConfigurationError:
    return ConfigurationError(
        what,
        where=where,
        expected=f"rule → name → number, as in the documentation of the findings; {found}",
        do="correct the named entries, or remove them to use the defaults",
        slug="invalid-thresholds",
    )
