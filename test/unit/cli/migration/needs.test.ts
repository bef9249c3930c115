import { expect, test } from "vitest";
import type { MigrationFacts } from "../../../../cli/migration/facts.ts";
import { needsOf } from "../../../../cli/migration/needs.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";

const source = "source.toolkit.fluxcd.io/v1";
const kustomize = "kustomize.toolkit.fluxcd.io/v1";
const registry = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";
const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/edge";

function object(apiVersion: string, kind: string, name: string, rest: object): LiveObject {
  return { apiVersion, kind, metadata: { name, namespace: "apps", uid: name }, ...rest };
}

const none: MigrationFacts = {
  ...{ controllers: [], objects: [], definitions: [], unreconciled: [], operators: [], unread: [] },
  ...{ accounts: new Map(), configMaps: new Map() },
};

const needs = (
  facts: Partial<MigrationFacts>,
  defaultServiceAccount = "deploys",
  settings: Readonly<Record<string, string>> = {},
) => {
  const found = needsOf({ ...none, ...facts }, { defaultServiceAccount, settings });
  return { ...found, what: found.needs.map(({ objects, what }) => `${what}: ${objects.join(", ")}`) };
};

test("each repository that is pulled by provider aws is listed for its namespaces, a chart by its own repository", () => {
  const url = `oci://${registry}`;
  const { installation, what } = needs({
    objects: [
      object(source, "OCIRepository", "fleet", { spec: { provider: "aws", url: `${url}/fleet` } }),
      object(source, "OCIRepository", "with-secret", { spec: { provider: "aws", url, secretRef: { name: "s" } } }),
      object(source, "HelmRepository", "charts", { spec: { provider: "aws", type: "oci", url: `${url}/charts` } }),
      object(source, "HelmChart", "web", {
        spec: { chart: "web", sourceRef: { kind: "HelmRepository", name: "charts" } },
      }),
      object(source, "GitRepository", "code", { spec: { provider: "aws" } }),
      object(source, "Bucket", "bucket", { spec: { provider: "aws", bucketName: "fleet" } }),
    ],
  });
  expect(what).toEqual([
    "repositories: OCIRepository/apps/fleet, HelmRepository/apps/charts",
    "repositories: GitRepository/apps/code",
    "buckets: Bucket/apps/bucket",
  ]);
  expect(installation).toMatchObject({
    repositories: [
      { arn: "arn:aws:ecr:eu-west-1:123456789012:repository/fleet", namespaces: ["apps"] },
      { arn: "arn:aws:ecr:eu-west-1:123456789012:repository/charts/web", namespaces: ["apps"] },
    ],
    buckets: [{ arn: "arn:aws:s3:::fleet", namespaces: ["apps"] }],
  });
});

