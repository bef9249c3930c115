import { declaredBucket } from "../lib/api/kinds/bucket.ts";
import { declaredExternalArtifact } from "../lib/api/kinds/external-artifact.ts";
import { declaredGitRepository } from "../lib/api/kinds/git-repository.ts";
import { declaredKustomization } from "../lib/api/kinds/kustomization.ts";
import { declaredOciRepository } from "../lib/api/kinds/oci-repository.ts";
import { helmGroup } from "../lib/api/names.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { applyAndWait, type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { checkName, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { dependencyOf, knownKind, readReference, splitKind } from "./object-reference.ts";
import { doneText } from "./reconcile-object.ts";
import { relativePath } from "./relative-path.ts";
import type { Surroundings } from "./session.ts";

interface KustomizationOptions extends CreatedOptions {
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
  const manifestIn = objectOf(declaredKustomization, name, specOf(options), options);
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    const { terminal } = session;
    terminal.generating("generating Kustomization");
    const done = doneText(declaredKustomization, await applyAndWait(manifest, { thing: "Kustomization" }, session));
    terminal.success(`Kustomization ${name} is ready`);
    terminal.success(done);
  });
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
