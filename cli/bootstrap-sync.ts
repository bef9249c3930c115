import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredGitRepository } from "../lib/api/kinds/git-repository.ts";
import { declaredKustomization } from "../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { ownerOf } from "../lib/gate/cluster-owner.ts";
import type { SyncObjects, SyncOptions } from "./bootstrap/sync-manifests.ts";
import { conditionOf, isSuspended, textAt } from "./objects/read-object.ts";
import { manager, reconcileObject } from "./reconcile-object.ts";
import type { Session } from "./session.ts";

// The objects of a bootstrap in the cluster.

/** What of them the cluster has already. */
export interface PresentSync {
  /** Whether the cluster follows this very folder of this repository. */
  readonly isFollowed: boolean;
}

/** Looks whether the cluster can be bootstrapped. Throws an Error that names the mend. Nothing is written. */
export async function checkCluster(
  { name, path, url, branch }: Pick<SyncOptions, "branch" | "name" | "path" | "url">,
  session: Session,
): Promise<PresentSync> {
  const { cluster, namespace, terminal, signal } = session;
  for (const kind of [declaredGitRepository, declaredKustomization]) {
    if ((await cluster.resource(servedKind(kind), signal)) !== undefined) continue;
    throw new Error(
      `the cluster does not serve ${kind.kind}: Sluice is not installed in it. Deploy Sluice for the cluster (docs/deploy.md), or run sluice local --kubeconfig, and run the command again`,
    );
  }
  if ((await ownerOf(cluster, signal)) === undefined) {
    terminal.warning("no Sluice looks after the cluster yet: nothing is reconciled until one does");
  }
  const of = (kind: KindDeclaration) => cluster.get({ ...servedKind(kind), namespace, name }, signal);
  const [source, kustomization] = await Promise.all([of(declaredGitRepository), of(declaredKustomization)]);
  const pairs: readonly (readonly [KindDeclaration, LiveObject | undefined])[] = [
    [declaredGitRepository, source],
    [declaredKustomization, kustomization],
  ];
  for (const [kind, live] of pairs) {
    if (live === undefined || !isSuspended(kind, live)) continue;
    throw new Error(
      `${kind.kind} ${namespace}/${name} is suspended: resume it with sluice resume ${kind.isSource ? "source git" : "kustomization"} ${name} -n ${namespace}`,
    );
  }
  const present = kustomization === undefined ? path : textAt(kustomization, "spec", "path");
  if (withoutDot(present) !== withoutDot(path)) {
    throw new Error(
      `sync path configuration ("${path}") would overwrite path ("${present}") of existing Kustomization ${namespace}/${name}: give --path=${present}, or delete the Kustomization first`,
    );
  }
  const isSource = (live: LiveObject): boolean =>
    textAt(live, "spec", "url") === url && textAt(live, "spec", "ref", "branch") === branch;
  return { isFollowed: kustomization !== undefined && source !== undefined && isSource(source) };
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "").replace(/\/+$/, "");
}

/** The namespace of the objects, where it is missing. */
export async function ensureNamespace({ cluster, namespace, terminal, signal }: Session): Promise<void> {
  const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: namespace };
  if ((await cluster.get(ref, signal)) !== undefined) return;
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { manager }, signal);
  terminal.success(`namespace ${namespace} created`);
}

/** Applies both objects. A second time nothing changes. */
export async function applySync({ source, kustomization }: SyncObjects, session: Session): Promise<void> {
  const { cluster, terminal, signal } = session;
  terminal.action("applying sync manifests");
  for (const manifest of [source, kustomization]) await cluster.apply(manifest, { manager, force: true }, signal);
  terminal.success("reconciled sync configuration");
}

/** Waits until both objects are ready at this revision, `main@sha1:<commit>`, and asks for a run where they are not yet. */
export async function awaitSync(name: string, revision: string, session: Session): Promise<void> {
  await awaitRevision(declaredGitRepository, name, ["status", "artifact", "revision"], revision, session);
  await awaitRevision(declaredKustomization, name, ["status", "lastAppliedRevision"], revision, session);
}

async function awaitRevision(
  kind: KindDeclaration,
  name: string,
  path: readonly string[],
  revision: string,
  session: Session,
): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const read = () => cluster.get({ ...servedKind(kind), namespace, name }, signal);
  const isAt = (live: LiveObject | undefined): boolean =>
    live !== undefined && textAt(live, ...path) === revision && conditionOf(live, "Ready")?.status === "True";
  if (!isAt(await read())) await reconcileObject(kind, name, {}, session);
  const live = await read();
  if (isAt(live)) return terminal.success(`${kind.kind} reconciled successfully`);
  const at = live === undefined ? "" : textAt(live, ...path);
  if (at === "" || at === revision)
    throw new Error(`${kind.kind} ${namespace}/${name} is not ready: run the command again`);
  terminal.warning(`${kind.kind} is at ${at}: the branch has moved since ${revision}`);
}
