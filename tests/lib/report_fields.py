"""Make scripts/checks/report.schema.json and the tables of docs/reports.md from rows of reports.

Usage: report_schema | report_fields.py TOP [write]. Without write, compare with the files in the
source tree TOP."""

import itertools
import json
import pathlib
import re
import sys

MOST = {"integer": 2**63 - 1, "number": 1e300}


def read(lines) -> list:
    """Rows up to an empty line. Objects and arrays have rows."""
    rows = []
    for line in iter(lambda: next(lines, "").strip(), ""):
        rows.append(json.loads(line) | {"rows": []})
        if rows[-1]["list"] or rows[-1]["type"] == "object":
            rows[-1]["rows"] = read(lines)
    return rows


def rule_of(row: dict) -> dict:
    """JSON Schema of a value."""
    kind = row["type"]
    if row["list"]:
        rule = {key: row[key] for key in ("minItems", "maxItems")}
        return {"type": "array", **rule, "items": rule_of(row["rows"][0])}
    rule = {"type": [kind, "null"] if row["null"] else kind}
    if row["enum"]:
        rule["enum"] = row["enum"].strip("|").split("|")
    elif row["pattern"]:
        rule["pattern"] = row["pattern"]
    elif kind in MOST:
        rule |= {"minimum": row["minimum"], "maximum": row["maximum"] or MOST[kind]}
    elif kind == "object":
        inner = {r["key"]: {"description": r["description"]} | rule_of(r) for r in row["rows"]}
        required = [r["key"] for r in row["rows"] if r["required"]]
        rule |= {"required": required, "properties": inner}
    return rule


def lines_of(value, indent: str = "") -> str:
    """JSON with one line per rule."""
    if '"properties"' not in json.dumps(value):
        return json.dumps(value)
    inner = f"\n{indent} "
    items = (f"{inner}{json.dumps(key)}: {lines_of(value[key], indent + ' ')}" for key in value)
    return f"{{{','.join(items)}}}"


def share(rule: dict, key: str, first: dict, shared: dict) -> None:
    """Move an object that occurs again to `shared`, with its first key as name, and refer to it."""
    if "properties" in rule:
        body = {name: value for name, value in rule.items() if name != "description"}
        name, place, body = first.setdefault(json.dumps(body), (key, rule, body))
        if place is not rule:
            shared[name] = body
            for other in place, rule:
                for keyword in body:
                    other.pop(keyword, None)
                other["$ref"] = f"#/$defs/{name}"
    for inner_key, inner in rule.get("properties", {}).items():
        share(inner, inner_key, first, shared)
    if "items" in rule:
        share(rule["items"], key, first, shared)


def schema_of(documents: dict) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    head["anyOf"] = [{"$ref": f"#/$defs/{name}"} for name in documents]
    rules, shared = {name: rule_of(row) for name, row in documents.items()}, {}
    share({"properties": rules}, "", {}, shared)
    assert not rules.keys() & shared.keys()
    return lines_of(head | {"$defs": rules | shared}) + "\n"


def paths(row: dict, above: str = "") -> dict:
    """All rows in an object, by path. Keys that follow each other with equal rows are joined."""
    found = {}
    alike = itertools.groupby(row["rows"], lambda r: (r["description"], r["csv"], rule_of(r)))
    for rows in ([*group] for _, group in alike):
        keys, inner = [r["key"] for r in rows], rows[0]
        end = "[]" if inner["list"] else ""
        found[f"{above}{','.join(keys)}{end}"] = inner
        inside = inner["rows"][0] if inner["list"] else inner
        found |= paths(inside, f"{above}{keys[0] if len(keys) == 1 else '*'}{end}.")
    return found


def table(rows: dict, starred=()) -> str:
    lines = ["| name | content |", "| --- | --- |"]
    for name, row in rows.items():
        meaning = row["description"]
        text = re.sub(r"^(--[a-z-]+)", r"value of `\1`", meaning).replace("|", "\\|")
        null = row["rows"][0]["null"] if row["list"] else row["null"]
        text += ", or `null`" if null and "null" not in text else ""
        if row["enum"] and not meaning.startswith("--"):
            text += ": " + ", ".join(f"`{word}`" for word in row["enum"].split("|"))
        lines.append(f"| `{name}`{' *' if name in starred else ''} | {text} |")
    return "\n".join([*lines, "\n"])


def reports_md(documents: dict, text: str) -> str:
    """The text of docs/reports.md with new tables below the lines <!-- NAME -->."""
    found = {name: paths(row) for name, row in documents.items()}
    columns = [row | {"null": 0} for row in found["csv"].values() if row["csv"]]
    columns = [row for row in sorted(columns, key=lambda row: row["csv"]) if row["description"]]
    tables = {"csv": table({row["key"]: row for row in columns})}
    for name, other in ("run", "plan"), ("device", "summary"):
        tables[name] = table(found[name], found[other])
        rest = found[other].keys() - found[name].keys()
        tables[other] = table({path: row for path, row in found[other].items() if path in rest})
    return re.sub(
        r"<!-- ([a-z]+) -->\n\n(\|.*\n)*\n*", lambda m: f"<!-- {m[1]} -->\n\n{tables[m[1]]}", text
    )


def main() -> None:
    documents = {row["key"]: row for row in read(sys.stdin)}
    docs = pathlib.Path(sys.argv[1], "docs/reports.md")
    rules = pathlib.Path(sys.argv[1], "scripts/checks/report.schema.json")
    text = reports_md(documents, docs.read_text())
    del documents["csv"]
    for path, want in (docs, text), (rules, schema_of(documents)):
        if sys.argv[2:] == ["write"]:
            path.write_text(want)
        elif path.read_text() != want:
            sys.exit(f"{path} is not made from the rows in src/io/report/; see CONTRIBUTING.md")


main()
