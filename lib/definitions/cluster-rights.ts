import type { KindDeclaration } from "../api/kinds/declaration.ts";
import { declaredKinds, definedKinds, readByCanaries } from "../api/kinds/declared-kinds.ts";
import { declaredExternalArtifact } from "../api/kinds/external-artifact.ts";
import { declaredHelmChart } from "../api/kinds/helm-chart.ts";
import { declaredImagePolicy } from "../api/kinds/image-policy.ts";
import { declaredReceiver } from "../api/kinds/receiver.ts";
import type { Manifest } from "../core/manifest.ts";
import { canaryTargetRights } from "./canary-rights.ts";
import type { Right, Verb } from "./right.ts";

/** Who has rights: also the name of the Kubernetes group, of the ClusterRole and its binding, and of those in kube-system. */
export type Holder =
  | "sluice-reconcile"
  | "sluice-receiver"
  | "sluice-notify"
  | "sluice-configuration"
  | "sluice-definitions";

/** The holders whose rights the definitions function installs. */
export const installedHolders = [
  "sluice-reconcile",
  "sluice-receiver",
  "sluice-notify",
  "sluice-configuration",
] as const satisfies readonly Holder[];

const watched = "to find changes of those that are labelled to be watched; only their metadata is asked for";
const removed = "when the configuration is removed or changed";
const rbac = "rbac.authorization.k8s.io";
const identity: Right = {
  group: "",
  resource: "namespaces",
  names: ["kube-system"],
  verbs: [{ verb: "get", why: "its uid is the identity of the cluster" }],
};

/**
 * The rights of the reconcile function for its own kinds and the objects that they refer to. The applied objects need more rights:
 * all of them with rights `clusterAdmin`, otherwise those of the service accounts that it impersonates.
 */
const reconcile: readonly Right[] = [
  ...(declaredKinds as readonly KindDeclaration[]).flatMap(({ group, isStatusless, plural }): readonly Right[] => [
    {
      group,
      resource: plural,
      verbs: [
        { verb: "get", why: "to read the object of a run, its source and its dependencies" },
        { verb: "list", why: "for the sweep, and to find other owners before a prune" },
        {
          verb: "patch",
          why:
            plural === declaredImagePolicy.plural
              ? "to set and remove the finalizer, and to bar an unhealthy image"
              : "to set and remove the finalizer",
        },
      ],
    },
    ...(isStatusless === true
      ? []
      : [
          {
            group,
            resource: `${plural}/status`,
            verbs: [{ verb: "patch", why: "to write conditions and inventory" } as const],
          },
        ]),
  ]),
  {
    group: declaredExternalArtifact.group,
    resource: declaredExternalArtifact.plural,
    verbs: [
      { verb: "get", why: "to read the source of a Kustomization" },
      { verb: "list", why: "to find changes, and what an ArtifactGenerator has made" },
      { verb: "create", why: "to publish what an ArtifactGenerator makes" },
      { verb: "patch", why: "to publish what an ArtifactGenerator makes: server-side apply is a PATCH" },
      { verb: "delete", why: "when an ArtifactGenerator no longer makes it" },
    ],
  },
  {
    group: declaredExternalArtifact.group,
    resource: `${declaredExternalArtifact.plural}/status`,
    verbs: [{ verb: "patch", why: "to name the artifact that an ArtifactGenerator has made" }],
  },
  {
    group: declaredHelmChart.group,
    resource: declaredHelmChart.plural,
    verbs: [
      { verb: "create", why: "to make the HelmChart of spec.chart of a HelmRelease" },
      { verb: "delete", why: "when the HelmRelease is gone or names another chart" },
    ],
  },
  {
    group: "",
    resource: "namespaces",
    verbs: [{ verb: "get", why: "for the labels that spec.accessFrom of an ImageRepository asks for" }],
  },
  { group: "", resource: "events", verbs: [{ verb: "create", why: "to tell what a run has done" }] },
  {
    group: "",
    resource: "secrets",
    verbs: [
      { verb: "get", why: "for the secretRef and certSecretRef of a source, for variables and kubeconfigs" },
      { verb: "list", why: watched },
    ],
  },
  {
    group: "",
    resource: "configmaps",
    verbs: [
      {
        verb: "get",
        why: "for variables, spec.postBuild.substituteFrom, and clusters, spec.kubeConfig.configMapRef; sluice-owner in kube-system names the owner of the cluster, and says whether Sluice is paused",
      },
      { verb: "list", why: watched },
    ],
  },
  {
    group: "",
    resource: "serviceaccounts",
    verbs: [
      {
        verb: "get",
        why: "for the imagePullSecrets of a source's serviceAccountName, and to know whether the account of a deletion is still there",
      },
      { verb: "impersonate", why: "to apply as the service account that a Kustomization names" },
    ],
  },
  identity,
  {
    group: "",
    resource: "configmaps",
    namespace: "kube-system",
    verbs: [{ verb: "create", why: "to become the owner of a cluster without one" }],
  },
  {
    group: "",
    resource: "configmaps",
    names: ["sluice-owner"],
    namespace: "kube-system",
    verbs: [
      {
        verb: "patch",
        why: "to become the owner if a backup of another cluster was restored, and to tell where webhooks come in",
      },
    ],
  },
  ...canaryTargetRights,
];

