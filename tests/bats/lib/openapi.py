#!/usr/bin/env python3
"""openapi.py DESCRIPTION answer METHOD PATTERN STATUS TYPE FILE: holds an answer of a real server to what the description says of it: every field
that is described is there with its type, and none is there that is not described.
openapi.py DESCRIPTION stream FILE: the same for what a live stream has told.
openapi.py DESCRIPTION missing FILE: which methods of which paths are not in FILE, a line each: METHOD PATTERN STATUS of what was held and done."""
import json
import sys

description = json.load(open(sys.argv[1]))
TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
faults = []


def look(value, schema, where):
    if "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if value is None:
        if not schema.get("nullable"):
            faults.append(f"{where} is null")
        return
    kind = TYPES[schema["type"]]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        faults.append(f"{where} is {value!r}, not {schema['type']}")
        return
    if "enum" in schema and value not in schema["enum"]:
        faults.append(f"{where} is {value!r}")
    if kind is list:
        for i, item in enumerate(value):
            look(item, schema["items"], f"{where}[{i}]")
    if kind is dict and "properties" in schema:
        for name in schema.get("required", []):
            if name not in value:
                faults.append(f"{where}.{name} is missing")
        for name, item in value.items():
            if name not in schema["properties"]:
                faults.append(f"{where}.{name} is not described")
            else:
                look(item, schema["properties"][name], f"{where}.{name}")
    elif kind is dict and "additionalProperties" in schema:
        for name, item in value.items():
            look(item, schema["additionalProperties"], f"{where}.{name}")


def answer(method, pattern, status, kind, name):
    responses = description["paths"][pattern][method.lower()]["responses"]
    described = responses.get(status, responses["default"])
    body = open(name, "rb").read()
    if "content" not in described:
        if body:
            faults.append(f"{method} {pattern}: {status} has a body")
        return
    (media, content), = described["content"].items()
    if not kind.startswith(media):
        faults.append(f"{method} {pattern}: {status} is {kind}")
    elif media == "application/json":
        look(json.loads(body), content["schema"], f"{method} {pattern} {status}")


def stream(name):
    schemas = {"record": {"$ref": "#/LiveEvent"}, "pending": {"$ref": "#/Pending"}, "gap": {"type": "object", "required": ["missed"], "properties": {"missed": {"type": "integer"}}}}
    seen = set()
    for block in open(name, encoding="utf-8").read().split("\n\n")[:-1]:
        lines = [line for line in block.split("\n") if not line.startswith((":", "retry:"))]
        if not lines:
            continue
        kind = lines[0].removeprefix("event: ")
        seen.add(kind)
        if len(lines) != 2 or not lines[1].startswith("data: "):
            faults.append(f"{block!r} is no event")
        else:
            look(json.loads(lines[1].removeprefix("data: ")), schemas[kind], kind)
    if not {"record", "pending"} <= seen:
        faults.append(f"only {seen} were told")


def missing(name):
    held = set(open(name).read().split("\n"))
    for pattern, methods in description["paths"].items():
        for method, operation in methods.items():
            done = [status for status in operation["responses"] if status.startswith("2")]
            faults.extend(f"{method.upper()} {pattern} {status} was not held" for status in done if f"{method.upper()} {pattern} {status}" not in held)


{"answer": answer, "stream": stream, "missing": missing}[sys.argv[2]](*sys.argv[3:])
for fault in faults:
    print(fault)
sys.exit(bool(faults))
