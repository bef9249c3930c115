import { formatJson, type JsonObject } from "../core/json.ts";
import type { Resource } from "../resource/resource.ts";
import type { StoredObject } from "../store/stored-object.ts";
import { printerFor } from "../tables/printer-for.ts";
import { columnDefinitions, type IncludeObject, type Printer } from "../tables/table.ts";
import { type Cluster, parseAsked } from "./cluster.ts";
import { badRequest } from "./errors.ts";
import { objectText, partialText } from "./render.ts";

export interface TableForm {
  readonly resource: Resource;
  readonly printer: Printer;
  readonly include: IncludeObject;
  readonly now: () => Date;
}

const includes: readonly IncludeObject[] = ["None", "Metadata", "Object"];

/** How this request wants its Table. @throws {StatusError} 400 */
export function tableOf(query: URLSearchParams, resource: Resource, cluster: Cluster): TableForm {
  const wanted = query.get("includeObject") ?? "";
  const include = wanted === "" ? "Metadata" : includes.find((known) => known === wanted);
  if (include === undefined) {
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(wanted)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return { resource, printer: printerFor(resource), include, now: cluster.now };
}

/** JSON text of a Table; later ones of a watch leave out the columns. */
export function tableText(
  { resource, printer, include, now }: TableForm,
  items: readonly StoredObject[],
  metadata: JsonObject,
  hasColumns = true,
): string {
  const time = now();
  const rows = items.map((stored) => {
    const cells = printer.cells(parseAsked(resource, stored), time);
    return `{"cells":${formatJson(cells)},"object":${rowObject(stored, resource, include)}}`;
  });
  const columns = hasColumns ? JSON.stringify(columnDefinitions(printer.columns)) : "null";
  const head = `"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)}`;
  return `{${head},"columnDefinitions":${columns},"rows":[${rows.join(",")}]}`;
}

function rowObject(stored: StoredObject, resource: Resource, include: IncludeObject): string {
  switch (include) {
    case "None":
      return "null";
    case "Metadata":
      return partialText(stored);
    case "Object":
      return objectText(stored, resource);
  }
}
