import { isIP } from "node:net";
import type { ApiObject, Gvk } from "../core/api-object.ts";
import { quote } from "../core/go-value.ts";
import type { JsonObject } from "../core/json.ts";
import { objectOf, objectsOf, textOf, textsOf } from "../core/json-fields.ts";
import { fractionWarnings, podWarnings } from "./pod-warnings.ts";
import { withoutLeadingZeros } from "./validation/name-rules.ts";

/** Where a kind keeps its Pod template. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  "/Pod": [],
  "/PodTemplate": ["template"],
  "/ReplicationController": ["spec", "template"],
  "apps/Deployment": ["spec", "template"],
  "apps/DaemonSet": ["spec", "template"],
  "apps/ReplicaSet": ["spec", "template"],
  "apps/StatefulSet": ["spec", "template"],
  "batch/Job": ["spec", "template"],
  "batch/CronJob": ["spec", "jobTemplate", "spec", "template"],
};

/** What a kind warns of besides its Pods; some only when it is new. */
const kindWarnings: Readonly<Record<string, (object: ApiObject, isNew: boolean) => readonly string[]>> = {
  "/Service": (object) => serviceWarnings(objectOf(object, "spec") ?? {}),
  "/PersistentVolumeClaim": claimWarnings,
  "/Secret": (object) => certificateWarnings(object),
  "networking.k8s.io/Ingress": (object, isNew) => (isNew ? ingressWarnings(object) : []),
  "networking.k8s.io/NetworkPolicy": (object) => networkPolicyWarnings(objectOf(object, "spec") ?? {}),
};

/** The texts of the Warning headers (without `299 - `) that a create or a changing update of this object answers with. */
export function warningsFor(object: ApiObject, gvk: Gvk, old: ApiObject | undefined): readonly string[] {
  const kind = `${gvk.group}/${gvk.kind}`;
  const own = [...finalizerWarnings(object, old), ...(kindWarnings[kind]?.(object, old === undefined) ?? [])];
  const path = templatePaths[kind];
  if (path === undefined) return own;
  const template = path.reduce<JsonObject | undefined>((value, field) => objectOf(value, field), object);
  const spec = objectOf(template, "spec");
  return [...own, ...(spec === undefined ? [] : podWarnings(spec, [...path, "spec"].join(".")))];
}

/** Of those that are added alone. */
function finalizerWarnings(object: ApiObject, old: ApiObject | undefined): readonly string[] {
  const known = new Set([...standardFinalizers, ...textsOf(objectOf(old, "metadata"), "finalizers")]);
  return textsOf(objectOf(object, "metadata"), "finalizers")
    .filter((finalizer) => !finalizer.includes("/") && !known.has(finalizer))
    .map(
      (finalizer) =>
        `metadata.finalizers: ${quote(finalizer)}: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
}

const standardFinalizers = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

function serviceWarnings(spec: JsonObject): readonly string[] {
  const isHeadless = textOf(spec, "clusterIP") === "None";
  const external = textsOf(spec, "externalIPs");
  return [
    ...external.flatMap((address, index) => addressWarnings(address, `spec.externalIPs[${index}]`)),
    ...(isHeadless && external.length > 0 ? ["spec.externalIPs is ignored for headless services"] : []),
    ...(isHeadless && textOf(spec, "sessionAffinity") === "ClientIP"
      ? ["spec.SessionAffinity is ignored for headless services"]
      : []),
  ];
}

/** Parts with leading zeros are read as decimal numbers, which other programs do not. */
function addressWarnings(address: string, path: string): readonly string[] {
  const canonical = withoutLeadingZeros(address);
  return canonical === address || isIP(canonical) === 0
    ? []
    : [
        `${path}: non-standard IP address ${quote(address)} will be considered invalid in a future Kubernetes release: use ${quote(canonical)}`,
      ];
}

function claimWarnings(object: ApiObject): readonly string[] {
  const annotation = "volume.beta.kubernetes.io/storage-class";
  const annotations = objectOf(objectOf(object, "metadata"), "annotations");
  return [
    ...(annotations?.[annotation] === undefined
      ? []
      : [`metadata.annotations[${annotation}]: deprecated since v1.8; use "storageClassName" attribute instead`]),
    ...fractionWarnings(objectOf(object, "spec"), "storage", "spec"),
  ];
}

function certificateWarnings(secret: ApiObject): readonly string[] {
  if (textOf(secret, "type") !== "kubernetes.io/tls") return [];
  const certificate = Buffer.from(textOf(objectOf(secret, "data"), "tls.crt"), "base64").toString("latin1");
  return certificate.includes("-----BEGIN ") ? [] : ["tls: failed to find any PEM data in certificate input"];
}

function ingressWarnings(ingress: ApiObject): readonly string[] {
  const annotation = "kubernetes.io/ingress.class";
  return objectOf(objectOf(ingress, "metadata"), "annotations")?.[annotation] === undefined
    ? []
    : [`annotation ${quote(annotation)} is deprecated, please use 'spec.ingressClassName' instead`];
}

function networkPolicyWarnings(spec: JsonObject): readonly string[] {
  const peers = [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const;
  return peers.flatMap(([rules, side]) =>
    objectsOf(spec, rules).flatMap((rule, index) =>
      objectsOf(rule, side).flatMap((peer, peerIndex) =>
        blockWarnings(objectOf(peer, "ipBlock"), `spec.${rules}[${index}].${side}[${peerIndex}].ipBlock`),
      ),
    ),
  );
}

function blockWarnings(block: JsonObject | undefined, path: string): readonly string[] {
  return [
    ...rangeWarnings(textOf(block, "cidr"), `${path}.cidr`),
    ...textsOf(block, "except").flatMap((range, index) => rangeWarnings(range, `${path}.except[${index}]`)),
  ];
}

/** A range whose address has bits set beyond its length may be meant as either. */
function rangeWarnings(range: string, path: string): readonly string[] {
  const [address = "", length = ""] = range.split("/");
  if (isIP(address) !== 4) return [];
  const network = networkOf(address, Number(length));
  return network === address
    ? []
    : [
        `${path}: CIDR value ${quote(range)} is ambiguous in this context (should be ${quote(`${network}/${length}`)} or ${quote(`${address}/32`)}?)`,
      ];
}

function networkOf(address: string, length: number): string {
  const bits = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - length);
  const network = Math.floor(bits / size) * size;
  return [24, 16, 8, 0].map((shift) => Math.floor(network / 2 ** shift) % 256).join(".");
}
