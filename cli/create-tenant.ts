import { equal, toJsonObject } from "../lib/core/json.ts";
import { labelKeyProblems } from "../lib/core/label-query.ts";
import { type Manifest, refOf } from "../lib/core/manifest.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import type { CreatedOptions } from "./create-object.ts";
import { checkName, labelsOf, yamlOf } from "./created-object.ts";
import { manager } from "./reconcile-object.ts";
import { type Session, type Surroundings, withCluster } from "./session.ts";

interface TenantOptions extends CreatedOptions {
  readonly withNamespace?: readonly string[];
  readonly clusterRole: string;
  readonly withServiceAccount?: string;
  readonly skipNamespace?: boolean;
}

const tenantLabel = "toolkit.fluxcd.io/tenant";
const rbacGroup = "rbac.authorization.k8s.io";

/** What a tenant has in one of its namespaces. */
interface Place {
  /** Absent with `--skip-namespace`. */
  readonly namespace?: Manifest;
  readonly account: Manifest;
  readonly binding: Manifest;
}

/** `create tenant`: namespaces, and in each a service account with a role, which Kustomizations and HelmReleases run as. */
export async function createTenant(
  name: string | undefined,
  options: TenantOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const places = placesOf(name, options);
  if (options.export === true) {
    for (const { namespace, account, binding } of places) {
      for (const manifest of [namespace, account, binding]) {
        if (manifest !== undefined) surroundings.terminal.document(await yamlOf(manifest));
      }
    }
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    for (const place of places) await applyPlace(place, session);
    session.terminal.success("tenant setup completed");
  });
}

function placesOf(tenant: string, options: TenantOptions): readonly Place[] {
  const { clusterRole, skipNamespace, withNamespace = [], withServiceAccount = "" } = options;
  if (clusterRole === "") throw new Error("cluster-role is required");
  if (withNamespace.length === 0) throw new Error("with-namespace is required");
  const accountName = withServiceAccount === "" ? tenant : withServiceAccount;
  checkQualified(accountName, "service-account name");
  const labels = { ...labelsOf(options).labels, [tenantLabel]: tenant };
  return withNamespace.map((namespace) => {
    checkQualified(namespace, "namespace");
    const own: Manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } };
    const metadata = { name: accountName, namespace, labels };
    return {
      ...(skipNamespace === true ? {} : { namespace: own }),
      account: { apiVersion: "v1", kind: "ServiceAccount", metadata },
      binding: bindingOf({ tenant, namespace, accountName, clusterRole }, labels),
    };
  });
}

function bindingOf(
  of: Readonly<Record<"tenant" | "namespace" | "accountName" | "clusterRole", string>>,
  labels: Readonly<Record<string, string>>,
): Manifest {
  const { tenant, namespace, accountName, clusterRole } = of;
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name: `${tenant}-reconciler`, namespace, labels },
    roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: clusterRole },
    subjects: [
      { apiGroup: rbacGroup, kind: "User", name: `gotk:${namespace}:reconciler` },
      { kind: "ServiceAccount", name: accountName, namespace },
    ],
  };
}

function checkQualified(name: string, what: string): void {
  const problems = labelKeyProblems(name);
  if (problems.length > 0) throw new Error(`invalid ${what} '${name}': ${problems.join("; ")}`);
}

async function applyPlace({ namespace, account, binding }: Place, session: Session): Promise<void> {
  const { terminal } = session;
  if (namespace !== undefined) {
    terminal.action(`applying namespace ${namespace.metadata.name}`);
    await createOrLabel(namespace, session);
  }
  terminal.action(`applying service account ${account.metadata.name}`);
  await createOrLabel(account, session);
  terminal.action(`applying role binding ${binding.metadata.name}`);
  await applyBinding(binding, session);
}

/** Labels of others stay: those of a namespace say, for example, which pods it admits. */
async function createOrLabel(manifest: Manifest, { cluster, signal }: Session): Promise<void> {
  const ref = refOf(manifest);
  if ((await cluster.get(ref, signal)) === undefined) {
    await cluster.create(manifest, { manager }, signal);
    return;
  }
  const body = { metadata: { labels: manifest.metadata.labels ?? {} } };
  await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
}

/**
 * A role cannot be changed: with another one, the binding is deleted and created again, unless the API server refuses the new one, as
 * it does one with more rights than the user has.
 *
 * @internal
 */
export async function applyBinding(binding: Manifest, session: Session): Promise<void> {
  const { cluster, signal, terminal } = session;
  const ref = refOf(binding);
  const live = await cluster.get(ref, signal);
  const { labels = {} } = binding.metadata;
  if (live !== undefined && equal(live["roleRef"], binding["roleRef"])) {
    const body = toJsonObject({ metadata: { labels }, subjects: binding["subjects"] });
    await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
    return;
  }
  if (live === undefined) {
    await cluster.create(binding, { manager }, signal);
    return;
  }
  await checkElsewhere(binding, session);
  await cluster.delete(ref, { uid: live.metadata.uid, propagation: "Background" }, signal);
  try {
    await cluster.create(binding, { manager }, signal);
  } catch (error) {
    const { name, namespace = "" } = binding.metadata;
    const mend = `the tenant has no rights in namespace ${namespace} until you run the command again`;
    terminal.warning(`role binding ${name} was deleted for another role, and is not created again: ${mend}`);
    throw error;
  }
}

/** Under its own name a binding cannot be tried while the former one exists. Stores nothing. */
async function checkElsewhere(binding: Manifest, { cluster, signal }: Session): Promise<void> {
  const { name } = binding.metadata;
  const other = `${name}-sluice-check`;
  try {
    const renamed = { ...binding, metadata: { ...binding.metadata, name: other } };
    await cluster.create(renamed, { manager, dryRun: true }, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Error(`role binding ${name} keeps its role: ${error.message.replaceAll(other, name)}`, { cause: error });
  }
}
