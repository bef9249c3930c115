import { z } from "zod";
import { Conditions } from "./condition.ts";

/** `status.artifact` of every source (reference sources 1.2). */
export const Artifact = z.object({
  digest: z
    .string()
    .regex(/^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$/, "must be <algorithm>:<hexadecimal digits>")
    .describe("Digest of the stored file."),
  path: z.string().describe("Path of the file in the artifact storage."),
  url: z.string().describe("Address of the file."),
  revision: z.string().describe("What it was made from, for example <tag>@sha256:<digits>."),
  lastUpdateTime: z.string().meta({ format: "date-time" }).describe("When the file was stored."),
  size: z.number().int().describe("Bytes of the file.").exactOptional(),
  metadata: z.record(z.string(), z.string()).describe("Annotations of its origin.").exactOptional(),
});
export type Artifact = Readonly<z.infer<typeof Artifact>>;

/** The fields of `status` that every kind of source has (reference sources 1.2, 1.3). A kind adds its own. */
export const SourceStatus = z.object({
  observedGeneration: z.number().int().describe("Generation that was last looked at.").exactOptional(),
  conditions: Conditions.exactOptional(),
  url: z.string().describe("Address of the latest artifact.").exactOptional(),
  artifact: Artifact.describe("The latest artifact.").exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last handled request for a run.").exactOptional(),
});
export type SourceStatus = Readonly<z.infer<typeof SourceStatus>>;

/** The fields of `spec` that every kind of source has. */
export interface SourceSpec {
  /** A duration such as `10m`; a minute if it is absent. */
  readonly interval?: string;
  readonly suspend?: boolean;
}
