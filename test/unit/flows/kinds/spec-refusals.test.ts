import { describe, expect, test } from "vitest";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { type SpecRules, specRefusals } from "../../../../lib/flows/kinds/spec-refusals.ts";

const groups: Readonly<Record<string, string>> = {
  Canary: "flagger.app/v1beta1",
  HelmRelease: "helm.toolkit.fluxcd.io/v2",
  ImagePolicy: "image.toolkit.fluxcd.io/v1",
  ImageRepository: "image.toolkit.fluxcd.io/v1",
  ImageUpdateAutomation: "image.toolkit.fluxcd.io/v1",
  Kustomization: "kustomize.toolkit.fluxcd.io/v1",
  Receiver: "notification.toolkit.fluxcd.io/v1",
};

const interval = "1h";
const paced = { interval: "1m", threshold: 5 };
const targetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const charts = { kind: "HelmRepository", name: "charts" };
const match = [{ headers: { "x-canary": { exact: "insider" } } }];
const specs: Readonly<Record<string, object>> = {
  Bucket: { interval, bucketName: "fleet", endpoint: "s3.eu-west-1.amazonaws.com" },
  Canary: { targetRef, service: { port: 80 }, analysis: { ...paced, stepWeight: 10 } },
  GitRepository: { interval, url: "https://git.example.com/fleet.git" },
  HelmRepository: { interval, url: "https://charts.example.com" },
  HelmRelease: { interval, chartRef: { kind: "OCIRepository", name: "chart" } },
  ImagePolicy: { imageRepositoryRef: { name: "web" }, policy: { alphabetical: {} } },
  ImageRepository: { interval, image: "ghcr.io/team/app" },
  ImageUpdateAutomation: {
    interval,
    sourceRef: { kind: "GitRepository", name: "fleet" },
    git: { commit: { author: { email: "bot@example.com" } } },
  },
  Kustomization: { interval, prune: true, sourceRef: { kind: "GitRepository", name: "fleet" } },
  OCIRepository: { interval, url: "oci://registry.example.com/fleet" },
  Receiver: { type: "github", secretRef: { name: "t" }, resources: [{ kind: "GitRepository", name: "fleet" }] },
};

function object(kind: string, spec: object): LiveObject {
  const apiVersion = groups[kind] ?? "source.toolkit.fluxcd.io/v1";
  const given = Object.entries({ ...specs[kind], ...spec }).filter(
    ([, value]: [string, unknown]) => value !== undefined,
  );
  return { apiVersion, kind, metadata: { name: "it", namespace: "apps", uid: "1" }, spec: Object.fromEntries(given) };
}

const rules: SpecRules = {
  gates: defaultGates,
  noCrossNamespaceRefs: false,
  meshProvider: "istio",
  hasPullSecrets: () => false,
  configMap: () => undefined,
};

const refusals = async (kind: string, spec: object, of: Partial<SpecRules> = {}) =>
  (await specRefusals(object(kind, spec), { ...rules, ...of })).map(({ message, reason }) => `${reason}: ${message}`);

