"""An OpenAPI document as the values a page shows: sections of operations with their fields and examples."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a field."""

    name: str
    kind: str
    needed: bool
    meaning: str
    shape: str | None = None  # the name of the shape it has, or its items have


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    id: str
    method: str
    path: str
    title: str
    text: str
    signed: bool
    parameters: list[Field]
    body_type: str | None
    body: list[Field]
    body_example: str | None
    answers: list[tuple[str, str]]  # status, content type
    answer: list[Field]


@dataclass(frozen=True, slots=True)
class Section:
    """A capability."""

    name: str
    text: str
    operations: list[Operation]


@dataclass(frozen=True, slots=True)
class Shape:
    """What fields of that kind are made of."""

    name: str
    fields: list[Field]


@dataclass(frozen=True, slots=True)
class Guide:
    """A whole document."""

    sections: list[Section]
    shapes: list[Shape]


def read(spec: Spec) -> Guide:
    """A document's sections in its order, and the shapes their fields refer to."""
    sections = _sections(spec)
    lists = [
        fields for section in sections for each in section.operations for fields in (each.body, each.answer)
    ]
    shapes: dict[str, Shape] = {}
    while lists:
        for name in {field.shape for field in lists.pop() if field.shape} - set(shapes):
            shapes[name] = Shape(name, _fields(spec, spec["components"]["schemas"][name]))
            lists.append(shapes[name].fields)
    return Guide(sections, sorted(shapes.values(), key=lambda shape: shape.name))


def _sections(spec: Spec) -> list[Section]:
    operations = list(_operations(spec))
    return [
        Section(
            tag["name"],
            tag.get("description", ""),
            [each for name, each in operations if name == tag["name"]],
        )
        for tag in spec["tags"]
    ]


def _operations(spec: Spec) -> Iterator[tuple[str, Operation]]:
    for path, methods in spec["paths"].items():
        for method, told in methods.items():
            if method != "parameters":
                given = [*methods.get("parameters", ()), *told.get("parameters", ())]
                yield told["tags"][0], _operation(spec, method.upper(), path, told, given)


def _operation(spec: Spec, method: str, path: str, told: Spec, given: list[Any]) -> Operation:
    body_type, body = _content(told.get("requestBody", {}))
    answers = [
        (status, kind) for status, answer in told["responses"].items() for kind in _kinds(spec, answer)
    ]
    success: Spec = next(
        (answer for status, answer in told["responses"].items() if status.startswith("2")), {}
    )
    return Operation(
        id=told["operationId"],
        method=method,
        path=path,
        title=told.get("summary", ""),
        text=told.get("description", ""),
        signed=bool(told.get("security")),
        parameters=[_parameter(spec, each) for each in given],
        body_type=body_type,
        body=_fields(spec, body),
        body_example=_example(told) if body_type == "application/json" else None,
        answers=answers,
        answer=_fields(spec, _content(success)[1]),
    )


def _content(told: Spec) -> tuple[str | None, Spec]:
    contents = told.get("content", {})
    kind = next((kind for kind in contents if kind.endswith("json")), next(iter(contents), None))
    return kind, contents[kind].get("schema", {}) if kind else {}


def _kinds(spec: Spec, answer: Spec) -> list[str]:
    return list(resolved(spec, answer).get("content", {})) or [""]


def _parameter(spec: Spec, told: Spec) -> Field:
    told = resolved(spec, told)
    where = "" if told["in"] == "query" else f", in the {told['in']}"
    return Field(
        told["name"],
        _kind(spec, told["schema"]) + where,
        told.get("required", False),
        told.get("description", ""),
    )


def _fields(spec: Spec, schema: Spec) -> list[Field]:
    schema = resolved(spec, schema)
    needed = schema.get("required", ())
    return [
        Field(name, _kind(spec, told), name in needed, told.get("description", ""), _shape(told))
        for name, told in schema.get("properties", {}).items()
    ]


def _example(told: Spec) -> str:
    return json.dumps(told["requestBody"]["content"]["application/json"]["example"], indent=2)


def _kind(spec: Spec, schema: Spec) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    kinds = schema.get("type", "anything")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    return f"list of {_kind(spec, schema['items'])}" if kind.startswith("array") else kind


def _shape(schema: Spec) -> str | None:
    """The name that a field's schema, or that of its items, refers to."""
    for told in (schema, schema.get("items", {}), *schema.get("allOf", ())):
        if "$ref" in told:
            return str(told["$ref"].rpartition("/")[2])
    return None


def resolved(spec: Spec, told: Spec) -> Spec:
    """What a reference stands for."""
    while "$ref" in told:
        found: Any = spec
        for part in told["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        told = found
    return told
