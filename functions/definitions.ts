import { z } from "zod";
import { admissionPath } from "../lib/admission/admission-path.ts";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { definedKinds } from "../lib/api/kinds/declared-kinds.ts";
import { parseClusterArn } from "../lib/aws/eks/cluster-arn.ts";
import { someOf } from "../lib/core/cut-text.ts";
import { parseLabelSelector } from "../lib/core/label-selector.ts";
import { ownVersion } from "../lib/core/own-version.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Secret } from "../lib/core/secret.ts";
import { clusterArnPattern } from "../lib/core/work-key.ts";
import { installWebhook, removeWebhook } from "../lib/definitions/admission-webhook.ts";
import { installCrds, isNewer, newerDefinitions } from "../lib/definitions/install-crds.ts";
import { installRights, removeRights, rightsIn } from "../lib/definitions/install-rights.ts";
import { managedObjects, removeCrds } from "../lib/definitions/remove-crds.ts";
import { letGo } from "../lib/gate/cluster-owner.ts";
import type { HandleResource, ResourceDone, ResourceRequest } from "./lambda/custom-resource.ts";
import { admitted, assertOwn, explained, type OpenCluster, openIfThere, RoleArn } from "./lambda/reach-cluster.ts";
import { defaultConfigSelector } from "./settings/settings.ts";

/** The versions of Kubernetes that Sluice is tested with: docs/maintainers/embedded-cluster.md. */
const [oldestMinor, newestMinor] = [33, 36];

/** The properties of the custom resource, as `SluiceCluster` in infra/ writes them. */
const Properties = z.object({
  cluster: z.string("is required").regex(clusterArnPattern, "must be arn:aws:eks:<region>:<account>:cluster/<name>"),
  role: RoleArn.optional(),
  /** The owner of the cluster: `<account>/<region>/<table>`. */
  installation: z
    .string("is required")
    .regex(/^[0-9]{12}\/[a-z0-9-]+\/[A-Za-z0-9_.-]{3,255}$/, "must be <account>/<region>/<table>"),
  /** Sluice's version; a new one makes CloudFormation call the function. */
  version: z.string("is required"),
  /** Where the admission webhook is called; absent: nowhere, and the one that was installed goes. */
  admission: z
    .object({
      url: z.string("is required").regex(/^https:\/\/[a-z0-9.-]+(?::[0-9]+)?\/?$/, "must be https://<host>"),
      /** The secret from which its paths are derived. */
      secret: z
        .string("is required")
        .regex(/^arn:[^:]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+$/, "must be the ARN of a secret"),
      selector: z
        .string()
        .refine((text) => parseLabelSelector(text) !== undefined, "must be a label selector")
        .default(defaultConfigSelector),
    })
    .optional(),
  onDelete: z.enum(["keep", "removeDefinitions"], "must be keep or removeDefinitions").default("keep"),
});
type Properties = z.infer<typeof Properties>;

export interface DefinitionsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly open: OpenCluster;
  /** The value of a secret of Secrets Manager. */
  readonly readStored: (arn: string, signal: AbortSignal) => Promise<Secret>;
  /** The version that is installed; our own outside tests. */
  readonly version?: string;
  /** The kinds whose definitions are installed and removed; all of Sluice's by default. */
  readonly kinds?: readonly KindDeclaration[];
}

/**
 * Installs and upgrades the definitions and the reconcile function's rights in one cluster. A delete leaves the definitions, and
 * with them all objects and workloads, unless `onDelete` says otherwise and no object is left.
 */
export function definitionsHandler(deps: DefinitionsDeps): HandleResource {
  return async (request, signal) => {
    const parsed = Properties.safeParse(request.properties);
    if (!parsed.success) {
      const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
      throw new Error(`the properties of the custom resource are not usable: ${faults.join("; ")}`);
    }
    const properties = parsed.data;
    return request.type === "Delete"
      ? remove(request, properties, deps, signal)
      : install(request, properties, deps, signal);
  };
}

