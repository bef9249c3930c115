import { z } from "zod";
import { isJsonObject } from "../../lib/core/json.ts";
import { clusterArnPattern } from "../../lib/core/work-key.ts";
import { isBucketName } from "./allowed-buckets.ts";
import { isKeyPattern } from "./allowed-keys.ts";
import { isNotificationTarget } from "./allowed-notification-targets.ts";
import { isRegion } from "./allowed-regions.ts";
import { isRepositoryPattern } from "./allowed-repositories.ts";
import { isTargetPattern, namesEachOnce } from "./allowed-targets.ts";
import { type EffectiveSettings, effectiveSettings } from "./effective-settings.ts";
import { nearestName } from "./nearest-name.ts";
import type { Settings } from "./settings.ts";

/** More are refused: a second installation, with a table of its own, then takes the others. */
export const maxClusters = 200;
/** Each network has a reconcile function and a queue of its own. */
export const maxNetworks = 10;
/** The length of a document in bytes. */
export const maxInstallationBytes = 1_048_576;

/** The network of a cluster that names none. */
export const defaultNetwork = "default";
/** What a network may be called; it is part of the names of resources. */
export const networkPattern = /^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/;

const rolePattern = /^arn:(aws[\w-]*):iam::([0-9]{12}):role\/[\w+=,.@/-]{1,512}$/;
const RoleArn = z.string("must be text").regex(rolePattern, "must be arn:aws:iam::<account>:role/<name>");
const namespacePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const runsMessage = "must be a whole number from 1 to 1000";

const ClusterEntry = z.strictObject(
  {
    /** The ARN of an EKS cluster; its id in every key. */
    arn: z
      .string("is required, as text")
      .regex(clusterArnPattern, "must be arn:aws:eks:<region>:<account>:cluster/<name>"),
    /**
     * The role that every function assumes to describe the cluster and to sign its token, where the cluster is in another account. Not
     * where a receiver is open to the internet: that one gets a role of its own by `roles`.
     */
    role: RoleArn.optional(),
    /** In place of `role`: one for each function that reads this document and enters clusters. */
    roles: z
      .strictObject(
        { reconcile: RoleArn, receiver: RoleArn.optional(), notify: RoleArn.optional() },
        "must be an object with the role of each function",
      )
      .optional(),
    /** Its clusters share a reconcile function and a queue of wake-ups. */
    network: z
      .string("must be text")
      .regex(networkPattern, "must be letters, digits and hyphens, 32 at most")
      .default(defaultNetwork),
    /** Runs of objects of this cluster at the same time, in all processes together. */
    maxRuns: z.int(runsMessage).min(1, runsMessage).max(1_000, runsMessage).default(20),
    /** Repositories of ECR and CodeCommit that objects of a namespace may pull with our identity: `{"apps": ["<host of ECR>/team/*"]}`. */
    repositories: z
      .record(
        z.string().regex(namespacePattern, "must be the name of a namespace"),
        z
          .array(
            z
              .string("must be text")
              .refine(
                isRepositoryPattern,
                "must begin with the whole host of ECR or CodeCommit: <account>.dkr.ecr.<region>.amazonaws.com/team/*",
              ),
            "must be a list of repositories",
          )
          .max(100, "must be 100 repositories at most"),
        "must list repositories by namespace",
      )
      .default({}),
    /** Buckets of S3 that objects of a namespace may read with our identity: `{"apps": ["<name of a bucket>"]}`. */
    buckets: z
      .record(
        z.string().regex(namespacePattern, "must be the name of a namespace"),
        z
          .array(
            z
              .string("must be text")
              .refine(isBucketName, "must be the name of a bucket, without arn: and without a prefix"),
            "must be a list of buckets",
          )
          .max(100, "must be 100 buckets at most"),
        "must list buckets by namespace",
      )
      .default({}),
    /** KMS keys that our identity opens data keys with for Kustomizations of a namespace: `{"apps": ["<ARN of a key>"]}`. */
    decryptionKeys: z
      .record(
        z.string().regex(namespacePattern, "must be the name of a namespace"),
        z
          .array(
            z
              .string("must be text")
              .refine(
                isKeyPattern,
                "must be arn:aws:kms:<region>:<account>:key/<id> or …:alias/<name>, with or without +arn:aws:iam::<account>:role/<name>",
              ),
            "must be a list of keys",
          )
          .max(100, "must be 100 keys at most"),
        "must list keys by namespace",
      )
      .default({}),
    /** Clusters of EKS that Kustomizations of a namespace may apply to by a ConfigMap: `{"apps": ["<ARN of a cluster>"]}`. */
    targets: z
      .record(
        z.string().regex(namespacePattern, "must be the name of a namespace"),
        z
          .array(
            z
              .string("must be text")
              .refine(
                isTargetPattern,
                "must be arn:aws:eks:<region>:<account>:cluster/<name>, with or without +arn:aws:iam::<the same account>:role/<name>",
              ),
            "must be a list of clusters",
          )
          .max(100, "must be 100 clusters at most")
          .refine(namesEachOnce, "must list each cluster once, with or without a role"),
        "must list clusters by namespace",
      )
      .default({}),
    /** Topics, buses and queues that notifications of a namespace go to with our identity: `{"apps": ["<ARN of a topic>"]}`. */
    notificationTargets: z
      .record(
        z.string().regex(namespacePattern, "must be the name of a namespace"),
        z
          .array(
            z
              .string("must be text")
              .refine(
                isNotificationTarget,
                "must be arn:aws:sns:<region>:<account>:<topic>, arn:aws:events:<region>:<account>:event-bus/<name> or arn:aws:sqs:<region>:<account>:<queue>",
              ),
            "must be a list of topics, buses and queues",
          )
          .max(100, "must be 100 targets at most"),
        "must list targets by namespace",
      )
      .default({}),
    /** Regions whose CloudWatch MetricTemplates of a namespace read with our identity: `{"apps": ["eu-west-1"]}`. Absent: none. */
    cloudWatchRegions: z
      .record(
        z.string().regex(namespacePattern, "must be the name of a namespace"),
        z
          .array(
            z.string("must be text").refine(isRegion, "must be the name of a region, such as eu-west-1"),
            "must be a list of regions",
          )
          .max(100, "must be 100 regions at most"),
        "must list regions by namespace",
      )
      .exactOptional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? "must be an object with the ARN of a cluster" : undefined) },
);
/** A cluster of an installation. */
export type ClusterEntry = z.output<typeof ClusterEntry>;

