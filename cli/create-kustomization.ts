import { declaredBucket } from "../lib/api/kinds/bucket.ts";
import { declaredExternalArtifact } from "../lib/api/kinds/external-artifact.ts";
import { declaredGitRepository } from "../lib/api/kinds/git-repository.ts";
import { declaredKustomization } from "../lib/api/kinds/kustomization.ts";
import { declaredOciRepository } from "../lib/api/kinds/oci-repository.ts";
import { helmGroup, kustomizeGroup } from "../lib/api/names.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { type Manifest, refOf } from "../lib/core/manifest.ts";
import { checkName, exportNamespace, metadataOf, upsert, withoutUndefined, yamlOf } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { dependencyOf, knownKind, readReference, splitKind } from "./object-reference.ts";
import { failureOf, waitFor } from "./progress.ts";
import { doneText, isCurrent } from "./reconcile-object.ts";
import { relativePath } from "./relative-path.ts";
import { type GlobalOptions, type Session, type Surroundings, withCluster } from "./session.ts";
import { isObserved } from "./suspend-and-resume.ts";

export interface KustomizationOptions extends GlobalOptions {
  readonly export?: boolean;
  readonly label?: readonly string[];
  readonly interval: string;
  readonly source?: string;
  readonly path: string;
  readonly prune?: boolean;
  readonly wait?: boolean;
  readonly healthCheck?: readonly string[];
  readonly healthCheckTimeout: string;
  readonly dependsOn?: readonly string[];
  readonly serviceAccount?: string;
  readonly decryptionProvider?: string;
  readonly decryptionSecret?: string;
  readonly targetNamespace?: string;
  readonly kubeconfigSecretRef?: string;
  readonly retryInterval?: string;
}

/** `create kustomization`: a Kustomization, and waits until its source is applied. */
export async function createKustomization(
  name: string | undefined,
  options: KustomizationOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const spec = specOf(options);
  if (options.export === true) {
    const manifest = manifestOf(name, exportNamespace(options, surroundings), spec, options);
    surroundings.terminal.document(await yamlOf(manifest));
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    const { terminal } = session;
    terminal.generating("generating Kustomization");
    terminal.action("applying Kustomization");
    const manifest = manifestOf(name, session.namespace, spec, options);
    terminal.success(`Kustomization ${await upsert(manifest, session)}`);
    await awaitKustomization(manifest, session);
  });
}

function manifestOf(name: string, namespace: string, spec: JsonObject, options: KustomizationOptions): Manifest {
  const { kind, versions } = declaredKustomization;
  return { apiVersion: `${kustomizeGroup}/${versions[0]}`, kind, metadata: metadataOf(name, namespace, options), spec };
}

async function awaitKustomization(manifest: Manifest, session: Session): Promise<void> {
  const { terminal } = session;
  terminal.waiting("waiting for Kustomization reconciliation");
  const ref = { ...refOf(manifest), version: declaredKustomization.versions[0] };
  const seen = await waitFor(
    ref,
    (object) => {
      if (!isObserved(object)) return false;
      if (isCurrent(object)) return true;
      const failure = failureOf(object);
      if (failure !== undefined) throw new Error(`Kustomization reconciliation failed: '${failure}'`);
      return false;
    },
    session,
  );
  const done = doneText(declaredKustomization, seen);
  terminal.success(`Kustomization ${ref.name} is ready`);
  terminal.success(done);
}

function specOf(options: KustomizationOptions): JsonObject {
  const { decryptionProvider, dependsOn, kubeconfigSecretRef, retryInterval, serviceAccount, targetNamespace, wait } =
    options;
  // As in flux: what waits for everything needs no list.
  const healthChecks = wait === true ? undefined : options.healthCheck?.map(healthCheckOf);
  const isChecked = wait === true || healthChecks !== undefined;
  return withoutUndefined({
    interval: durationOf(options.interval, "--interval"),
    path: relativePath(options.path),
    prune: options.prune === true,
    sourceRef: sourceReferenceOf(options.source),
    targetNamespace,
    dependsOn: dependsOn?.map(dependencyOf),
    kubeConfig: kubeconfigSecretRef === undefined ? undefined : { secretRef: { name: kubeconfigSecretRef } },
    healthChecks,
    wait: wait === true ? true : undefined,
    timeout: isChecked ? durationOf(options.healthCheckTimeout, "--health-check-timeout") : undefined,
    serviceAccountName: serviceAccount,
    decryption: decryptionProvider === undefined ? undefined : decryptionOf(decryptionProvider, options),
    retryInterval: retryInterval === undefined ? undefined : durationOf(retryInterval, "--retry-interval"),
  });
}

function decryptionOf(provider: string, { decryptionSecret }: KustomizationOptions): JsonObject {
  return withoutUndefined({
    provider,
    secretRef: decryptionSecret === undefined ? undefined : { name: decryptionSecret },
  });
}

const sourceKinds: readonly string[] = [
  declaredOciRepository,
  declaredGitRepository,
  declaredBucket,
  declaredExternalArtifact,
].map(({ kind }) => kind);

/** `NAME` is a GitRepository. */
function sourceReferenceOf(text = ""): JsonObject {
  if (text.trim() === "") throw new Error("source is required");
  const { kind, ...rest } = readReference(text);
  if (rest.name === "") throw new Error(`no name given for source of kind '${kind}'`);
  if (kind === "" && sourceKinds.includes(rest.name)) throw new Error(`no kind specified for source '${rest.name}'`);
  return { kind: kind === "" ? declaredGitRepository.kind : knownKind(kind, sourceKinds, "source kind"), ...rest };
}

const workloads = ["HelmRelease", "Deployment", "DaemonSet", "StatefulSet"];

function healthCheckOf(text: string): JsonObject {
  const { kind, rest } = splitKind(text);
  const [name = "", namespace = "", ...more] = rest.split(".");
  if (kind === "" || name === "" || namespace === "" || more.length > 0) {
    throw new Error(`invalid health check '${text}' must be in the format 'kind/name.namespace'`);
  }
  if (!workloads.includes(kind)) {
    throw new Error(`invalid health check kind '${kind}' can be HelmRelease, Deployment, DaemonSet or StatefulSet`);
  }
  return { ...(kind === "HelmRelease" ? { apiVersion: `${helmGroup}/v2` } : {}), kind, name, namespace };
}
