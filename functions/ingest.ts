import { z } from "zod";
import { repositoryEdge } from "../lib/core/edge-names.ts";
import { mapLimit } from "../lib/core/map-limit.ts";
import type { Edges } from "../lib/core/ports/edges.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";

export interface IngestDeps {
  readonly edges: Edges;
  readonly requests: ReconcileRequests;
  readonly log: Log;
  /** The hosts under which sources may name the registry of this account and region. */
  registryHosts(account: string, region: string): readonly string[];
}

/** Of an account's number and a region's name, in characters. */
export const maxAwsNameChars = 64;
/** Of a repository's name, a tag and a digest, in characters; ECR's own limit for names. */
export const maxEcrNameChars = 256;

/** An EventBridge event of ECR, as far as it is read: https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html */
export const EcrImageAction = z.object({
  source: z.literal("aws.ecr"),
  "detail-type": z.literal("ECR Image Action"),
  account: z.string().min(1).max(maxAwsNameChars),
  region: z.string().min(1).max(maxAwsNameChars),
  detail: z.object({
    "action-type": z.string(),
    result: z.string(),
    "repository-name": z.string().min(1).max(maxEcrNameChars),
    "image-digest": z.string().max(maxEcrNameChars).optional(),
    "image-tag": z.string().max(maxEcrNameChars).optional(),
  }),
});
export type EcrImageAction = z.infer<typeof EcrImageAction>;

const concurrency = 16;

/**
 * Takes a push to a registry and asks for a run of every source that listens to the repository. The event only says that
 * something may have changed: what is applied, the source itself finds out. Throws a `ZodError` for any other event.
 */
export function ingestHandler(deps: IngestDeps): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    const { account, region, detail } = EcrImageAction.parse(event);
    if (detail["action-type"] !== "PUSH" || detail.result !== "SUCCESS") return;
    const repository = detail["repository-name"];
    const whats = deps.registryHosts(account, region).map((host) => repositoryEdge(host, repository));
    const found = await mapLimit(whats, concurrency, (what, stop) => deps.edges.listeners(what, stop), signal);
    const listeners = found.flat();
    deps.log.info("push announced", {
      repository,
      tag: detail["image-tag"],
      digest: detail["image-digest"],
      listeners: listeners.length,
    });
    await mapLimit(listeners, concurrency, (key, stop) => deps.requests.request(key, "push", stop), signal);
  };
}

/** How ECR is named in image references, the partition of China included. */
export function ecrHosts(account: string, region: string): readonly string[] {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return [`${account}.dkr.ecr.${region}.${domain}`];
}
