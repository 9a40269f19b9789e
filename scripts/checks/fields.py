"""Types, ranges and alphabets of the values of a report, checked before anything reads them."""

from __future__ import annotations

import json
import math
import os
import re

from checks.report import Damaged, Result
from toolkit import read_json

# Made from the tables of the program's reports by tests/lib/report_fields.py.
SCHEMA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "report.schema.json")
MOST_TEXT = 8192
MOST_DEPTH = 10
# Types of JSON in Python, and in words.
TYPES = {
    "array": ((list,), "a list"),
    "boolean": ((bool,), "true or false"),
    "integer": ((int,), "an integer"),
    "null": ((type(None),), "null"),
    "number": ((int, float), "a number"),
    "object": ((dict,), "an object"),
    "string": ((str,), "text"),
}
# Keywords of JSON Schema that limit a value.
LIMITS = {
    "type": lambda v, kinds: any(type(v) in types for types, _ in kinds_of({"type": kinds})),
    "enum": lambda v, words: v in words,
    "pattern": lambda v, regex: re.fullmatch(regex, v) is not None,
    "minimum": lambda v, low: v >= low,
    "maximum": lambda v, high: v <= high,
    "minItems": lambda v, low: len(v) >= low,
    "maxItems": lambda v, high: len(v) <= high,
}


def expanded(rule, shared: dict):
    """A rule with the rules of `shared` in place of references."""
    if not isinstance(rule, dict):
        return rule
    if "$ref" in rule:
        rule = {**rule, **shared[rule["$ref"].rpartition("/")[2]]}
    return {key: expanded(inner, shared) for key, inner in rule.items() if key != "$ref"}


DEFS = read_json(SCHEMA)["$defs"]
RULES = expanded(DEFS, DEFS)
RUN = RULES["run"]


def kinds_of(rule: dict) -> list[tuple]:
    kinds = rule.get("type", [])
    return [TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]


def wanted(rule: dict) -> str:
    """The limits of a rule in words."""
    nouns = [noun for _, noun in kinds_of(rule)]
    words = [json.dumps(word) for word in rule.get("enum", ())]
    text = " or ".join(words or nouns)
    for key, phrase in (
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minItems", "with at least"),
        ("maxItems", "with at most"),
        ("pattern", "matching"),
    ):
        if key in rule:
            text += f", {phrase} {rule[key]}"
    return text


def check_all(value, at: str, depth: int = 0) -> None:
    """Any key and any text is printable and not too long; any number is finite."""
    if depth > MOST_DEPTH:
        raise Damaged(f"{at[:80]} is too deep")
    if isinstance(value, str):
        if not value.isprintable() or len(value) > MOST_TEXT:
            raise Damaged(f"{at} has characters that cannot be printed, or more than {MOST_TEXT}")
    elif isinstance(value, (int, float)):
        if not (math.isfinite(value) if type(value) is float else abs(value) < 2**64):
            raise Damaged(f"{at} is not a finite number")
    elif value is not None:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            check_all(key, f"a key of {at}")
            check_all(item, f"{at}.{key}".removeprefix("the report."), depth + 1)


def check_value(value, rule: dict, at: str = "") -> None:
    """Raises Damaged where a value does not follow its rule. Further keys are allowed."""
    for key, limit in rule.items():
        if key in LIMITS and not LIMITS[key](value, limit):
            raise Damaged(f"{at} is {json.dumps(value)[:60]}, not {wanted(rule)}")
        if key == "type" and value is None:
            return
    if isinstance(value, dict):
        for key in rule.get("required", ()):
            if key not in value:
                raise Damaged(f"there is no {at}.{key}".replace(" .", " "))
        for key, inner in rule.get("properties", {}).items():
            if key in value:
                check_value(value[key], inner, f"{at}.{key}".strip("."))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            check_value(item, rule["items"], f"{at}.{i}")


def check_fields(r: Result) -> None:
    """Raises Damaged at the first value that a report cannot have."""
    check_all(r.data, "the report")
    check_value(r.data, RUN)