const external = { sourceRef: { kind: "ExternalArtifact", name: "fleet" } };
const fromExternal = { chartRef: { kind: "ExternalArtifact", name: "chart" } };
const byConfigMap = { kubeConfig: { configMapRef: { name: "edge" } } };
const ofGoogle: LiveObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "edge", namespace: "apps", uid: "2" },
  data: { provider: "gcp" },
};
const codeCommit = { provider: "aws", url: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet" };
const account = { provider: "aws", serviceAccountName: "pulls" };

interface Honoured {
  readonly kind: string;
  readonly spec: object;
  readonly of?: Partial<SpecRules>;
}

const honoured: readonly Honoured[] = [
  { kind: "GitRepository", spec: {} },
  { kind: "GitRepository", spec: codeCommit },
  { kind: "OCIRepository", spec: { provider: "aws" } },
  { kind: "OCIRepository", spec: { provider: "gcp", secretRef: { name: "login" } } },
  { kind: "OCIRepository", spec: account, of: { hasPullSecrets: () => true } },
  { kind: "Bucket", spec: { provider: "aws" } },
  { kind: "Bucket", spec: { provider: "gcp", endpoint: "storage.googleapis.com", secretRef: { name: "login" } } },
  { kind: "HelmRepository", spec: { provider: "azure" } },
  { kind: "HelmRepository", spec: { type: "oci", url: "oci://registry.example.com/charts", provider: "aws" } },
  { kind: "Kustomization", spec: {} },
  { kind: "Kustomization", spec: external, of: { gates: { ...defaultGates, ExternalArtifact: true } } },
  { kind: "HelmRelease", spec: fromExternal, of: { gates: { ...defaultGates, ExternalArtifact: true } } },
  { kind: "Kustomization", spec: byConfigMap },
  { kind: "ImageRepository", spec: { provider: "aws" } },
  { kind: "Receiver", spec: {} },
  { kind: "Canary", spec: {} },
  { kind: "Canary", spec: { provider: "nginx", analysis: { ...paced, iterations: 5, match } } },
];

describe("an object that Sluice in AWS honours", () => {
  test.each(honoured)("$kind with $spec is not refused", async ({ kind, spec, of }) => {
    expect(await refusals(kind, spec, of)).toEqual([]);
  });
});

describe("an object that every run would refuse", () => {
  test.each([
    ["GitRepository", { provider: "azure" }, "UnsupportedField: spec.provider azure is not supported"],
    [
      "GitRepository",
      { ...codeCommit, proxySecretRef: { name: "proxy" } },
      "InvalidProviderConfiguration: spec.proxySecretRef cannot be set with provider aws",
    ],
    [
      "GitRepository",
      { provider: "aws" },
      "AuthenticationFailed: failed to configure authentication options: invalid AWS",
    ],
    ["GitRepository", account, "FeatureGateDisabled: to use spec.serviceAccountName"],
    ["GitRepository", { accessFrom: { namespaceSelectors: [{}] } }, "UnsupportedField: spec.accessFrom is not"],
    ["OCIRepository", { provider: "azure" }, "UnsupportedField: spec.provider is not supported yet"],
    ["OCIRepository", account, "UnsupportedField: spec.serviceAccountName without pull secrets"],
    ["Bucket", { provider: "gcp" }, "UnsupportedField: spec.provider gcp without secretRef"],
    ["Bucket", { accessFrom: { namespaceSelectors: [{}] } }, "UnsupportedField: spec.accessFrom is not"],
    [
      "HelmRepository",
      { type: "oci", url: "oci://registry.example.com/charts", provider: "gcp" },
      "AuthenticationFailed: failed to get credential from 'gcp'",
    ],
    ["HelmRepository", { url: "oci://x", type: "default", provider: "gcp" }, "AuthenticationFailed: failed to get"],
    [
      "HelmRepository",
      { type: "oci", url: "oci://public.ecr.aws/charts", provider: "aws" },
      "AuthenticationFailed: public.ecr.aws with provider aws is not supported",
    ],
    [
      "OCIRepository",
      { url: "oci://public.ecr.aws/team/fleet", provider: "aws" },
      "AuthenticationFailed: public.ecr.aws with provider aws is not supported",
    ],
    [
      "ImageRepository",
      { image: "public.ecr.aws/team/app", provider: "aws" },
      "ReadOperationFailed: public.ecr.aws with provider aws is not supported",
    ],
    ["Kustomization", external, "AccessDenied: can't access 'ExternalArtifact/apps/fleet'"],
    ["HelmRelease", fromExternal, "AccessDenied: cannot access ExternalArtifact apps/chart"],
    [
      "Kustomization",
      { decryption: { provider: "sops", serviceAccountName: "decrypts" } },
      "FeatureGateDisabled: to use spec.decryption.serviceAccountName",
    ],
    ["Kustomization", { interval: "soon" }, "InvalidSpec: Kustomization/apps/it is invalid: spec.interval"],
    [
      "Kustomization",
      { dependsOn: [{ name: "" }] },
      "InvalidSpec: Kustomization/apps/it is invalid: spec.dependsOn[0]",
    ],
    ["Kustomization", { colour: "red" }, "UnsupportedField: spec.colour is a field that Sluice does not know"],
    ["Canary", { provider: "appmesh" }, "UnsupportedField: provider appmesh is not supported: AWS App Mesh is at"],
    [
      "Canary",
      { provider: "linkerd", analysis: { ...paced, iterations: 5, match } },
      "UnsupportedField: provider linkerd cannot route requests by spec.analysis.match",
    ],
    [
      "Canary",
      { provider: "contour", analysis: { ...paced, stepWeight: 10, maxWeight: 50, mirror: true } },
      "UnsupportedField: provider contour cannot mirror requests",
    ],
    ["ImageRepository", { provider: "gcp", image: "gcr.io/team/app" }, "ReadOperationFailed: this installation has no"],
  ])("%s with %j is refused as its run would refuse it", async (kind, spec, text) => {
    expect(await refusals(kind, spec)).toEqual([expect.stringContaining(text)]);
  });

  test("names a ConfigMap with a cluster that is not EKS's", async () => {
    const [refusal = ""] = await refusals("HelmRelease", byConfigMap, { configMap: () => ofGoogle });
    expect(refusal).toContain("configmap 'apps/edge', key 'provider': provider 'gcp' is not supported by Sluice");
  });

  test("names a Canary without a provider if Flagger's flag names one that cannot do what its analysis asks", async () => {
    const analysis = { ...paced, iterations: 5, match };
    expect(await refusals("Canary", { analysis })).toEqual([]);
    expect(await refusals("Canary", { analysis }, { meshProvider: "traefik" })).toEqual([
      expect.stringContaining("provider traefik cannot route requests"),
    ]);
  });

  const expr = [{ name: "base", namespace: "infra", readyExpr: "dep.status.ready" }];
  test.each(["HelmRelease", "Kustomization"])("takes an empty namespace in %s for its own", async (kind) => {
    const dependsOn = [{ name: "base", namespace: "", readyExpr: "dep.status.ready" }];
    expect(await refusals(kind, { dependsOn }, { noCrossNamespaceRefs: true })).toEqual([]);
  });

  test.each([
    [
      "Kustomization",
      { sourceRef: { kind: "GitRepository", name: "fleet", namespace: "infra" } },
      "can't access 'GitRepository/infra/fleet', cross-namespace references have been blocked",
    ],
    [
      "Kustomization",
      { dependsOn: expr },
      "spec.dependsOn[0].readyExpr can't access 'Kustomization/infra/base', cross-namespace references have been blocked",
    ],
    [
      "HelmRelease",
      { chartRef: { kind: "OCIRepository", name: "chart", namespace: "infra" } },
      "cross-namespace references are not allowed: cannot access OCIRepository infra/chart",
    ],
    [
      "HelmRelease",
      { chartRef: undefined, chart: { spec: { chart: "web", sourceRef: { ...charts, namespace: "infra" } } } },
      "cross-namespace references are not allowed: cannot access HelmChart infra/apps-it",
    ],
    [
      "HelmRelease",
      { dependsOn: expr },
      "readyExpr may not read HelmRelease infra/base: cross-namespace references are not allowed",
    ],
    [
      "ImagePolicy",
      { imageRepositoryRef: { name: "web", namespace: "infra" } },
      "failed to get the referred ImageRepository: cannot access 'ImageRepository/infra/web', cross-namespace references have been blocked",
    ],
    [
      "ImageUpdateAutomation",
      { sourceRef: { kind: "GitRepository", name: "fleet", namespace: "infra" } },
      "can't access 'GitRepository/infra/fleet', cross-namespace references have been blocked",
    ],
  ])("%s with %j names another namespace, where only the controllers can forbid that", async (kind, spec, text) => {
    expect(await refusals(kind, spec)).toEqual([]);
    expect(await refusals(kind, spec, { noCrossNamespaceRefs: true })).toEqual([`AccessDenied: ${text}`]);
  });

  test("names a field of a newer release at any place, except a key of a mapping with free keys", async () => {
    const patches = [{ patch: "x", target: { kind: "Service", shade: "dark" } }];
    const [refusal = ""] = await refusals("Kustomization", { patches, postBuild: { substitute: { any: "x" } } });
    expect(refusal).toMatch(
      /^UnsupportedField: spec\.patches\[0\]\.target\.shade is a field that Sluice does not know/,
    );
  });
});
