import type { JsonObject } from "../../lib/core/json.ts";
import type { Manifest } from "../../lib/core/manifest.ts";

/** The Deployment of a controller as Flux's own manifests have it. */
export function controllerDeployment(name: string, version: string, ...args: readonly string[]): Manifest {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace: "flux-system",
      labels: { "app.kubernetes.io/component": name, "app.kubernetes.io/part-of": "flux" },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          serviceAccountName: name,
          containers: [{ name: "manager", image: `ghcr.io/fluxcd/${name}:${version}`, args: [...usualArgs, ...args] }],
        },
      },
    },
  };
}

const usualArgs = [
  "--events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc.cluster.local./",
  ...["--watch-all-namespaces=true", "--log-level=info", "--log-encoding=json", "--enable-leader-election"],
];

function object(apiVersion: string, kind: string, id: string, spec: JsonObject): Manifest {
  const [namespace = "", name = ""] = id.split("/");
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}

const source = "source.toolkit.fluxcd.io/v1";
const gitRepository = { interval: "1m", url: "https://git.example.com/fleet.git", ref: { branch: "main" } };
const ofFleet = { interval: "10m", prune: true, sourceRef: { kind: "GitRepository", name: "flux-system" } };

/** A typical installation of Flux: a fleet from git, charts, an alert and image automation. All of it can move. */
export const fluxInstallation: readonly Manifest[] = [
  ...["flux-system", "apps"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })),
  controllerDeployment("source-controller", "v1.9.1", "--storage-path=/data"),
  controllerDeployment("kustomize-controller", "v1.9.4", "--feature-gates=StrictPostBuildSubstitutions=false"),
  controllerDeployment("helm-controller", "v1.6.2", "--concurrent=20"),
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {
      name: "kustomize-controller",
      namespace: "flux-system",
      annotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/flux" },
    },
  },
  object(source, "GitRepository", "flux-system/flux-system", gitRepository),
  object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "flux-system/flux-system", {
    ...ofFleet,
    path: "./clusters/production",
  }),
  object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "flux-system/apps", {
    ...ofFleet,
    path: "./apps/production",
    wait: true,
    decryption: { provider: "sops" },
  }),
  object(source, "HelmRepository", "apps/podinfo", { interval: "5m", url: "https://charts.example.com" }),
  object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "apps/podinfo", {
    interval: "50m",
    chart: { spec: { chart: "podinfo", version: ">=1.0.0", sourceRef: { kind: "HelmRepository", name: "podinfo" } } },
  }),
  object("image.toolkit.fluxcd.io/v1", "ImageRepository", "flux-system/podinfo", {
    interval: "5m",
    image: "123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/podinfo",
    provider: "aws",
  }),
  object("notification.toolkit.fluxcd.io/v1beta3", "Provider", "flux-system/alertmanager", {
    type: "alertmanager",
    address: "http://alertmanager.monitoring.svc:9093/api/v2/alerts/",
  }),
  object("notification.toolkit.fluxcd.io/v1beta3", "Alert", "flux-system/all", {
    providerRef: { name: "alertmanager" },
    eventSources: [{ kind: "Kustomization", name: "*" }],
  }),
  object("notification.toolkit.fluxcd.io/v1", "Receiver", "flux-system/fleet", {
    type: "github",
    secretRef: { name: "webhook-token" },
    resources: [{ kind: "GitRepository", name: "flux-system" }],
  }),
];
