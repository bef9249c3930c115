import type { Resource } from "../server/resource.ts";
import { ageOf } from "./age.ts";
import { metadataText } from "./metadata-text.ts";
import { ageColumn, nameColumn, type Printer } from "./table.ts";

/** How objects of a resource are shown in a Table. */
export function printerFor(_resource: Resource): Printer {
  return plain;
}

const plain: Printer = {
  columns: [nameColumn, ageColumn],
  cells: (object, now) => [metadataText(object, "name"), ageOf(object, now)],
};