/** The rights of the receiver function in a cluster: everything else comes from the state table. */
const receiver: readonly Right[] = [
  { group: "", resource: "secrets", verbs: [{ verb: "get", why: "for the token of a Receiver, its secretRef" }] },
];

/**
 * The rights of the notify function in a cluster: the matching Alerts are found where the event is written. Its look at the owner of
 * the cluster stands before each event that it writes.
 */
const notify: readonly Right[] = [
  ...["alerts", "providers"].map(
    (resource): Right => ({
      group: declaredReceiver.group,
      resource,
      verbs: [{ verb: "get", why: "to read where a notification goes" }],
    }),
  ),
  {
    group: "",
    resource: "secrets",
    verbs: [{ verb: "get", why: "for the secretRef, certSecretRef and proxySecretRef of a Provider" }],
  },
  {
    group: "",
    resource: "events",
    verbs: [{ verb: "create", why: "to tell of a notification that could not be delivered" }],
  },
  identity,
  {
    group: "",
    resource: "configmaps",
    names: ["sluice-owner"],
    namespace: "kube-system",
    verbs: [{ verb: "get", why: "names the owner of the cluster, and says whether Sluice is paused" }],
  },
];

/** The rights of the configuration function: it writes objects of Sluice's kinds, and copies logins into their namespaces. */
const configuration: readonly Right[] = [
  ...declaredKinds.map(({ group, isSource, plural }): Right => {
    const listed: readonly Verb[] = [{ verb: "list", why: "to find those that a configuration no longer has" }];
    return {
      group,
      resource: plural,
      verbs: [...managed("the objects of a configuration", removed), ...(isSource ? [] : listed)],
    };
  }),
  { group: "", resource: "secrets", verbs: managed("the logins of a configuration", removed) },
  { group: "", resource: "namespaces", verbs: [{ verb: "create", why: "to make the namespace of a configuration" }] },
  identity,
  {
    group: "",
    resource: "configmaps",
    names: ["sluice-owner"],
    namespace: "kube-system",
    verbs: [{ verb: "get", why: "names the owner of the cluster" }],
  },
];

/**
 * The definitions function's own rights. It also has all rights of the others, since Kubernetes lets no user grant what they do not
 * have.
 *
 * @internal Exported for the page that lists them.
 */
