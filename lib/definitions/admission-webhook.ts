import { declaredKinds } from "../api/kinds/declared-kinds.ts";
import { parseLabelSelector } from "../core/label-selector.ts";
import { type LiveObject, type Manifest, refOf } from "../core/manifest.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import { installManager, versionAnnotation } from "./install-crds.ts";
import { type RightsOwner, resourceAnnotation } from "./install-rights.ts";

/** An object of this name asks the webhook, in a dry run, whether it is there. */
export const checkedName = "sluice-check";
/** Its answer in that case: the API server passes it to the client as a warning. */
export const webhookAnswers = "Sluice's admission webhook answers";

/** The address that the API server calls, and for which objects. */
export interface AdmissionWebhook {
  /** `https://…` with the path of the cluster. */
  readonly url: string;
  /** The authority that signed the webhook's certificate, PEM in base64; absent if the API server trusts it anyway. */
  readonly caBundle?: string;
  /** The ConfigMaps and Secrets that it is called for, in the API's notation. */
  readonly configSelector: string;
}

const apiVersion = "admissionregistration.k8s.io/v1";
const metadata = { name: "sluice-admission", labels: { "app.kubernetes.io/managed-by": installManager } };
/** The webhook's configuration in a cluster. */
export const webhookRef = refOf({ apiVersion, kind: "ValidatingWebhookConfiguration", metadata });

/**
 * The configuration of a webhook that neither denies nor delays anything: the API server continues without it after a second.
 *
 * @throws RangeError for an invalid selector
 */
export function webhookManifest({ url, caBundle, configSelector }: AdmissionWebhook): Manifest {
  const matchExpressions = parseLabelSelector(configSelector);
  if (matchExpressions === undefined) throw new RangeError(`"${configSelector}" is not a label selector`);
  const common = {
    admissionReviewVersions: ["v1"],
    clientConfig: { url, ...(caBundle === undefined ? {} : { caBundle }) },
    failurePolicy: "Ignore",
    matchPolicy: "Equivalent",
    sideEffects: "NoneOnDryRun",
    timeoutSeconds: 1,
  };
  const of = { operations: ["CREATE", "UPDATE", "DELETE"], scope: "Namespaced" };
  const rules = [...Map.groupBy(declaredKinds, ({ group }) => group)].map(([group, kinds]) => ({
    ...{ ...of, apiGroups: [group], apiVersions: ["*"] },
    resources: kinds.map(({ plural }) => plural),
  }));
  const configs = { ...of, apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps", "secrets"] };
  return {
    ...{ apiVersion, kind: webhookRef.kind, metadata },
    webhooks: [
      { name: "objects.admission.sluice", ...common, rules },
      { name: "configs.admission.sluice", ...common, objectSelector: { matchExpressions }, rules: [configs] },
    ],
  };
}

/** Has the API server call the webhook. Can be repeated, and takes over what an earlier resource installed. */
export async function installWebhook(
  cluster: Pick<Cluster, "apply">,
  webhook: AdmissionWebhook,
  { resource, version }: RightsOwner,
  signal: AbortSignal,
): Promise<void> {
  const manifest = webhookManifest(webhook);
  const annotations = { [versionAnnotation]: version, [resourceAnnotation]: resource };
  const annotated = { ...manifest, metadata: { ...manifest.metadata, annotations } };
  await cluster.apply(annotated, { manager: installManager, force: true }, signal);
}

/** The present configuration; undefined if there is none, or if the kind is not served, as in `sluice local`. */
export async function installedWebhook(
  cluster: Pick<Cluster, "get">,
  signal: AbortSignal,
): Promise<LiveObject | undefined> {
  try {
    return await cluster.get(webhookRef, signal);
  } catch (error) {
    if (error instanceof ApiError && error.reason === "NoMatch") return undefined;
    throw error;
  }
}

/** Removes the webhook that this resource installed. That of another one stays. */
export async function removeWebhook(
  cluster: Pick<Cluster, "get" | "delete">,
  resource: string,
  signal: AbortSignal,
): Promise<void> {
  const live = await installedWebhook(cluster, signal);
  if (live?.metadata.annotations?.[resourceAnnotation] !== resource) return;
  await cluster.delete(webhookRef, { uid: live.metadata.uid, propagation: "Background" }, signal);
}
