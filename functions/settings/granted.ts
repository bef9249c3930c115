import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";

const byNamespace = z.record(z.string(), z.array(z.string()));

/** What an installation lets clusters and namespaces do: what a later deployment must not take away in silence. */
const Granted = z.object({
  /** The clusters, and what Sluice's own role may do in each; `unknown` where the app makes no access entry. */
  clusters: z.record(z.string(), z.enum(["clusterAdmin", "namespaces", "unknown"])),
  /** By cluster and namespace. */
  repositories: z.record(z.string(), byNamespace),
  /** Absent where there are none: former releases did not have them. */
  buckets: z.record(z.string(), byNamespace).exactOptional(),
  decryptionKeys: z.record(z.string(), byNamespace),
  targets: z.record(z.string(), byNamespace),
  /** Absent where there are none: former releases did not have them. */
  notificationTargets: z.record(z.string(), byNamespace).exactOptional(),
  /** Absent where there are none: former releases did not have them. */
  cloudWatchRegions: z.record(z.string(), byNamespace).exactOptional(),
  /** The networks that take webhooks. */
  webhooks: z.array(z.string()),
  /** The networks that deliver notifications. Absent where there are none: former releases did not have them. */
  notifications: z.array(z.string()).exactOptional(),
  admission: z.boolean(),
});
export type Granted = z.infer<typeof Granted>;

/** A request of CloudFormation brings two of them to the function, and may have 256 KB. */
const maxTextBytes = 100_000;
/** Above it the text is compressed; below it a person can read it in `cdk diff`. */
const maxPlainBytes = 20_000;
const compressed = "deflate:";

/**
 * As the property of a custom resource. Throws where that would be too long for CloudFormation.
 *
 * @internal Exported for its tests and for the CDK app.
 */
export function writeGranted(granted: Granted): string {
  const plain = JSON.stringify(granted);
  const text =
    Buffer.byteLength(plain) <= maxPlainBytes ? plain : compressed + deflateRawSync(plain).toString("base64");
  if (Buffer.byteLength(text) <= maxTextBytes) return text;
  throw new Error(
    "its clusters, namespaces and repositories are too many for one installation: add a second Sluice for some of the clusters, with a stack of its own",
  );
}

/** The reverse of {@link writeGranted}. Throws where the text is none of its. */
export function readGranted(text: string): Granted {
  const plain = text.startsWith(compressed)
    ? inflateRawSync(Buffer.from(text.slice(compressed.length), "base64")).toString()
    : text;
  return Granted.parse(JSON.parse(plain));
}

/** What is in the first and no longer in the second, each as a reader is told of it. For a deleted cluster, only that. Pure. */
export function dropped(before: Granted, after: Granted): readonly string[] {
  const clusters = Object.keys(before.clusters).filter((arn) => after.clusters[arn] === undefined);
  const narrowed = Object.entries(before.clusters).filter(
    ([arn, rights]) => rights === "clusterAdmin" && after.clusters[arn] === "namespaces",
  );
  const lists = (
    what: "buckets" | "repositories" | "decryptionKeys" | "targets" | "notificationTargets" | "cloudWatchRegions",
    name: string,
  ) =>
    Object.entries(before[what] ?? {}).flatMap(([arn, namespaces]) =>
      clusters.includes(arn)
        ? []
        : Object.entries(namespaces).flatMap(([namespace, values]) => {
            const kept = after[what]?.[arn]?.[namespace] ?? [];
            const gone = values.filter((value) => !kept.includes(value));
            return gone.map((value) => `the ${name} ${value} for the namespace ${namespace} of the cluster ${arn}`);
          }),
    );
  return [
    ...clusters.map((arn) => `the cluster ${arn}`),
    ...narrowed.map(([arn]) => `the rights clusterAdmin in the cluster ${arn}, which become namespaces`),
    ...before.webhooks
      .filter((network) => !after.webhooks.includes(network))
      .map((network) => `the URL for webhooks of the network ${network}`),
    ...(before.notifications ?? [])
      .filter((network) => !(after.notifications ?? []).includes(network))
      .map((network) => `the notifications of the network ${network}`),
    ...(before.admission && !after.admission ? ["the admission webhook"] : []),
    ...lists("repositories", "repository"),
    ...lists("buckets", "bucket"),
    ...lists("decryptionKeys", "KMS key"),
    ...lists("targets", "target cluster"),
    ...lists("notificationTargets", "target of notifications"),
    ...lists("cloudWatchRegions", "CloudWatch of the region"),
  ];
}
