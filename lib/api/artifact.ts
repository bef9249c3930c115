import { z } from "zod";

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
