import { z } from "zod";
import { nearestName } from "../../functions/settings/nearest-name.ts";
import { parseJson, readEmails, readFlag, readList, readSettings, told } from "./context-values.ts";

const clusterForm = "arn:aws:eks:<region>:<account>:cluster/<name>";
const repositoryForm = "arn:aws:ecr:<region>:<account>:repository/<name>";

/** The id of a resource of EC2. */
const idOf = (type: string) => {
  const message = `must be ${type}- and 8 or 17 hexadecimal digits`;
  return z.string(message).regex(new RegExp(`^${type}-([0-9a-f]{8}|[0-9a-f]{17})$`), message);
};

const Roles = z.strictObject(
  {
    reconcile: z.string("must be the ARN of a role"),
    definitions: z.string("must be the ARN of a role"),
    receiver: z.string("must be the ARN of a role").optional(),
    notify: z.string("must be the ARN of a role").optional(),
  },
  "must be an object with the role of each function",
);

const Cluster = z.strictObject({
  /** Of EKS. */
  arn: z
    .string(`is required, ${clusterForm}`)
    .regex(/^arn:[^:]+:eks:[^:]+:\d{12}:cluster\/.+$/, `must be ${clusterForm}`),
  /** Of another account. Default: none. */
  role: z.string("must be the ARN of a role").optional(),
  /** In place of `role`: one for each function. Default: none. */
  roles: Roles.optional(),
  /** As in `AddClusterProps`. Default: `namespaces`. */
  rights: z.enum(["namespaces", "clusterAdmin"], "must be namespaces or clusterAdmin").optional(),
  /** As in `AddClusterProps`. Default: `clusterAdmin`. */
  definitionsRights: z.enum(["clusterAdmin", "group"], "must be clusterAdmin or group").optional(),
  /** One of `networks`. Default: `default`, in no VPC. */
  network: z.string("must be one of networks").optional(),
  /** The security group of the cluster's endpoint, if it is private: the functions are let in there at port 443. */
  securityGroup: idOf("sg").optional(),
  /** Default: 20. */
  maxRuns: z.int("must be a whole number").optional(),
});

/** Subnets from which the functions reach clusters with a private endpoint. */
const NetworkEntry = z.strictObject({
  vpcId: idOf("vpc"),
  subnetIds: z
    .array(idOf("subnet"), "must be a list of subnets")
    .min(1, "must name one subnet at least")
    .refine((ids) => new Set(ids).size === ids.length, "must name each subnet once"),
  /** How the services of AWS are reached from there: nothing shows it at synth. */
  egress: z.enum(["nat", "endpoints"], "must be nat or endpoints: how the subnets reach AWS (docs/vpc.md)"),
});
const Networks = z.record(z.string(), NetworkEntry, "must be an object with a network by each name");

const RepositoryEntry = z.strictObject({
  arn: z
    .string(`is required, ${repositoryForm}`)
    .regex(/^arn:[^:]+:ecr:[^:]+:\d{12}:repository\/.+$/, `must be ${repositoryForm}`),
  /** ARNs of those that may pull it. Default: all. */
  clusters: z.array(z.string("must be the ARN of a cluster"), "must be a list of ARNs").optional(),
  /** Whose objects may pull it. */
  namespaces: z
    .array(
      z
        .string("must be the name of a namespace")
        .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be the name of a namespace"),
      "must be a list of names",
    )
    .default(["flux-system"]),
});

const bucketForm = "arn:aws:s3:::<name>";

const BucketEntry = z.strictObject({
  arn: z.string(`is required, ${bucketForm}`).regex(/^arn:[^:]+:s3:::[a-z0-9.-]+$/, `must be ${bucketForm}`),
  clusters: RepositoryEntry.shape.clusters,
  namespaces: RepositoryEntry.shape.namespaces,
});

/** The installation as the `context` of cdk.json has it, or the command line: `-c clusters=…`. */
export interface AppContext {
  /** Whether the clusters are written down at all; without, there are none. */
  readonly isGiven: boolean;
  /** Where the stack is deployed, `<account>/<region>`. Default: where the clusters without roles are. */
  readonly environment?: string;
  readonly clusters: readonly z.output<typeof Cluster>[];
  readonly repositories: readonly z.output<typeof RepositoryEntry>[];
  readonly buckets: readonly z.output<typeof BucketEntry>[];
  /** By name. */
  readonly networks: z.output<typeof Networks>;
  /** What becomes of table and bucket when the stack is deleted. */
  readonly removalPolicy: "RETAIN" | "DESTROY";
  /** Properties of `Sluice`. */
  readonly webhooks: boolean;
  readonly notifications: boolean;
  readonly admission: boolean;
  readonly allowDrops: boolean;
  /** As docs/settings.md has them; the construct names what is wrong in them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Who gets an email of each alarm, of those that page, and of the others. */
  readonly emails: readonly string[];
  readonly pageEmails: readonly string[];
  readonly ticketEmails: readonly string[];
}

const names = [
  ...["environment", "clusters", "repositories", "networks", "webhooks", "notifications", "admission", "removalPolicy"],
  ...["buckets", "emails", "pageEmails", "ticketEmails", "allowDrops", "settings", "sluice:emulator"],
];

/** What an app of one's own can set, and cdk.json cannot. */
const onlyInApps = [
  ...[
    "encryptionKey",
    "logEncryptionKey",
    "logRetention",
    "logLevel",
    "permissionsBoundary",
    "tags",
    "maxConcurrency",
    "reconcile",
  ],
  ...["pushesFrom", "breakGlassPrincipals", "pushToApplied", "dashboard", "budget"],
];

