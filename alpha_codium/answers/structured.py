"""Schemas of structured answers, for prompts and for parsing.

1. A prompt file describes the answer in its table `fields`, which `AnswerSchema.from_table` reads.
2. Models that support schemas get `json_schema()`, others `instructions("yaml")`. A short form to fill in helps more
   than the description: with it 8 of 12 answers of a 0.5B model were valid, without it 1.
3. `parse` reads YAML or JSON, with or without a fence, and repairs common mistakes of models (see `repairs`). All
   values are text. An unreadable answer raises `FormatError`, whose message can be shown to the model.
4. Sections between tags (`<goal>...</goal>`) would need a simpler reader, but models keep to them less: of 48 answers
   of Qwen2.5-Coder 0.5B to the same prompts in each format (12 problems, four prompts, temperature 0.2 to 0.3, at most
   450 tokens), the fields could be read from 28 in YAML and 15 with tags. Answers with tags were longer (358 tokens on
   average, YAML 265). Only where all fields are plain texts were tags as good (11 of 12, YAML 9).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from alpha_codium.answers.fields import Field, FieldKind, bind, field_from_spec, none_of
from alpha_codium.answers.repairs import readings
from alpha_codium.answers.yaml_text import FormatError, read
from alpha_codium.errors import FlowError

Style = Literal["yaml", "json_schema"]

YAML_RULES = """\
Give all of these fields as YAML, in one fence that begins with ```yaml:
{fields}
Write every text as a block: `|` after the colon, then the text on lines of its own, indented by two more spaces. \
Numbers are text too. The form, with your own text in place of each <...>:
```yaml
{form}```"""

JSON_RULES = """\
Answer with one JSON object and nothing else. It has all of these fields:
{fields}
Every value is text in quotes, numbers too; a line break in a text is written \\n. The form, with \
your own text in place of each <...>:
{form}"""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The fields of a structured answer, in order."""

    name: str
    fields: tuple[Field, ...]

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> Self:
        """Read a prompt's table `fields`; raises FlowError if a field's description is wrong.

        An entry is a text such as `goal = "text: its description"` or `labels = "list: ..."`, or a table with `kind`,
        `about`, `example` and, for `kind = "records"`, one entry for each field of a record.
        """
        if not table:
            raise FlowError(f"prompt {name!r}: the table `fields` is empty")
        return cls(name, tuple(field_from_spec(f"prompt {name!r}: fields", key, spec) for key, spec in table.items()))

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the answer: all fields required, no others allowed, every leaf a string."""
        return _object_schema(self.fields)

    def instructions(self, style: Style = "yaml") -> str:
        """Return the part of a prompt that describes the format, with a form."""
        fields = "\n".join(_description(field) for field in self.fields)
        if style == "yaml":
            return YAML_RULES.format(fields=fields, form=to_yaml(self.blank_form()))
        return JSON_RULES.format(fields=fields, form=json.dumps(self.blank_form(), ensure_ascii=False))

    def blank_form(self) -> dict[str, Any]:
        """Return the form that the model fills in, whose texts can't be taken for an answer."""
        return {field.name: _blank(field) for field in self.fields}

    def parse(self, answer: str, *, truncated: bool = False) -> dict[str, Any]:
        """Return the fields' values: a str for a text, a list of str for a list, a list of dicts for records.

        If the answer was `truncated`, its incomplete last item may be left out. Several repairs are tried; if all fail,
        the FormatError of the most successful one is raised.
        """
        best_error, best_rank = FormatError("the answer is too long to be read"), (-1, False)
        for text in readings(answer, self.fields, truncated):
            try:
                return bind(read(text), self.fields)
            except FormatError as error:
                # In an answer with a fence, errors inside the fence are more informative.
                rank = (error.progress, text is not answer or "```" not in answer)
                if rank > best_rank:
                    best_error, best_rank = error, rank
        raise best_error if any(field.name in answer for field in self.fields) else none_of(self.fields)


def _object_schema(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _field_schema(field: Field) -> dict[str, Any]:
    about = {"description": field.about} if field.about else {}
    if field.kind is FieldKind.TEXT:
        return {"type": "string", **about}
    items = {"type": "string"} if field.kind is FieldKind.LIST else _object_schema(field.fields)
    return {"type": "array", "items": items, **about}


def _description(field: Field, margin: str = "") -> str:
    words = {
        FieldKind.TEXT: "text",
        FieldKind.LIST: "a list of texts",
        FieldKind.RECORDS: "a list of records, each with these",
    }
    about = f": {field.about}" if field.about else ""
    own = f"{margin}- `{field.name}` ({words[field.kind]}){about}"
    return "\n".join([own, *(_description(inner, margin + "  ") for inner in field.fields)])


def _blank(field: Field) -> Any:
    if field.kind is FieldKind.RECORDS:
        return [{inner.name: _blank(inner) for inner in field.fields}]
    return [field.blank] if field.kind is FieldKind.LIST else field.blank


def to_yaml(values: Mapping[str, Any]) -> str:
    """Return values as YAML in the format that prompts ask for: texts as blocks, lists of texts as quoted items."""
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, str):
            lines += [f"{name}: |", *(f"  {line}" for line in value.removesuffix("\n").split("\n"))]
            continue
        lines.append(f"{name}:" if value else f"{name}: []")
        for item in value:
            inner = [json.dumps(item, ensure_ascii=False)] if isinstance(item, str) else to_yaml(item)[:-1].split("\n")
            lines += [("- " if number == 0 else "  ") + line for number, line in enumerate(inner)]
    return "".join(f"{line}\n" for line in lines)