export const definitionsAlone: readonly Right[] = [
  {
    group: "apiextensions.k8s.io",
    resource: "customresourcedefinitions",
    names: definedKinds.map(({ group, plural }) => `${plural}.${group}`),
    verbs: managed("the definitions", "with onDelete removeDefinitions, once no object is left"),
  },
  {
    group: "admissionregistration.k8s.io",
    resource: "validatingwebhookconfigurations",
    names: ["sluice-admission"],
    verbs: managed("the admission webhook", "when it or the cluster is removed from the installation"),
  },
  ...readByCanaries.map(({ group, plural }): Right => {
    const verbs = [{ verb: "list", why: "to see whether an object of a definition is left" }] as const;
    return { group, resource: plural, verbs };
  }),
  ...["clusterroles", "clusterrolebindings"].map((resource) => roleRight(resource)),
  ...["roles", "rolebindings"].map((resource): Right => ({ ...roleRight(resource), namespace: "kube-system" })),
  {
    group: "",
    resource: "configmaps",
    names: ["sluice-owner"],
    namespace: "kube-system",
    verbs: [{ verb: "delete", why: "to give the cluster up when it is removed from the installation" }],
  },
];

function roleRight(resource: string): Right {
  const verbs = managed("the rights of the other functions", "when the cluster is removed from the installation");
  return { group: rbac, resource, names: [...installedHolders], verbs };
}

function managed(what: string, deleted: string): readonly Verb[] {
  return [
    { verb: "get", why: `to see ${what} as they are` },
    { verb: "create", why: `to install ${what}` },
    { verb: "patch", why: `to install and renew ${what}: server-side apply is a PATCH` },
    { verb: "delete", why: deleted },
  ];
}

/** Every right that a holder has, the reason of each verb included. */
export const clusterRights: Readonly<Record<Holder, readonly Right[]>> = {
  "sluice-reconcile": reconcile,
  "sluice-receiver": receiver,
  "sluice-notify": notify,
  "sluice-configuration": configuration,
  "sluice-definitions": merged([...reconcile, ...receiver, ...notify, ...configuration, ...definitionsAlone]),
};

/** Each resource once, with all its verbs. */
function merged(rights: readonly Right[]): readonly Right[] {
  const keyOf = ({ group, names, namespace, resource }: Right) => JSON.stringify([group, resource, names, namespace]);
  return [...Map.groupBy(rights, keyOf).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const verbs = new Map(same.toReversed().flatMap((one) => one.verbs.map((verb) => [verb.verb, verb] as const)));
    const needed = [...verbs.values()].filter(({ verb }) => !isCovered(first, verb, rights));
    return needed.length === 0 ? [] : [{ ...first, verbs: needed }];
  });
}

/** Whether a right to some objects of a resource includes a verb that another right gives for all of them. */
function isCovered({ group, names, namespace, resource }: Right, verb: string, rights: readonly Right[]): boolean {
  if (names === undefined && namespace === undefined) return false;
  return rights.some(
    (one) =>
      one.group === group &&
      one.resource === resource &&
      one.names === undefined &&
      one.namespace === undefined &&
      one.verbs.some((each) => each.verb === verb),
  );
}

/** The objects that grant a Kubernetes group these rights: a ClusterRole, a Role in kube-system, and their bindings. Pure. */
export function rightsManifests(holder: Holder, rights = clusterRights[holder]): readonly Manifest[] {
  const rulesOf = (namespace: string | undefined) =>
    rights
      .filter((right) => right.namespace === namespace)
      .map(({ group, resource, names, verbs }) => ({
        apiGroups: [group],
        resources: [resource],
        ...(names === undefined ? {} : { resourceNames: [...names] }),
        verbs: verbs.map(({ verb }) => verb),
      }));
  const metadata = { name: holder, labels: { "app.kubernetes.io/managed-by": "sluice" } };
  const inKubeSystem = { ...metadata, namespace: "kube-system" };
  const binding = (kind: string) => ({
    roleRef: { apiGroup: rbac, kind, name: holder },
    subjects: [{ apiGroup: rbac, kind: "Group", name: holder }],
  });
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind: "ClusterRole", metadata, rules: rulesOf(undefined) },
    { apiVersion, kind: "Role", metadata: inKubeSystem, rules: rulesOf("kube-system") },
    { apiVersion, kind: "ClusterRoleBinding", metadata, ...binding("ClusterRole") },
    { apiVersion, kind: "RoleBinding", metadata: inKubeSystem, ...binding("Role") },
  ];
}