/** What to write for a cluster, and for an installation without any. */
export const clustersForm = `"clusters": [{ "arn": "${clusterForm}", "rights": "namespaces" }], or "clusters": [] for an installation without any`;

/**
 * Reads the context of the app; `all` has the CDK's own values too. Throws one error that names every value that is unknown or wrong,
 * and what to write.
 */
export function readContext(all: Readonly<Record<string, unknown>>): AppContext {
  const faults = Object.keys(all).filter(isOurs).flatMap(unknownName);
  const clusters = readList("clusters", all["clusters"], Cluster, faults, keysOfCluster);
  const repositories = readList("repositories", all["repositories"] ?? "none", RepositoryEntry, faults, () =>
    Object.keys(RepositoryEntry.shape),
  );
  const buckets = readList("buckets", all["buckets"] ?? "none", BucketEntry, faults, () =>
    Object.keys(BucketEntry.shape),
  );
  for (const [name, entries] of Object.entries({ clusters, repositories, buckets })) {
    const arns = entries.map(({ arn }) => arn);
    arns.forEach((arn, index) => {
      if (arns.indexOf(arn) < index) faults.push(`${name}[${index}].arn is given twice: remove one of the two`);
    });
  }
  const networks = readNetworks(all["networks"], faults);
  if (Object.hasOwn(networks, "default")) {
    faults.push("networks.default is that of clusters without a network, in no VPC: choose another name");
  }
  clusters.forEach(({ definitionsRights, network, role, roles, securityGroup }, index) => {
    if (definitionsRights !== undefined && (role !== undefined || roles !== undefined)) {
      faults.push(
        `clusters[${index}].definitionsRights is for a cluster in this stack's account and region: the access entry of a role in the cluster's account decides it, so remove it here`,
      );
    }
    if (network !== undefined && network !== "default" && !Object.hasOwn(networks, network)) {
      faults.push(`clusters[${index}].network is "${network}", which is not one of networks: add it there`);
    }
    if (securityGroup === undefined) return;
    if (network === undefined || network === "default") {
      faults.push(`clusters[${index}].securityGroup needs network, from which it is opened`);
    }
    if (role !== undefined || roles !== undefined) {
      faults.push(
        `clusters[${index}].securityGroup is for a cluster in this stack's account and region: for a cluster that is reached by roles, open port 443 there`,
      );
    }
  });
  const environment = readEnvironment(all["environment"], faults);
  const removalPolicy = all["removalPolicy"] ?? "RETAIN";
  if (removalPolicy !== "RETAIN" && removalPolicy !== "DESTROY") faults.push("removalPolicy must be RETAIN or DESTROY");
  const webhooks = readFlag("webhooks", all["webhooks"], faults);
  const notifications = readFlag("notifications", all["notifications"], faults);
  const admission = readFlag("admission", all["admission"], faults);
  const allowDrops = readFlag("allowDrops", all["allowDrops"], faults);
  const settings = readSettings(all["settings"], faults);
  const [emails = [], pageEmails = [], ticketEmails = []] = ["emails", "pageEmails", "ticketEmails"].map((name) =>
    readEmails(name, all[name], faults),
  );
  if (faults.length > 0) throw new Error(`the context of the app is not usable: ${faults.join("; ")}`);
  const isGiven = all["clusters"] !== undefined;
  const kept = removalPolicy === "DESTROY" ? "DESTROY" : "RETAIN";
  const lists = { clusters, repositories, buckets, networks, removalPolicy: kept } as const;
  return {
    isGiven,
    ...(environment === undefined ? {} : { environment }),
    ...lists,
    webhooks,
    notifications,
    admission,
    allowDrops,
    settings,
    emails,
    pageEmails,
    ticketEmails,
  };
}

function keysOfCluster(path: readonly PropertyKey[]): readonly string[] {
  return Object.keys(path.at(-1) === "roles" ? Roles.shape : Cluster.shape);
}

/** As `cdk bootstrap` takes it. */
const environmentForm = "aws://<account>/<region>";

function readEnvironment(value: unknown, faults: string[]): string | undefined {
  if (value === undefined) return undefined;
  const [, place] = /^aws:\/\/(\d{12}\/[a-z]{2}(?:-[a-z]+)+-\d)$/.exec(typeof value === "string" ? value : "") ?? [];
  if (place === undefined) faults.push(`environment must be ${environmentForm}`);
  return place;
}

/** The CDK's own names have a colon or a slash in them; "cli-telemetry" is in our cdk.json. */
function isOurs(name: string): boolean {
  return name.startsWith("sluice:") || (!/[:/]/.test(name) && name !== "cli-telemetry");
}

function unknownName(name: string): readonly string[] {
  if (names.includes(name)) return [];
  if (onlyInApps.includes(name)) {
    return [
      `${name} is not a value of cdk.json: set it in an app of your own, which sluice init writes (docs/constructs.md)`,
    ];
  }
  const near = nearestName(name, names);
  return [`${name} is not known: ${near === undefined ? `write one of ${names.join(", ")}` : `did you mean ${near}?`}`];
}

/** An object, or its JSON. */
function readNetworks(value: unknown, faults: string[]): z.output<typeof Networks> {
  if (value === undefined) return {};
  const parsed = Networks.safeParse(typeof value === "string" ? parseJson(value) : value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const [name, ...path] = issue.path;
    const network = name === undefined ? "networks" : `networks.${String(name)}`;
    faults.push(...told(network, { ...issue, path }, () => Object.keys(NetworkEntry.shape)));
  }
  return {};
}
