import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";

const byNamespace = z.record(z.string(), z.array(z.string()));

/** What an installation lets clusters and namespaces do. A later deployment that takes some of it away has to say so. */
const Granted = z.object({
  /** By cluster, what Sluice's own role may do there; `unknown` if the app creates no access entry for it. */
  clusters: z.record(z.string(), z.enum(["clusterAdmin", "namespaces", "unknown"])),
  /** By cluster and namespace. */
  repositories: z.record(z.string(), byNamespace),
  /** Unset if there are none, and in documents of former releases. */
  buckets: z.record(z.string(), byNamespace).exactOptional(),
  decryptionKeys: z.record(z.string(), byNamespace),
  targets: z.record(z.string(), byNamespace),
  /** Unset if there are none, and in documents of former releases. */
  notificationTargets: z.record(z.string(), byNamespace).exactOptional(),
  /** Unset if there are none, and in documents of former releases. */
  cloudWatchRegions: z.record(z.string(), byNamespace).exactOptional(),
  /** The networks that take webhooks. */
  webhooks: z.array(z.string()),
  /** The networks that deliver notifications. Unset if there are none, and in documents of former releases. */
  notifications: z.array(z.string()).exactOptional(),
  admission: z.boolean(),
  /** Whether table and bucket outlive the stack. Unset in documents of former releases. */
  retained: z.boolean().exactOptional(),
  /** The email addresses that get alarms, by severity. Unset if there are none, and in documents of former releases. */
  alarmEmails: z.object({ page: z.array(z.string()), ticket: z.array(z.string()) }).exactOptional(),
});
export type Granted = z.infer<typeof Granted>;

/** A request of CloudFormation carries two such texts, before and after, and may be 256 KB long. */
const maxTextBytes = 100_000;
/** Longer texts are compressed. Shorter ones stay readable in `cdk diff`. */
const maxPlainBytes = 20_000;
const compressed = "deflate:";

/**
 * The text of a property of a custom resource. Throws if it is too long for CloudFormation.
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

/** Reads a text of {@link writeGranted}. Throws for any other text. */
export function readGranted(text: string): Granted {
  const plain = text.startsWith(compressed)
    ? inflateRawSync(Buffer.from(text.slice(compressed.length), "base64")).toString()
    : text;
  return Granted.parse(JSON.parse(plain));
}

/** What `after` takes away, each as a phrase for the user. Of a removed cluster only the cluster is listed. Pure. */
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
    ...(before.retained === true && after.retained === false
      ? ["the protection of the table and the bucket, which would be deleted with the stack (removalPolicy DESTROY)"]
      : []),
    ...droppedEmails(before, after),
    ...lists("repositories", "repository"),
    ...lists("buckets", "bucket"),
    ...lists("decryptionKeys", "KMS key"),
    ...lists("targets", "target cluster"),
    ...lists("notificationTargets", "target of notifications"),
    ...lists("cloudWatchRegions", "CloudWatch of the region"),
  ];
}

function droppedEmails({ alarmEmails: before }: Granted, { alarmEmails: after }: Granted): readonly string[] {
  const phrases = { page: "alarms that page", ticket: "alarms that make a ticket" };
  return (["page", "ticket"] as const).flatMap((severity) =>
    (before?.[severity] ?? [])
      .filter((address) => after?.[severity].includes(address) !== true)
      .map((address) => `the email address ${address} for ${phrases[severity]}`),
  );
}
