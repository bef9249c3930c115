import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Aspects, AssetHashType, FileSystem, Lazy, Stack, Token } from "aws-cdk-lib";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import { Construct } from "constructs";
import { z } from "zod";
import type { Granted } from "../../functions/settings/granted.ts";
import {
  type InstallationDocument as Document,
  defaultNetwork,
  maxClusters,
  readInstallation,
} from "../../functions/settings/installation.ts";
import type { ServedCluster } from "./service.ts";
import { type NeededEndpoint, neededEndpoints } from "./vpc-endpoints.ts";

type Entry = Document["clusters"][number] & {
  readonly repositories: Record<string, string[]>;
  buckets?: Record<string, string[]>;
};

/**
 * The document from which the functions read their clusters, repositories and settings (ADR 0026). It is an asset, since the
 * environment of a function holds only 4 KB. Its name is the digest of its bytes: after a rollback a function reads the document that it
 * was deployed with.
 */
export class InstallationDocument extends Construct {
  private readonly clusters = new Map<string, Entry>();
  /** The rights of Sluice's own role in the clusters. They are not in the document. */
  private readonly rights = new Map<string, Granted["clusters"][string]>();
  private readonly settings: Readonly<Record<string, unknown>>;
  private readonly tellers: ((arn: string) => void)[] = [];
  private asset: Asset | undefined;

  constructor(scope: Construct, id: string, settings: Readonly<Record<string, unknown>>) {
    super(scope, id);
    this.settings = settings;
    this.check(this.node.path, [], settings);
    // Clusters are added after the functions are made, so it is written when the whole app is known.
    Aspects.of(this).add({
      visit: (node) => {
        if (node === this) this.written();
      },
    });
  }

  serve(cluster: ServedCluster): void {
    const { arn, role, network = defaultNetwork, maxRuns = 20, decryptionKeys = {}, targets = {} } = cluster;
    const { cloudWatchRegions = {}, notificationTargets = {} } = cluster;
    const { reconcile, receiver, notify } = cluster.roles ?? {};
    const named = `${this.node.path}: the cluster ${Token.isUnresolved(arn) ? "that was added" : `"${arn}"`}`;
    if (
      [arn, role, reconcile, receiver, notify, network].some((value) => Token.isUnresolved(value)) ||
      Token.isUnresolved(maxRuns)
    ) {
      throw new Error(
        `${named} has a token in its ARN, role, network or maxRuns, which are known only while the stack is deployed; functions learn of clusters from a file that is written before: write literal values, arn:aws:eks:<region>:<account>:cluster/<name>`,
      );
    }
    const byNamespace = { decryptionKeys, targets, notificationTargets, cloudWatchRegions };
    const lists = Object.entries(byNamespace).flatMap(([name, given]) => {
      const list = Object.fromEntries(Object.entries(given).map(([namespace, arns]) => [namespace, [...arns]]));
      if (
        Object.entries(list)
          .flat(2)
          .some((value) => Token.isUnresolved(value))
      ) {
        throw new Error(
          `${named} has a token in its ${name}, which is known only while the stack is deployed: write literal ${name === "cloudWatchRegions" ? "names of regions" : "ARNs"}`,
        );
      }
      return Object.keys(list).length === 0 ? [] : [[name, list] as const];
    });
    const entry = {
      ...{ arn, role, network, maxRuns, repositories: {} },
      // The other roles are of functions that do not read this document.
      ...(reconcile === undefined ? {} : { roles: { reconcile, receiver, notify } }),
      ...Object.fromEntries(lists),
    };
    this.check(named, [entry], {}, (fault) => fault.replace("clusters[0].", "its "));
    if (this.clusters.has(arn)) throw new Error(`${named} is added twice: keep one of the two`);
    if (this.clusters.size === maxClusters) {
      throw new Error(
        `${named} is one too many: a Sluice looks after ${maxClusters} clusters at most. Add a second Sluice for the others, with a stack of its own`,
      );
    }
    this.clusters.set(arn, entry);
    this.rights.set(arn, cluster.rights ?? "unknown");
  }

  allow(cluster: string, namespace: string, pattern: string, what: "buckets" | "repositories" = "repositories"): void {
    const entry = this.clusters.get(cluster);
    if (entry === undefined) {
      const known = [...this.clusters.keys()].join(", ");
      throw new Error(
        `${this.node.path}: the cluster "${cluster}" is not one of this Sluice: add it first, or name one of ${known === "" ? "none" : known}`,
      );
    }
    if (Token.isUnresolved(namespace) || Token.isUnresolved(pattern)) {
      throw new Error(
        `${this.node.path}: the ${what === "buckets" ? "bucket" : "repository"} or the namespace that may be pulled from "${cluster}" is a token, which is known only while the stack is deployed: write literal values`,
      );
    }
    const patterns = ((what === "buckets" ? (entry.buckets ??= {}) : entry.repositories)[namespace] ??= []);
    if (!patterns.includes(pattern)) patterns.push(pattern);
  }

  served(): readonly ServedCluster[] {
    return [...this.clusters.values()].map(({ arn, role, roles, network, maxRuns }) => ({
      arn,
      role,
      roles,
      network,
      maxRuns,
    }));
  }

