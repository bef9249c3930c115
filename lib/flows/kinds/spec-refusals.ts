import { ArtifactGeneratorSpec } from "../../api/artifact-generator.ts";
import { BucketSpec } from "../../api/bucket.ts";
import { CanarySpec } from "../../api/canary.ts";
import { GitRepositorySpec } from "../../api/git-repository.ts";
import { HelmChartSpec } from "../../api/helm-chart.ts";
import { parseHelmRelease } from "../../api/helm-release.ts";
import { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { ImagePolicySpec } from "../../api/image-policy.ts";
import { ImageRepositorySpec } from "../../api/image-repository.ts";
import { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { kindOf } from "../../api/kinds/declaration.ts";
import { declaredKinds, definedKinds } from "../../api/kinds/declared-kinds.ts";
import { declaredImageRepository } from "../../api/kinds/image-repository.ts";
import { parseKustomization, unsupportedText } from "../../api/kustomization.ts";
import { OciRepositorySpec } from "../../api/oci-repository.ts";
import { invalid, parseLive } from "../../api/parse-live.ts";
import { ReceiverSpec } from "../../api/receiver.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import { unknownFields } from "../../api/unknown-fields.ts";
import { lackingFault, unsupportedProvider as unsupportedMesh } from "../../canary/provider-fault.ts";
import { specFault } from "../../canary/verify-canary.ts";
import { publicEcrFault } from "../../core/ecr-registry.ts";
import { Failure } from "../../core/failure.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { checkSpec as checkGenerator } from "../artifact-generator/check-spec.ts";
import { checkBucket } from "../bucket/check-bucket.ts";
import { noGoogleIdentity } from "../bucket/google-bucket.ts";
import { checkGitRepository } from "../git-repository/git-repository-flow.ts";
import { refuseAwsLogin, refuseProvider } from "../git-repository/provider-login.ts";
import { checkHelmChart } from "../helm-chart/helm-chart-flow.ts";
import { refuseLogin } from "../helm-chart/open-repository.ts";
import { closedGate } from "../helm-release/chart-source.ts";
import { chartRefOf, elsewhereRefusal } from "../helm-release/chart-template.ts";
import { readyExprRefusal as releaseReadyExprRefusal } from "../helm-release/dependencies.ts";
import { checkRepositoryUrl } from "../helm-repository/check-url.ts";
import { refuseAccount as refuseImageAccount } from "../image-repository/image-repository-flow.ts";
import { unsupportedProvider } from "../image-repository/registry.ts";
import { elsewhereRefusal as repositoryRefusal } from "../image-policy/referred-repository.ts";
import { sourceRefusal as automationRefusal } from "../image-update-automation/resolve-source.ts";
import { decryptionRefusal } from "../kustomization/decryption.ts";
import { readyExprRefusal } from "../kustomization/dependencies.ts";
import { sourceRefusal } from "../kustomization/resolve-source.ts";
import { checkOciRepository } from "../oci-repository/oci-repository-flow.ts";
import { refuseAccount } from "../oci-repository/registry.ts";
import { clusterArnIn } from "../owner/config-map-target.ts";
import { KubeConfigOf } from "../owner/kube-config-field.ts";
import { refuseOverLimits } from "../receiver/check-spec.ts";
import { sourcesAmong } from "../source/read-source.ts";

/** The settings of an installation that decide which specs it honours. */
export interface SpecRules {
  readonly gates: FeatureGates;
  readonly noCrossNamespaceRefs: boolean;
  /** The provider of a Canary that names none. */
  readonly meshProvider: string;
  /** Whether the service account of this namespace has secrets for registries. */
  readonly hasPullSecrets: (namespace: string, serviceAccount: string) => boolean;
  /** The ConfigMap in a `spec.kubeConfig`; undefined if there is none. */
  readonly configMap: (namespace: string, name: string) => LiveObject | undefined;
}

/** Throws a {@link Failure} if a run of the object would. */
type Check = (live: LiveObject, rules: SpecRules) => void;

/** An installation in AWS. */
const clouds = ["aws"] as const;

/**
 * Why each run of an object is refused, whatever the world around it is: by the checks of its flow, one failure for each, and one for
 * fields that Sluice does not know. Empty if its spec is honoured.
 */
export async function specRefusals(live: LiveObject, rules: SpecRules): Promise<readonly Failure[]> {
  const kind = kindOf(refOf(live), definedKinds);
  if (kind === undefined) return [];
  const { spec: schema } = await kind.schemas();
  const parsed = failureOf(() => void parseLive(live, "spec", schema));
  if (parsed !== undefined) return [parsed];
  const unknown = unknownFields(schema, live["spec"], "spec");
  return [
    ...(checks[kind.kind] ?? []).flatMap((check) => failureOf(() => check(live, rules)) ?? []),
    ...(unknown.length === 0 ? [] : [notKnown(unknown)]),
  ];
}

function failureOf(check: () => void): Failure | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function notKnown(fields: readonly string[]): Failure {
  const [is, them] = fields.length === 1 ? ["is a field", "it"] : ["are fields", "them"];
  const message = `${fields.join(", ")} ${is} that Sluice does not know and ignores: remove ${them}, or use a release that knows ${them}`;
  return new Failure("UnsupportedField", message);
}

const checks: Readonly<Record<string, readonly Check[]>> = {
  GitRepository: [
    (live) => checkGitRepository(parseLive(live, "spec", GitRepositorySpec)),
    (live) => {
      const spec = parseLive(live, "spec", GitRepositorySpec);
      refuseProvider(spec);
      if (spec.provider !== "aws" || !URL.canParse(spec.url)) return;
      refuseAwsLogin(new URL(spec.url), spec.proxySecretRef !== undefined);
    },
  ],
  OCIRepository: [
    (live) => checkOciRepository(parseLive(live, "spec", OciRepositorySpec), clouds),
    (live, { hasPullSecrets }) => {
      const spec = parseLive(live, "spec", OciRepositorySpec);
      const { secretRef, serviceAccountName = "" } = spec;
      if (secretRef !== undefined || hasPullSecrets(namespaceOf(live), serviceAccountName)) return;
      refuseAccount(spec);
      refusePublicEcr(spec.provider, spec.url, "AuthenticationFailed");
    },
  ],
  Bucket: [
    (live) => checkBucket(parseLive(live, "spec", BucketSpec)),
    (live) => {
      const { provider, secretRef } = parseLive(live, "spec", BucketSpec);
      if (provider === "gcp" && secretRef === undefined) throw noGoogleIdentity();
    },
  ],
  HelmRepository: [
    (live) => {
      const spec = parseLive(live, "spec", HelmRepositorySpec);
      if (spec.type !== "oci" && !spec.url.startsWith("oci://")) return checkRepositoryUrl(spec.url);
      refuseLogin(spec, clouds);
      if (spec.secretRef === undefined) refusePublicEcr(spec.provider, spec.url, "AuthenticationFailed");
    },
  ],
  HelmChart: [(live) => checkHelmChart(parseLive(live, "spec", HelmChartSpec))],
  ArtifactGenerator: [
    (live, deps) =>
      checkGenerator(parseLive(live, "spec", ArtifactGeneratorSpec), { deps, namespace: namespaceOf(live) }),
  ],
  Kustomization: [checkKustomization, checkTarget],
  HelmRelease: [checkHelmRelease, checkTarget],
  ImageRepository: [
    (live) => {
      const spec = parseLive(live, "spec", ImageRepositorySpec);
      refuseImageAccount(spec);
      const { image, provider } = spec;
      refusePublicEcr(provider, image, "ReadOperationFailed");
      if (provider !== "azure" && provider !== "gcp") return;
      const [host = ""] = image.split("/");
      throw new Failure("ReadOperationFailed", unsupportedProvider(host, provider));
    },
  ],
  ImagePolicy: [checkPolicy],
  ImageUpdateAutomation: [checkAutomation],
  Receiver: [(live) => refuseOverLimits(parseLive(live, "spec", ReceiverSpec))],
  Canary: [checkCanary],
};

/** @param address an image, or an `oci://` URL */
function refusePublicEcr(provider: string | undefined, address: string, reason: Failure["reason"]): void {
  const [host = ""] = address.replace(/^oci:\/\//, "").split("/");
  const fault = provider === "aws" ? publicEcrFault(host) : undefined;
  if (fault !== undefined) throw new Failure(reason, fault);
}

function namespaceOf({ metadata: { namespace = "" } }: LiveObject): string {
  return namespace;
}

function checkKustomization(live: LiveObject, rules: SpecRules): void {
  const { spec } = parseKustomization(live);
  const faults = referenceFaults(spec);
  if (faults.length > 0) throw invalid(live, "spec", faults);
  const own = namespaceOf(live);
  const elsewhere = sourceRefusal(spec, own, rules) ?? readyExprRefusal(spec, own, rules);
  if (elsewhere !== undefined) throw new Failure("AccessDenied", elsewhere);
  const unsupported = unsupportedText(spec, sourcesAmong(declaredKinds));
  if (unsupported !== undefined) throw new Failure("UnsupportedField", unsupported);
  const refusal = decryptionRefusal(spec, rules);
  if (refusal !== undefined) throw new Failure("FeatureGateDisabled", refusal.message);
}

function checkHelmRelease(live: LiveObject, rules: SpecRules): void {
  const { spec } = parseHelmRelease(live);
  const own = namespaceOf(live);
  const made = chartRefOf(spec, { name: live.metadata.name, namespace: own });
  const { kind, name, namespace = own } = spec.chartRef ?? { kind: "HelmChart", name: "", ...made };
  const key = { kind, name, namespace };
  const unread = (spec.dependsOn ?? []).flatMap((one) => releaseReadyExprRefusal(one, own, rules) ?? []);
  const [refusal] = [elsewhereRefusal(key, own, rules) ?? closedGate(key, rules) ?? [], unread].flat();
  if (refusal !== undefined) throw new Failure("AccessDenied", refusal);
}

function checkAutomation(live: LiveObject, rules: SpecRules): void {
  const refusal = automationRefusal(parseLive(live, "spec", ImageUpdateAutomationSpec), namespaceOf(live), rules);
  if (refusal !== undefined) throw new Failure("AccessDenied", refusal);
}

function checkPolicy(live: LiveObject, rules: SpecRules): void {
  const { name, namespace = namespaceOf(live) } = parseLive(live, "spec", ImagePolicySpec).imageRepositoryRef;
  const key = { kind: declaredImageRepository.kind, name, namespace };
  const refusal = repositoryRefusal(key, namespaceOf(live), rules);
  if (refusal !== undefined) throw new Failure("AccessDenied", refusal);
}

function checkTarget(live: LiveObject, { configMap }: SpecRules): void {
  const name = KubeConfigOf.safeParse(live["spec"]).data?.kubeConfig.configMapRef?.name;
  const named = name === undefined ? undefined : configMap(namespaceOf(live), name);
  if (named !== undefined) clusterArnIn(named);
}

function checkCanary(live: LiveObject, rules: SpecRules): void {
  const spec = parseLive(live, "spec", CanarySpec);
  const { analysis, provider = rules.meshProvider } = spec;
  const fault = specFault({ spec, analysis, namespace: namespaceOf(live) }, rules);
  if (fault !== undefined) throw new Failure("InvalidSpec", `invalid canary spec: ${fault}`);
  const lacking = unsupportedMesh(provider) ?? lackingFault({ analysis }, provider);
  if (lacking !== undefined) throw new Failure("UnsupportedField", lacking);
}

/** Why no Canary is routed by this flag `-mesh-provider`; undefined if Canaries are. */
export function meshProviderRefusal(provider: string): string | undefined {
  return unsupportedMesh(provider, "Set the flag");
}
