import { stringify } from "yaml";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { kinds } from "./kinds.ts";

/** The files of `infra/crds/`: name and text of each, the same for the same schemas. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(
    kinds.map((kind) => [
      `${kind.plural}.${kind.group}.yaml`,
      `# Generated from lib/api by "node infra/write-crds.ts"; do not edit.\n${stringify(customResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false })}`,
    ]),
  );
}
