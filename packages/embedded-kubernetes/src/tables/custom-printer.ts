import type { Json, JsonObject } from "../core/json.ts";
import { numberOf, textOf } from "../core/json-fields.ts";
import { plainText } from "../core/plain-text.ts";
import type { CustomVersion } from "../resource/custom-version.ts";
import { ageSince } from "./age.ts";
import { findByPath } from "./json-path.ts";
import { type Column, column, metadataText, nameColumn, type Printer } from "./table.ts";

const ownAge: JsonObject = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The columns that a definition asks for, after the name; without any, the age. */
export function customPrinter({ printerColumns }: CustomVersion): Printer {
  const asked = printerColumns.length === 0 ? [ownAge] : printerColumns;
  return {
    columns: [nameColumn, ...asked.map(columnOf)],
    cells: (object, now) => [
      metadataText(object, "name"),
      ...asked.map((one) => cellOf(findByPath(object, textOf(one, "jsonPath")), typeOf(one), now)),
    ],
  };
}

function columnOf(asked: JsonObject): Column {
  return column(textOf(asked, "name"), typeOf(asked), numberOf(asked, "priority") ?? 0, textOf(asked, "format"));
}

function typeOf(asked: JsonObject): Column["type"] {
  const types: readonly Column["type"][] = ["integer", "number", "boolean", "date"];
  return types.find((known) => known === textOf(asked, "type")) ?? "string";
}

function cellOf([first, ...others]: readonly Json[], type: Column["type"], now: Date): Json {
  if (first === undefined || first === null) return null;
  switch (type) {
    case "integer":
      return typeof first === "number" ? Math.trunc(first) : null;
    case "number":
      return typeof first === "number" ? first : null;
    case "boolean":
      return typeof first === "boolean" ? first : null;
    case "date":
      return typeof first === "string" ? ageSince(first, now) : "<unknown>";
    case "string":
      return [first, ...others].map((value) => plainText(value)).join(" ");
  }
}
