import type { JsonObject } from "../../../lib/core/json.ts";
import type { Files } from "../../unit/manifests/build-files.ts";

/** One way in which a tenant tries to get at what is another's. */
export interface TenantTry {
  readonly name: string;
  /** What his artifact holds; a ConfigMap of his own by default. */
  readonly files?: Files;
  readonly spec?: JsonObject;
  /** What Ready says of it in the end. */
  readonly ready: RegExp;
}

const forbidden = /^False ReconciliationFailed: .*User "system:serviceaccount:default:tenant" cannot/s;
const noRights = /^False ReconciliationFailed: .*User "system:serviceaccount:default:[a-z-]+" cannot/s;

type Fields = Readonly<Record<string, unknown>>;
const yaml = (...objects: readonly Fields[]): Files => ({
  "a.yaml": objects.map((object) => JSON.stringify(object)).join("\n---\n"),
});
const object = (apiVersion: string, kind: string, metadata: Fields, more: Fields = {}): Fields => ({
  apiVersion,
  kind,
  metadata,
  ...more,
});
const rbac = "rbac.authorization.k8s.io";
const subjects = [{ kind: "ServiceAccount", name: "tenant", namespace: "default" }];
const clusterAdmin = { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" };
const victims = { name: "stays", namespace: "victim" };
const taken = object("v1", "ConfigMap", victims, { data: { of: "the tenant" } });
const kustomization = (namespace: string, spec: Fields = {}): Fields =>
  object(
    "kustomize.toolkit.fluxcd.io/v1",
    "Kustomization",
    { name: "nested", namespace },
    {
      spec: {
        interval: "1h",
        prune: true,
        path: ".",
        targetNamespace: "victim",
        sourceRef: { kind: "OCIRepository", name: "nested-parent", namespace: "default" },
        ...spec,
      },
    },
  );

/** The tenant has every right in namespace default and none elsewhere; the other's objects are in namespace victim. */
export const tenantTries: readonly TenantTry[] = [
  { name: "spec.targetNamespace of another", spec: { targetNamespace: "victim" }, ready: forbidden },
  { name: "a manifest with the namespace of another", files: yaml(taken), ready: forbidden },
  { name: "the same by force", files: yaml(taken), spec: { force: true }, ready: forbidden },
  {
    name: "the same in a List",
    files: yaml({ apiVersion: "v1", kind: "List", items: [taken] }),
    ready: forbidden,
  },
  {
    name: "a patch that moves an object",
    spec: {
      patches: [
        {
          target: { kind: "ConfigMap" },
          patch: JSON.stringify([{ op: "add", path: "/metadata/namespace", value: "victim" }]),
        },
      ],
    },
    ready: forbidden,
  },
  {
    name: "a namespace transformer of a kustomization file",
    files: {
      "a.yaml": JSON.stringify(object("v1", "ConfigMap", { name: "stays" }, { data: {} })),
      "kustomization.yaml": "namespace: victim\nresources: [a.yaml]\n",
    },
    ready: forbidden,
  },
  {
    name: "the namespace of another itself",
    files: yaml(object("v1", "Namespace", { name: "victim", labels: { of: "the tenant" } })),
    ready: forbidden,
  },
  {
    name: "a binding to cluster-admin",
    files: yaml(object(`${rbac}/v1`, "ClusterRoleBinding", { name: "taken" }, { roleRef: clusterAdmin, subjects })),
    ready: forbidden,
  },
  {
    name: "a binding in the namespace of another",
    files: yaml(
      object(`${rbac}/v1`, "RoleBinding", { name: "taken", namespace: "victim" }, { roleRef: clusterAdmin, subjects }),
    ),
    ready: forbidden,
  },
  {
    name: "a webhook that sees the writes of all",
    files: yaml(
      object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", { name: "taken" }, { webhooks: [] }),
    ),
    ready: forbidden,
  },
  {
    name: "a Kustomization in the namespace of another",
    files: yaml(kustomization("victim")),
    ready: forbidden,
  },
  {
    name: "the source of another",
    spec: { sourceRef: { kind: "OCIRepository", name: "app", namespace: "victim" } },
    ready:
      /^False AccessDenied: can't access 'OCIRepository\/victim\/app', cross-namespace references have been blocked$/,
  },
  {
    name: "the keys of another by a path",
    spec: { decryption: { provider: "sops", secretRef: { name: "../victim/keys" } } },
    ready: /^False BuildFailed: .*may not contain '\/'/s,
  },
  {
    name: "the keys of another by their name",
    spec: { decryption: { provider: "sops", secretRef: { name: "treasure" } } },
    ready: /^False BuildFailed: secrets "treasure" not found$/,
  },
  {
    name: "the account of another",
    spec: { serviceAccountName: "victim:tenant" },
    ready: /^False InvalidSpec: .*spec\.serviceAccountName/s,
  },
  {
    name: "a group of the cluster as an account",
    spec: { serviceAccountName: "system:masters" },
    ready: /^False InvalidSpec: .*spec\.serviceAccountName/s,
  },
  { name: "an account that does not exist", spec: { serviceAccountName: "admin" }, ready: noRights },
  {
    name: "an empty account instead of the default one",
    spec: { serviceAccountName: "", targetNamespace: "victim" },
    ready: forbidden,
  },
  {
    name: "variables from a Secret of another, by its name alone",
    spec: { postBuild: { substituteFrom: [{ kind: "Secret", name: "treasure" }] } },
    ready: /^False BuildFailed: .*substitute from 'Secret\/treasure' error: secrets "treasure" not found$/s,
  },
  {
    name: "variables from a Secret of another, by a path",
    spec: { postBuild: { substituteFrom: [{ kind: "Secret", name: "../../victim/secrets/treasure" }] } },
    ready: /^False BuildFailed: .*substitute from 'Secret\/\.\.\/\.\.\/victim\/secrets\/treasure' error: /s,
  },
  {
    name: "variables from a ConfigMap of another, left out where it is missing",
    files: yaml(
      object("v1", "ConfigMap", { name: "copied", namespace: "default" }, { data: { value: "${coins:=nothing}" } }),
    ),
    spec: {
      postBuild: {
        substituteFrom: [{ kind: "Secret", name: "treasure", optional: true }],
        substituteStrategy: "Always",
      },
    },
    ready: /^True /,
  },
  {
    name: "the health of an object of another",
    spec: {
      timeout: "30s",
      healthChecks: [{ apiVersion: "v1", kind: "Secret", name: "treasure", namespace: "victim" }],
    },
    ready:
      /^False HealthCheckFailed: .*Secret\/victim\/treasure status: 'Unknown': secrets "treasure" is forbidden: User "system:serviceaccount:default:tenant" cannot get/s,
  },
  {
    name: "owner labels of another's Kustomization",
    spec: {
      commonMetadata: {
        labels: { "kustomize.toolkit.fluxcd.io/name": "app", "kustomize.toolkit.fluxcd.io/namespace": "victim" },
      },
    },
    ready: /^True /,
  },
  {
    name: "a folder outside the artifact",
    spec: { path: "../victim" },
    ready: /^False ArtifactFailed: kustomization path not found: /,
  },
];

/** A Kustomization of the tenant that his artifact brings: it has his account's rights as well, though it names none. */
export const nestedTry = { files: yaml(kustomization("default")), nested: "nested", ready: forbidden } as const;
