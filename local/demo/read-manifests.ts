import { loadAll } from "js-yaml";
import { z } from "zod";
import type { Manifest } from "../../lib/core/manifest.ts";

const Written = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/** The objects of a YAML text that we wrote ourselves: an example, a piece of the demo. */
export function readManifests(text: string): readonly Manifest[] {
  return loadAll(text).map((document) => Written.parse(document));
}