/** The role that a function assumes to enter a cluster; undefined: it enters with its own. */
export function roleOf(
  { role, roles }: Pick<ClusterEntry, "role" | "roles">,
  name: "reconcile" | "receiver" | "notify",
): string | undefined {
  return roles === undefined ? role : roles[name];
}

/**
 * An installation: the clusters that it looks after, and its settings (docs/settings.md). The functions read it from S3, and the CDK
 * app checks it at synth, both by this schema (docs/maintainers/adr/0026-the-id-of-a-cluster.md).
 */
export const Installation = z
  .strictObject({
    version: z.literal(1, "must be 1: this release supports no other"),
    clusters: z
      .array(ClusterEntry, "must be a list of clusters")
      .max(maxClusters, `must be ${maxClusters} clusters at most: use a second installation for the others`),
    settings: z
      .custom<z.input<typeof Settings>>()
      .default({})
      .transform((document, context): EffectiveSettings => {
        const settings = effectiveSettings(document);
        if (!("faults" in settings)) return settings;
        for (const message of settings.faults) context.addIssue({ code: "custom", message });
        return z.NEVER;
      }),
  })
  .check(({ value: { clusters }, issues }) => {
    const fault = (path: PropertyKey[], message: string) =>
      issues.push({ code: "custom", input: undefined, path, message });
    const first = new Map<string, number>();
    clusters.forEach(({ arn, role, roles = {} }, index) => {
      // Its partition says nothing that its region does not say.
      const [, , , region, account, name] = arn.split(":");
      const cluster = `${region} ${account} ${name}`;
      const before = first.get(cluster);
      if (before === undefined) first.set(cluster, index);
      else fault(["clusters", index, "arn"], `is the cluster of clusters[${before}] too: remove one of them`);
      for (const [path, one] of [["role", role], ...Object.entries(roles).map(([key, arn]) => [`roles.${key}`, arn])]) {
        if (one === undefined || (rolePattern.exec(one)?.[2] ?? account) === account) continue;
        fault(
          ["clusters", index, ...String(path).split(".")],
          "must be in the account of its cluster: EKS describes a cluster to no other account",
        );
      }
      if (role !== undefined && Object.keys(roles).length > 0)
        fault(["clusters", index, "roles"], "must not be given together with role: keep one of the two");
      if (roles.receiver !== undefined && roles.receiver === roles.reconcile)
        fault(
          ["clusters", index, "roles", "receiver"],
          "must be another role than roles.reconcile: the receiver is open to the internet",
        );
    });
    const networks = new Set(clusters.map(({ network }) => network));
    if (networks.size > maxNetworks) fault(["clusters"], `must be in ${maxNetworks} networks at most`);
  });
export type Installation = z.output<typeof Installation>;
/**
 * An installation as its document has it.
 *
 * @internal Exported for its tests and for the CDK app.
 */
export type InstallationDocument = z.input<typeof Installation>;

/** The keys of each level, for the nearest to one that is misspelled. */
const keysOf = (path: readonly PropertyKey[]): readonly string[] =>
  path.includes("roles")
    ? ["reconcile", "receiver", "notify"]
    : Object.keys(path[0] === "clusters" ? ClusterEntry.shape : Installation.shape);

/**
 * Reads the JSON of an installation. Answers the faults of one that cannot be used, each with the key, what is wrong and how to mend
 * it. No value is quoted.
 */
export function readInstallation(text: string): Installation | { readonly faults: readonly string[] } {
  if (Buffer.byteLength(text) > maxInstallationBytes) {
    return { faults: [`the document must be of ${maxInstallationBytes} bytes at most: use a second installation`] };
  }
  const document = parseJson(text);
  if (!isJsonObject(document)) return { faults: ["the document must be an object in JSON"] };
  const parsed = Installation.safeParse(document);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(issue.path, key));
    if (issue.code === "invalid_key") return `${nameOf(issue.path)} ${issue.issues[0]?.message ?? issue.message}`;
    return `${nameOf(issue.path)}${issue.path[0] === "settings" ? ": " : " "}${issue.message}`;
  });
  return { faults: [...new Set(faults)] };
}

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const near = nearestName(key, keysOf(path));
  const mend = near === undefined ? `remove it, or choose of ${keysOf(path).join(", ")}` : `did you mean ${near}?`;
  return `${nameOf([...path, key])} is not known: ${mend}`;
}

/** `clusters[3].network`. */
function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the document";
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))
    .join("");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says what was expected; the parser's words would quote the text.
    return undefined;
  }
}
