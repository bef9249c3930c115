import { z } from "zod";
import { Conditions } from "./condition.ts";
import { Artifact } from "./source.ts";

/** `spec` of an ExternalArtifact (reference sources 9): what made it, for people who look at it. */
export const ExternalArtifactSpec = z.object({
  sourceRef: z
    .object({
      apiVersion: z.string().describe("API version of the object.").exactOptional(),
      kind: z.string().describe("Kind of the object."),
      name: z.string().describe("Name of the object."),
      namespace: z.string().describe("Namespace of the object.").exactOptional(),
    })
    .describe("Object that the artifact was made for.")
    .exactOptional(),
});

/** `status` of an ExternalArtifact, which its producer writes. */
export const ExternalArtifactStatus = z.object({
  artifact: Artifact.describe("The latest artifact.").exactOptional(),
  conditions: Conditions.exactOptional(),
});