async function install(
  { oldProperties, resource, type }: ResourceRequest,
  { admission, cluster: id, installation, role }: Properties,
  { clock, kinds = definedKinds, log, open, readStored, version = ownVersion }: DefinitionsDeps,
  signal: AbortSignal,
): Promise<ResourceDone> {
  await using opened = await open(parseClusterArn(id), role, signal);
  const { cluster, description } = opened;
  const notices = versionNotice(id, description.version);
  return await explained(id, description, async () => {
    await admitted(cluster, clock, signal);
    await assertOwn(cluster, { cluster: id, installation }, signal);
    const newer = await newerDefinitions(cluster, { kinds, version }, signal);
    const goesBack = type === "Update" && isNewer(String(oldProperties["version"]), version);
    const [first] = newer;
    if (first !== undefined && !(goesBack && newer.every(({ isReadable }) => isReadable))) {
      throw new Error(
        `cluster ${id} has a definition of a newer version, ${first.name} by ${first.by}; this is Sluice ${version}, which does not replace it, since objects would lose fields. Deploy that version or a newer one`,
      );
    }
    if (first !== undefined) {
      // A rollback would fail otherwise, and leave a stack that can go neither way.
      notices.push(`${someOf(newer.map(({ name }) => name))} stay as ${first.by} installed them`);
    }
    await installCrds(cluster, { clock, kinds, log, version }, signal);
    await installRights(cluster, { resource, version }, signal);
    if (admission === undefined) await removeWebhook(cluster, resource, signal);
    else {
      const url = new URL(admissionPath(await readStored(admission.secret, signal), id), admission.url).href;
      await installWebhook(cluster, { url, configSelector: admission.selector }, { resource, version }, signal);
    }
    for (const notice of notices) log.warn("notice about a cluster", { cluster: id, notice });
    const attributes = { KubernetesVersion: description.version, Version: version, Notice: notices.join("; ") };
    return { physicalId: id, attributes };
  });
}

async function remove(
  { resource }: ResourceRequest,
  { cluster: id, installation, onDelete, role }: Properties,
  { kinds = definedKinds, log, open }: DefinitionsDeps,
  signal: AbortSignal,
): Promise<ResourceDone> {
  const done = { physicalId: id };
  await using opened = await openIfThere(parseClusterArn(id), role, open, signal);
  if (opened === undefined) {
    log.info("the cluster does not exist any more", { cluster: id });
    return done;
  }
  const { cluster, description } = opened;
  return await explained(id, description, async () => {
    const rights = await rightsIn(cluster, resource, signal);
    if (rights === "of others") {
      log.info("another resource has taken over the cluster", { cluster: id });
      return done;
    }
    if (rights === "none") {
      // A run that had begun before sluice uninstall may have taken the cluster again.
      await letGo({ id: installation }, cluster, signal);
      log.info("nothing of this resource is in the cluster", { cluster: id });
      return done;
    }
    // First: the API server has nothing to call any longer.
    await removeWebhook(cluster, resource, signal);
    const objects = await managedObjects(cluster, kinds, signal);
    if (onDelete === "removeDefinitions") {
      if (objects.length > 0) {
        throw new Error(
          `the definitions in cluster ${id} are not removed, since ${someOf(objects)} would go with them. Delete these objects first while Sluice runs, or set onDelete to keep`,
        );
      }
      await removeCrds(cluster, kinds, signal);
    } else if (objects.length > 0) {
      log.warn("objects stay, and nothing looks after them: sluice uninstall removes their finalizers", {
        cluster: id,
        objects: objects.length,
      });
    }
    await letGo({ id: installation }, cluster, signal);
    // Last: this is how a repeated delete knows that it is not done.
    await removeRights(cluster, resource, signal);
    return done;
  });
}

/** Throws for a version that is too old. A version newer than all tested ones is logged: EKS may have upgraded by itself. */
function versionNotice(id: string, version: string): string[] {
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === "") return [];
  const range = `Sluice is tested with Kubernetes 1.${oldestMinor} to 1.${newestMinor}`;
  if (major === "1" && Number(minor) < oldestMinor) {
    throw new Error(`cluster ${id} has Kubernetes ${version}, and ${range}: upgrade the cluster first`);
  }
  if (major === "1" && Number(minor) <= newestMinor) return [];
  return [`cluster ${id} has Kubernetes ${version}, and ${range}: look for a newer Sluice`];
}
