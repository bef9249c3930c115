import { z } from "zod";

/** The objects that a patch or an ignore rule selects. Names, namespaces, groups, versions and kinds are anchored regular expressions. */
export const Selector = z.object({
  group: z.string().describe("API group of the objects.").exactOptional(),
  version: z.string().describe("API version of the objects.").exactOptional(),
  kind: z.string().describe("Kind of the objects.").exactOptional(),
  name: z.string().describe("Name of the objects.").exactOptional(),
  namespace: z.string().describe("Namespace of the objects.").exactOptional(),
  labelSelector: z.string().describe("Label selector in the notation of kubectl.").exactOptional(),
  annotationSelector: z.string().describe("Annotation selector in the notation of kubectl.").exactOptional(),
});

export const Patch = z.object({
  patch: z.string().describe("Strategic merge patch or JSON 6902 patch, as YAML or JSON text."),
  target: Selector.describe(
    "Objects to patch; a strategic merge patch without it names its object itself.",
  ).exactOptional(),
});
export type Patch = Readonly<z.infer<typeof Patch>>;

const Json6902Operation = z.object({
  op: z.enum(["test", "remove", "add", "replace", "move", "copy"]).describe("What to do."),
  path: z.string().describe("JSON pointer to the field."),
  from: z.string().describe("JSON pointer to the source of a move or copy.").exactOptional(),
  value: z
    .unknown()
    .meta({ description: "Value to test, add or put in place.", "x-kubernetes-preserve-unknown-fields": true })
    .exactOptional(),
});

/** An entry of `patchesJson6902`, a field of API versions before v1. */
export const Json6902Patch = z.object({
  patch: z.array(Json6902Operation).describe("Operations, applied in order."),
  target: Selector.describe("Objects to patch."),
});
