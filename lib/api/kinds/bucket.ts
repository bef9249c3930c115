import { sourceGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredBucket = {
  group: sourceGroup,
  kind: "Bucket",
  plural: "buckets",
  shortNames: [],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "Bucket keeps the latest artifact of an object storage bucket at hand.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [{ name: "Endpoint", type: "string", jsonPath: ".spec.endpoint" }, ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const { BucketSpec, BucketStatus } = await import("../bucket.ts");
    return { spec: BucketSpec, status: BucketStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  words: {
    one: "bucket",
    many: "buckets",
    aliases: [],
    plural: "Buckets",
    revision: ["status", "artifact", "revision"],
    done: "fetched",
  },
} as const satisfies KindDeclaration;
