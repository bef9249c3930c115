import { z } from "zod";
import { Conditions } from "../../../../lib/api/condition.ts";
import { Artifact } from "../../../../lib/api/source.ts";
import { Digest } from "../../../../lib/core/digest.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { bucketFlow } from "../../../../lib/flows/bucket/bucket-flow.ts";
import type { BucketParts } from "../../../../lib/flows/bucket/open-bucket.ts";
import { defaultArchiveLimits, unpack } from "../../../../lib/sources/archive/unpack.ts";
import { untilDeadline } from "../../../deadline.ts";
import { type S3Server, s3Server } from "../../../doubles/s3-server.ts";
import { sourceWorld } from "../source-world.ts";

const Status = z
  .object({
    conditions: Conditions.default([]),
    artifact: Artifact.exactOptional(),
    observedGeneration: z.number(),
    observedIgnore: z.string().optional(),
    url: z.string().optional(),
  })
  .loose();

export type BucketWorld = Awaited<ReturnType<typeof bucketWorld>>;

/** A Bucket `app` of the namespace `apps` between a cluster of plain objects and an S3 server of its own. */
export async function bucketWorld(parts: Partial<BucketParts> = {}) {
  const world = await sourceWorld(undefined, "Bucket");
  const s3: S3Server = await s3Server();
  const status = () => Status.parse(world.get("app")["status"]);
  const artifact = () => {
    const found = status().artifact;
    if (found === undefined) throw new Error("no artifact");
    return found;
  };
  return {
    ...world,
    s3,
    status,
    artifact,
    ready: () => {
      const found = status().conditions.find(({ type }) => type === "Ready");
      return `${found?.status} ${found?.reason}: ${found?.message}`;
    },
    conditions: () => status().conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`),
    messages: () => world.events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`),
    /** Replaces the objects of a bucket. */
    hold(objects: Readonly<Record<string, string>>, bucket = "things"): void {
      s3.buckets.set(bucket, new Map(Object.entries(objects).map(([key, text]) => [key, Buffer.from(text)])));
    },
    /** Creates or changes the Bucket. */
    bucket(spec: JsonObject = {}): void {
      world.apply({
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "Bucket",
        metadata: { name: "app", namespace: "apps" },
        spec: { interval: "1h", bucketName: "things", endpoint: s3.endpoint, insecure: true, ...spec },
      });
    },
    secret(name: string, data: Readonly<Record<string, string>>): void {
      const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]));
      world.apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "apps" }, data: encoded });
    },
    /** One run. */
    reconcile: () => world.run("app", untilDeadline(), (deps) => bucketFlow({ ...deps, logins: {}, ...parts })),
    /** The files and folders of the stored artifact, with the text of files. */
    async files(): Promise<Readonly<Record<string, string>>> {
      const bytes = world.stored.get(Digest.parse(artifact().digest));
      const { entries } = await unpack(bytes ?? new Uint8Array(), defaultArchiveLimits, untilDeadline());
      return Object.fromEntries(
        entries.map((entry) =>
          entry.type === "file" ? [entry.path, Buffer.from(entry.bytes).toString()] : [`${entry.path}/`, ""],
        ),
      );
    },
    async close(): Promise<void> {
      await s3[Symbol.asyncDispose]();
      await world.close();
    },
  };
}
