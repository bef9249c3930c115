import { quote } from "../core/go-value.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";

type Warnings = readonly string[];

/** Labels of nodes that have another name by now, with what the server says of each. */
const deprecatedNodeLabels: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};

const deprecatedVolumes: Readonly<Record<string, string>> = {
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
};

/** What the server warns of in the spec of a Pod or of a template, in its order (`k8s.io/kubernetes/pkg/api/pod`). */
export function podWarnings(spec: JsonObject, path: string): Warnings {
  return [
    ...nodeSelectorWarnings(spec, path),
    ...affinityWarnings(spec, path),
    ...spreadWarnings(spec, path),
    ...repeated(objectsOf(spec, "hostAliases"), "ip", `${path}.hostAliases`, "ip"),
    ...objectsOf(spec, "volumes").flatMap((volume, index) => volumeWarnings(volume, `${path}.volumes[${index}]`)),
    ...pullSecretWarnings(spec, path),
    ...["initContainers", "containers"].flatMap((field) =>
      objectsOf(spec, field).flatMap((container, index) => containerWarnings(container, `${path}.${field}[${index}]`)),
    ),
    ...["initContainers", "containers"].flatMap((field) => portWarnings(objectsOf(spec, field), `${path}.${field}`)),
    ...((numberOf(spec, "terminationGracePeriodSeconds") ?? 0) < 0
      ? [`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
  ];
}

function nodeSelectorWarnings(spec: JsonObject, path: string): Warnings {
  return Object.keys(objectOf(spec, "nodeSelector") ?? {})
    .toSorted()
    .flatMap((label) => {
      const problem = deprecatedNodeLabels[label];
      return problem === undefined ? [] : [`${path}.nodeSelector[${label}]: ${problem}`];
    });
}

function affinityWarnings(spec: JsonObject, path: string): Warnings {
  const affinity = objectOf(objectOf(spec, "affinity"), "nodeAffinity");
  const [required, preferred] = [
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
  ];
  const at = `${path}.affinity.nodeAffinity`;
  const terms = objectsOf(objectOf(affinity, required), "nodeSelectorTerms");
  return [
    ...terms.flatMap((term, index) => termWarnings(term, `${at}.${required}.nodeSelectorTerms[${index}]`)),
    ...objectsOf(affinity, preferred).flatMap((item, index) =>
      termWarnings(objectOf(item, "preference"), `${at}.${preferred}[${index}].preference`),
    ),
  ];
}

function termWarnings(term: JsonObject | undefined, path: string): Warnings {
  return objectsOf(term, "matchExpressions").flatMap((expression, index) =>
    labelKeyWarnings(textOf(expression, "key"), `${path}.matchExpressions[${index}].key`),
  );
}

function labelKeyWarnings(label: string, path: string): Warnings {
  const problem = deprecatedNodeLabels[label];
  return problem === undefined ? [] : [`${path}: ${label} is ${problem}`];
}

function spreadWarnings(spec: JsonObject, path: string): Warnings {
  return objectsOf(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    return [
      ...labelKeyWarnings(textOf(constraint, "topologyKey"), `${at}.topologyKey`),
      ...(objectOf(constraint, "labelSelector") === undefined
        ? [`${at}.labelSelector: a null labelSelector results in matching no pod`]
        : []),
    ];
  });
}

/** Items whose key another one before them has. */
function repeated(items: readonly JsonObject[], field: string, path: string, word: string): Warnings {
  return items.flatMap((item, index) => {
    const value = textOf(item, field);
    const isRepeated = items.slice(0, index).some((other) => textOf(other, field) === value);
    return isRepeated ? [`${path}[${index}].${field}: duplicate ${word} ${quote(value)}`] : [];
  });
}

function volumeWarnings(volume: JsonObject, path: string): Warnings {
  const template = objectOf(objectOf(volume, "ephemeral"), "volumeClaimTemplate");
  const claim = objectOf(template, "spec");
  return [
    ...Object.entries(deprecatedVolumes).flatMap(([type, problem]) =>
      volume[type] === undefined ? [] : [`${path}.${type}: ${problem}`],
    ),
    ...fractionWarnings(claim, "storage", `${path}.ephemeral.volumeClaimTemplate.spec`),
  ];
}

function pullSecretWarnings(spec: JsonObject, path: string): Warnings {
  const secrets = objectsOf(spec, "imagePullSecrets");
  const at = `${path}.imagePullSecrets`;
  const unnamed = secrets.flatMap((secret, index) =>
    textOf(secret, "name") === "" ? [`${at}[${index}].name: invalid empty name ""`] : [],
  );
  return unnamed.length > 0 ? unnamed : repeated(secrets, "name", at, "name");
}

function containerWarnings(container: JsonObject, path: string): Warnings {
  return [
    ...envWarnings(container, path),
    ...["memory", "ephemeral-storage"].flatMap((name) => fractionWarnings(container, name, path)),
  ];
}

/** Items that server-side apply would merge into one. */
function envWarnings(container: JsonObject, path: string): Warnings {
  const env = objectsOf(container, "env");
  return env.flatMap((item, index) => {
    const isHiding = env.slice(0, index).some((other) => textOf(other, "name") === textOf(item, "name"));
    return isHiding
      ? [
          `${path}.env[${index}]: hides previous definition of ${quote(textOf(item, "name"))}, which may be dropped when using apply`,
        ]
      : [];
  });
}

/** Bytes have no fractions. `holder` has `resources.limits` and `resources.requests`. */
export function fractionWarnings(holder: JsonObject | undefined, name: string, path: string): Warnings {
  const resources = objectOf(holder, "resources");
  return ["limits", "requests"].flatMap((field) => {
    const amount = textOf(objectOf(resources, field), name);
    return amount.endsWith("m")
      ? [`${path}.resources.${field}[${name}]: fractional byte value ${quote(amount)} is invalid, must be an integer`]
      : [];
  });
}

function portWarnings(containers: readonly JsonObject[], path: string): Warnings {
  const seen: { readonly key: string; readonly path: string }[] = [];
  return containers.flatMap((container, index) =>
    objectsOf(container, "ports").flatMap((port, portIndex) => {
      const at = `${path}[${index}].ports[${portIndex}]`;
      const key = JSON.stringify([port["containerPort"], port["protocol"], port["hostIP"], port["hostPort"]]);
      const former = seen.find((other) => other.key === key);
      seen.push({ key, path: at });
      return former === undefined ? [] : [`${at}: duplicate port definition with ${former.path}`];
    }),
  );
}
