import { stringify } from "yaml";
import { definedKinds } from "../lib/api/kinds/declared-kinds.ts";
import { customResourceDefinition } from "../lib/definitions/custom-resource-definition.ts";

/** The files of `infra/crds/`, sorted: name and text of each, the same for the same schemas. */
export async function crdFiles(): Promise<ReadonlyMap<string, string>> {
  const files = await Promise.all(
    definedKinds.map(async (kind): Promise<[string, string]> => {
      const definition = stringify(await customResourceDefinition(kind), {
        lineWidth: 0,
        aliasDuplicateObjects: false,
      });
      const head = '# Generated from lib/api by "node infra/write-crds.ts"; do not edit.\n';
      return [`${kind.plural}.${kind.group}.yaml`, head + definition];
    }),
  );
  return new Map(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