test("a GitRepository with provider aws logs in with the identity of the installation, also if it has a Secret", () => {
  const spec = { provider: "aws", url: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet" };
  const code = object(source, "GitRepository", "code", { spec: { ...spec, secretRef: { name: "login" } } });
  expect(needs({ objects: [code] }).what).toEqual(["repositories: GitRepository/apps/code"]);
});

test("a Kustomization without a service account needs the rights of an administrator, unless the flag names one for all", () => {
  const objects = [object(kustomize, "Kustomization", "web", { spec: {} })];
  expect(needs({ objects }, "").installation).toMatchObject({ clusters: [{ rights: "clusterAdmin" }] });
  expect(needs({ objects }).installation).toMatchObject({ clusters: [{ rights: "namespaces" }] });
});

test("a cluster of a ConfigMap is named by its ARN, and keys of SOPS where no Secret has them", () => {
  const edge = object("v1", "ConfigMap", "edge", { data: { provider: "aws", cluster: arn } });
  const { needs: found, what } = needs({
    configMaps: new Map([["apps/edge", edge]]),
    objects: [
      object(kustomize, "Kustomization", "edge", { spec: { kubeConfig: { configMapRef: { name: "edge" } } } }),
      object(kustomize, "Kustomization", "sealed", { spec: { decryption: { provider: "sops" } } }),
      object(kustomize, "Kustomization", "keyed", { spec: { decryption: { secretRef: { name: "age" } } } }),
    ],
  });
  expect(what).toEqual(["decryptionKeys: Kustomization/apps/sealed", "targets: Kustomization/apps/edge"]);
  expect(found[1]?.text).toContain(arn);
});

test("Services that Canaries name are listed by namespace in the setting that lets Sluice reach them", () => {
  const canary = "flagger.app/v1beta1";
  const webhooks = [{ url: "http://loadtester.test/" }, { url: "https://hooks.example.com/" }, { url: "http://gate" }];
  const inventory = { entries: [{ id: "test_loadtester_apps_Deployment", v: "v1" }] };
  const { settings } = needs({
    objects: [
      object(canary, "Canary", "web", { spec: { analysis: { webhooks } } }),
      object(canary, "MetricTemplate", "errors", { spec: { provider: { address: "http://prom.mesh.svc:9090" } } }),
      object(kustomize, "Kustomization", "tests", { status: { inventory } }),
    ],
  });
  expect(settings).toEqual({ "canary-service-namespaces": ["apps", "mesh", "test"] });
});

test("each MetricTemplate that reads CloudWatch is named with its region, which is lent to its namespace", () => {
  const template = (name: string, provider: object) =>
    object("flagger.app/v1beta1", "MetricTemplate", name, { spec: { provider } });
  const { needs: found } = needs({
    objects: [
      template("errors", { type: "cloudwatch", region: "eu-west-1" }),
      template("latency", { type: "cloudwatch", region: "eu-central-1" }),
      template("queries", { type: "datadog" }),
    ],
  });
  expect(found).toEqual([
    {
      what: "cloudWatchRegions",
      text: expect.stringContaining('cloudWatchRegions: {"apps":["eu-central-1","eu-west-1"]} to addCluster'),
      objects: ["MetricTemplate/apps/errors (eu-west-1)", "MetricTemplate/apps/latency (eu-central-1)"],
    },
  ]);
});

test("a host without .svc is a Service only for a Canary, and only in a namespace that objects are in", () => {
  const webhooks = [{ url: "http://example.com/hook" }];
  const { settings } = needs({
    objects: [
      object("flagger.app/v1beta1", "Canary", "web", { spec: { analysis: { webhooks } } }),
      object("notification.toolkit.fluxcd.io/v1beta3", "Provider", "hook", { spec: { address: "http://chat.apps" } }),
    ],
  });
  expect(settings).toEqual({});
});

test("a bucket is listed by the ARN that it has in the partition of its region", () => {
  const bucket = (name: string, region: string) =>
    object(source, "Bucket", name, { spec: { provider: "aws", bucketName: name, region } });
  const objects = [bucket("fleet", "eu-west-1"), bucket("charts", "cn-north-1")];
  expect(needs({ objects }).installation).toMatchObject({
    buckets: [{ arn: "arn:aws:s3:::fleet" }, { arn: "arn:aws-cn:s3:::charts" }],
  });
});

test("an older stored version and the Flux Operator are named before all others", () => {
  const definitions = [
    { name: "alerts.notification.toolkit.fluxcd.io", stored: ["v1beta2", "v1beta3"], read: "v1beta3" },
    { name: "buckets.source.toolkit.fluxcd.io", stored: ["v1"], read: "v1" },
  ];
  expect(needs({ definitions, operators: ["FluxInstance/flux-system/flux"] }).what).toEqual([
    "operator: FluxInstance/flux-system/flux",
    "definitions: CustomResourceDefinition/alerts.notification.toolkit.fluxcd.io (v1beta2, v1beta3)",
  ]);
});

test("the namespace of Flagger's metrics server is listed for Canaries that name no server of their own", () => {
  const flags = { "metrics-server": "http://prometheus.istio-system:9090" };
  const at = { deployment: "flagger", version: "1.44.0", replicas: 1, serviceAccount: "flagger", args: [] };
  const controllers = [{ name: "flagger", namespace: "istio-system", ...at }];
  const canary = (spec: object) => ({
    controllers,
    objects: [object("flagger.app/v1beta1", "Canary", "web", { spec })],
  });
  expect(needs(canary({}), "deploys", flags).settings).toEqual({ "canary-service-namespaces": ["istio-system"] });
  expect(needs(canary({ metricsServer: "https://prom.example.com" }), "deploys", flags).settings).toEqual({});
});

test("a Canary needs the rights of an administrator, unless the flag names a service account for all", () => {
  const objects = [object("flagger.app/v1beta1", "Canary", "web", { spec: {} })];
  expect(needs({ objects }, "").installation).toMatchObject({ clusters: [{ rights: "clusterAdmin" }] });
  expect(needs({ objects }).installation).toMatchObject({ clusters: [{ rights: "namespaces" }] });
});

test("ResourceSets, which only the Flux Operator reconciles, are listed apart from what starts Flux", () => {
  const operators = ["FluxInstance/flux-system/flux", "ResourceSet/apps/tenants"];
  expect(needs({ operators }).needs).toEqual([
    { what: "operator", objects: ["FluxInstance/flux-system/flux"], text: expect.stringContaining("starts Flux") },
    { what: "operator", objects: ["ResourceSet/apps/tenants"], text: expect.stringContaining("only the Flux Op") },
  ]);
});

test("a source of ECR Public is not among the repositories, since it is refused", () => {
  const spec = { provider: "aws", url: "oci://public.ecr.aws/team/fleet" };
  expect(needs({ objects: [object(source, "OCIRepository", "public", { spec })] }).what).toEqual([]);
});
