import type { Json, JsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { partitionOfRegion } from "../../lib/core/partitions.ts";
import { textAt } from "../objects/read-object.ts";
import {
  hasField,
  inventoryIds,
  type MigrationFacts,
  type Need,
  nameOfObject,
  namespaceOf,
  needOf,
  ofKind,
} from "./facts.ts";
import type { JudgedFlags } from "./flags.ts";
import { lentRepositories } from "./repositories.ts";
import { serviceNamespaces } from "./services.ts";

/** What an installation in AWS needs for this cluster. */
export interface Needs {
  readonly needs: readonly Need[];
  /** Values for the `context` of cdk.json. What they cannot say is in `needs`. */
  readonly installation: JsonObject;
  /** Settings that objects of the cluster need. */
  readonly settings: JsonObject;
}

const placeholder = "arn:aws:eks:REGION:ACCOUNT:cluster/NAME";

/** Pure. */
export function needsOf(facts: MigrationFacts, flags: Pick<JudgedFlags, "defaultServiceAccount" | "settings">): Needs {
  const rights = rightsNeed(facts, flags.defaultServiceAccount);
  const { repositories, needs: lent } = lentRepositories(facts.objects);
  const buckets = lentBuckets(facts.objects);
  const services = serviceNamespaces(facts, textAt(flags.settings, "metrics-server"));
  const receivers = needOf("webhooks", ofKind(facts.objects, "Receiver"), receiverText);
  const alerts = needOf("notifications", ofKind(facts.objects, "Alert"), alertText);
  return {
    needs: [
      ...operatorNeeds(facts),
      ...definitionNeeds(facts),
      ...rights,
      ...identityNeeds(facts),
      ...lent,
      ...buckets.needs,
      ...keyNeeds(facts.objects),
      ...cloudWatchNeeds(facts.objects),
      ...targetNeeds(facts),
      ...receivers,
      ...alerts,
      ...services.needs,
    ],
    installation: {
      clusters: [{ arn: placeholder, rights: rights.length > 0 ? "clusterAdmin" : "namespaces" }],
      ...listed("repositories", repositories),
      ...listed("buckets", buckets.entries),
      ...(receivers.length > 0 ? { webhooks: true } : {}),
      ...(alerts.length > 0 ? { notifications: true } : {}),
    },
    settings: services.settings,
  };
}

function listed(name: string, entries: readonly Json[]): JsonObject {
  return entries.length === 0 ? {} : { [name]: [...entries] };
}

const receiverText =
  'write "webhooks": true. The path of each webhook stays, and the host before it becomes that of the function receiver: sluice get receivers prints the addresses, which the git hosts have to call after the move (docs/receivers.md)';
const alertText =
  'write "notifications": true, without which no Alert is sent; try each Provider with sluice notify test (docs/notifications.md)';

function operatorNeeds({ controllers, objects, operators }: MigrationFacts): readonly Need[] {
  const applied = ofKind(objects, "Kustomization").filter((one) =>
    controllers.some(({ namespace, deployment }) =>
      inventoryIds(one).includes(`${namespace}_${deployment}_apps_Deployment`),
    ),
  );
  const ofOperator = (kind: string, text: string): readonly Need[] => {
    const named = operators.filter((one) => one.startsWith(`${kind}/`));
    return named.length === 0 ? [] : [{ what: "operator", text, objects: named }];
  };
  return [
    ...ofOperator(
      "FluxInstance",
      "the Flux Operator starts Flux's controllers again: stop it before you stop them, and keep its objects, whose deletion deletes Flux's definitions",
    ),
    ...ofOperator(
      "ResourceSet",
      "only the Flux Operator reconciles it: while the operator is stopped, the objects it has created stay, and Sluice reconciles those; keep it, since its deletion deletes them",
    ),
    ...needOf(
      "selfManaged",
      applied,
      "Flux's own controllers are applied from here, so Sluice would start them again: set their replicas to 0 by a patch in the same path, and leave their manifests there, since without them Flux's definitions would be pruned (docs/moving-from-flux.md)",
    ),
  ];
}

function definitionNeeds({ definitions }: MigrationFacts): readonly Need[] {
  const old = definitions.filter(({ stored, read }) => stored.some((version) => version !== read));
  const text = "objects may still be stored in an older version: run flux migrate before the move, as Flux 2.9 demands";
  if (old.length === 0) return [];
  return [
    {
      what: "definitions",
      text,
      objects: old.map(({ name, stored }) => `CustomResourceDefinition/${name} (${stored.join(", ")})`),
    },
  ];
}

/** Where Sluice's own role needs the rights of an administrator. */
function rightsNeed({ objects }: MigrationFacts, defaultServiceAccount: string): readonly Need[] {
  if (defaultServiceAccount !== "") return [];
  const own = ["Kustomization", "HelmRelease"]
    .flatMap((kind) => ofKind(objects, kind))
    .filter((one) => !hasField(one, "serviceAccountName") && !hasField(one, "kubeConfig"));
  return [
    ...needOf(
      "rights",
      own,
      'write "rights": "clusterAdmin" for the cluster, since no service account is named here; or name one in each and write "namespaces" (docs/deploy.md)',
    ),
    ...needOf(
      "rights",
      ofKind(objects, "Canary"),
      'write "rights": "clusterAdmin" for the cluster, since a Canary cannot name a service account; or name one for all in the setting default-service-account (docs/cluster-rights.md)',
    ),
  ];
}

const roleAnnotation = "eks.amazonaws.com/role-arn";

function identityNeeds({ accounts, controllers }: MigrationFacts): readonly Need[] {
  const named = new Set(controllers.map(({ namespace, serviceAccount }) => `${namespace}/${serviceAccount}`));
  return [...named].toSorted().flatMap((name): readonly Need[] => {
    const role = accounts.get(name)?.metadata.annotations?.[roleAnnotation];
    if (role === undefined) return [];
    const text = `Sluice does not use its role ${role}: give Sluice what the policies of the role allow by repositories, buckets and decryptionKeys (docs/security.md)`;
    return [{ what: "identities", text, objects: [`ServiceAccount/${name}`] }];
  });
}

/** Buckets that are read with the identity of the installation. */
function lentBuckets(objects: readonly LiveObject[]): {
  readonly needs: readonly Need[];
  readonly entries: readonly Json[];
} {
  const lent = ofKind(objects, "Bucket").filter(
    (one) => textAt(one, "spec", "provider") === "aws" && !hasField(one, "secretRef"),
  );
  const byArn = Map.groupBy(lent, (one) => {
    const partition = partitionOfRegion(textAt(one, "spec", "region"));
    return `arn:${partition}:s3:::${textAt(one, "spec", "bucketName")}`;
  });
  return {
    needs: needOf(
      "buckets",
      lent,
      "list the bucket under buckets, since it is read with the identity of the installation (docs/buckets.md)",
    ),
    entries: [...byArn].map(([arn, all]) => ({ arn, namespaces: namespacesOf(all) })),
  };
}

function namespacesOf(objects: readonly LiveObject[]): string[] {
  return [...new Set(objects.map(namespaceOf))].toSorted();
}

function keyNeeds(objects: readonly LiveObject[]): readonly Need[] {
  const keyless = ofKind(objects, "Kustomization").filter(
    (one) =>
      hasField(one, "decryption") &&
      !hasField(one, "decryption", "secretRef") &&
      !hasField(one, "decryption", "serviceAccountName"),
  );
  return needOf(
    "decryptionKeys",
    keyless,
    "list the KMS keys that the encrypted files name by decryptionKeys of addCluster in an app of your own, since no Secret has a key here; with age keys for all, the setting sops-age-secret is enough (docs/sops.md)",
  );
}

/** Templates whose region is lent to their namespace. */
function cloudWatchNeeds(objects: readonly LiveObject[]): readonly Need[] {
  const regionOf = (one: LiveObject): string => textAt(one, "spec", "provider", "region");
  const asked = ofKind(objects, "MetricTemplate").filter(
    (one) => textAt(one, "spec", "provider", "type") === "cloudwatch" && regionOf(one) !== "",
  );
  if (asked.length === 0) return [];
  const regions = [...Map.groupBy(asked, namespaceOf)].map(([namespace, all]): [string, Json] => [
    namespace,
    [...new Set(all.map(regionOf))].toSorted(),
  ]);
  const text = `pass cloudWatchRegions: ${JSON.stringify(Object.fromEntries(regions))} to addCluster in an app of your own, since CloudWatch is read with the role of the function reconcile (docs/canary-servers.md)`;
  return [{ what: "cloudWatchRegions", text, objects: asked.map((one) => `${nameOfObject(one)} (${regionOf(one)})`) }];
}

function targetNeeds({ configMaps, objects }: MigrationFacts): readonly Need[] {
  return ["Kustomization", "HelmRelease"]
    .flatMap((kind) => ofKind(objects, kind))
    .flatMap((one): readonly Need[] => {
      const name = textAt(one, "spec", "kubeConfig", "configMapRef", "name");
      if (name === "") return [];
      const found = configMaps.get(`${namespaceOf(one)}/${name}`);
      const arn = found === undefined ? "" : textAt(found, "data", "cluster");
      const cluster = arn === "" ? `the cluster of ConfigMap/${namespaceOf(one)}/${name}` : arn;
      const text = `list ${cluster} by targets of addCluster in an app of your own, for the namespace ${namespaceOf(one)} (docs/other-clusters.md)`;
      return [{ what: "targets", text, objects: [nameOfObject(one)] }];
    });
}