  /** The VPC endpoints that the functions of a network without internet access need for the services in this document. */
  neededEndpoints(network: string): readonly NeededEndpoint[] {
    const entries = [...this.clusters.values()].filter((one) => (one.network ?? defaultNetwork) === network);
    const listed = (key: "decryptionKeys" | "notificationTargets" | "repositories" | "targets") =>
      entries.flatMap((one) => Object.values(one[key] ?? {}).flat());
    const uses = {
      roles:
        entries.some(({ role, roles }) => role !== undefined || roles !== undefined) ||
        [...listed("targets"), ...listed("decryptionKeys")].some((one) => one.includes("+")),
      decryptionKeys: listed("decryptionKeys").length > 0,
      ecr: listed("repositories").some((one) => !isCodeCommit(one)),
      codecommit: listed("repositories").some(isCodeCommit),
      sns: listed("notificationTargets").some((one) => one.split(":")[2] === "sns"),
      cloudWatch: entries.some((one) => Object.keys(one.cloudWatchRegions ?? {}).length > 0),
      events: listed("notificationTargets").some((one) => one.split(":")[2] === "events"),
    };
    return neededEndpoints.filter(({ neededBy }) => neededBy === undefined || uses[neededBy]);
  }

  /** What the clusters and namespaces may do. The same for any order in which clusters were added. */
  granted(): Omit<Granted, "admission" | "notifications" | "webhooks"> {
    const arns = [...this.clusters.keys()].toSorted();
    const of = (
      name: "buckets" | "repositories" | "decryptionKeys" | "targets" | "notificationTargets" | "cloudWatchRegions",
    ) =>
      Object.fromEntries(
        arns.flatMap((arn) => {
          const given = Object.entries(this.clusters.get(arn)?.[name] ?? {}).toSorted(([one], [other]) =>
            one < other ? -1 : 1,
          );
          return given.length === 0 ? [] : [[arn, Object.fromEntries(given)] as const];
        }),
      );
    const buckets = of("buckets");
    const notificationTargets = of("notificationTargets");
    const cloudWatchRegions = of("cloudWatchRegions");
    return {
      ...(Object.keys(buckets).length === 0 ? {} : { buckets }),
      clusters: Object.fromEntries(arns.map((arn) => [arn, this.rights.get(arn) ?? "unknown"])),
      repositories: of("repositories"),
      decryptionKeys: of("decryptionKeys"),
      targets: of("targets"),
      ...(Object.keys(notificationTargets).length === 0 ? {} : { notificationTargets }),
      ...(Object.keys(cloudWatchRegions).length === 0 ? {} : { cloudWatchRegions }),
    };
  }

  /** The content of the document. */
  text(): string {
    const clusters = [...this.clusters.values()];
    return `${JSON.stringify({ version: 1, clusters, settings: this.settings })}\n`;
  }

  /** Environment variables with the document's address and digest. Their values are tokens, since it is written last. */
  environment(): Record<string, string> {
    return {
      SLUICE_INSTALLATION_BUCKET: Lazy.string({ produce: () => this.written().s3BucketName }),
      SLUICE_INSTALLATION_KEY: Lazy.string({ produce: () => this.written().s3ObjectKey }),
      SLUICE_INSTALLATION_DIGEST: Lazy.string({ produce: () => `sha256:${sha256(this.text())}` }),
    };
  }

  /**
   * ARN, with a wildcard, of the documents of this and of former deployments. After a rollback, and while a deployment runs, functions
   * still read the former document. The documents are in the CDK's bucket, among templates and other files; the ends of their keys
   * identify them.
   */
  arn(): string {
    return Lazy.string({ produce: () => this.documentsBeside(this.written()) });
  }

  /** Calls `tell` with {@link arn} in readable form, once the document is written. */
  onWritten(tell: (arn: string) => void): void {
    this.tellers.push(tell);
  }

  /** Throws if the functions could not read the document: it is checked with the same schema. */
  private check(
    named: string,
    clusters: readonly Entry[],
    settings: Readonly<Record<string, unknown>>,
    tell = (fault: string) => fault,
  ): void {
    const read = readInstallation(JSON.stringify({ version: 1, clusters, settings }));
    if ("faults" in read) throw new Error(`${named} is not usable: ${read.faults.map(tell).join("; ")}`);
  }

  private written(): Asset {
    if (this.asset !== undefined) return this.asset;
    this.check(this.node.path, [...this.clusters.values()], this.settings);
    const folder = mkdtempSync(join(FileSystem.tmpdir, "sluice-installation-"));
    const path = join(folder, `installation${this.extension()}`);
    writeFileSync(path, this.text());
    this.asset = new Asset(this, "File", {
      path,
      assetHashType: AssetHashType.CUSTOM,
      assetHash: sha256(this.text()),
    });
    // It is copied by now, unless the app has switched that off: then it is uploaded from here.
    if (this.asset.assetPath !== path) rmSync(folder, { recursive: true });
    for (const tell of this.tellers) tell(readable(Stack.of(this).resolve(this.documentsBeside(this.asset))));
    return this.asset;
  }

  /** The extension of the file and of its key in the bucket. It is the same in each synthesis: it is made from the construct's path. */
  private extension(): string {
    return `.sluice-${this.node.addr.slice(-8)}`;
  }

  private documentsBeside({ bucket }: Asset): string {
    return bucket.arnForObjects(`*${this.extension()}`);
  }
}

function isCodeCommit(repository: string): boolean {
  return repository.startsWith("git-codecommit");
}

/** An expression of a template, with each reference in angle brackets. */
function readable(expression: unknown): string {
  if (typeof expression === "string") return expression.replaceAll(/\$\{([^}]+)\}/g, "<$1>");
  const { Ref, "Fn::Sub": text, "Fn::Join": joined } = Expression.parse(expression);
  if (Ref !== undefined) return `<${Ref}>`;
  return joined === undefined ? readable(text ?? "") : joined[1].map(readable).join("");
}

const Expression = z.object({
  Ref: z.string().optional(),
  "Fn::Sub": z.string().optional(),
  "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]).optional(),
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
