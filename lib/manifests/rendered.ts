import type { JsonObject } from "../core/json.ts";
import { mapping, textIn } from "./fields.ts";

/** The objects of a build, and the YAML that kustomize prints of them, one document each. */
export interface BuildOutput {
  readonly objects: readonly JsonObject[];
  readonly text: string;
}

/** Between two objects as kustomize prints them. */
export const separator = "---\n";

/** The documents of what kustomize prints: it indents everything inside of one that could look like a separator. */
export function documentsOf(text: string): readonly string[] {
  return text.split(/^---\n/m);
}

/** As kustomize names an object: `Deployment.v1.apps/web`. */
export function describe({ apiVersion, kind, metadata }: JsonObject): string {
  const [version = "", group = "[noGrp]"] = textIn(apiVersion).split("/").toReversed();
  return `${[textIn(kind), version, group].join(".")}/${textIn(mapping(metadata)["name"])}`;
}
