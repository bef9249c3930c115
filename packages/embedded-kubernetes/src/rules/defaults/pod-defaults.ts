import type { JsonObject } from "../../core/json.ts";
import { itemsOf, mapItems, mapObject, numberOf, objectOf, textOf, withDefaults } from "../../core/json-fields.ts";

const readWriteDefaultMode = 420;

/**
 * What `SetDefaults_PodSpec` and its like fill in, of a Pod and of every Pod template. `isPod` adds what only a Pod
 * itself gets.
 */
export function podSpecDefaults(spec: JsonObject, isPod: boolean): JsonObject {
  const withLists = [
    ["volumes", volumeDefaults],
    ["initContainers", (container: JsonObject) => containerDefaults(container, isPod)],
    ["containers", (container: JsonObject) => containerDefaults(container, isPod)],
    ["ephemeralContainers", (container: JsonObject) => containerDefaults(container, false)],
  ] as const;
  const defaulted = withLists.reduce((result, [field, change]) => mapItems(result, field, change), spec);
  const ports = isPod && defaulted["hostNetwork"] === true ? hostPorts(defaulted) : defaulted;
  return withDefaults(serviceAccountAlias(ports), {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    ...(isPod ? { enableServiceLinks: true } : {}),
  });
}

/** `serviceAccount` is the old name of `serviceAccountName`: both are written. */
function serviceAccountAlias(spec: JsonObject): JsonObject {
  const name = textOf(spec, "serviceAccountName") || textOf(spec, "serviceAccount");
  return name === "" ? spec : { ...spec, serviceAccountName: name, serviceAccount: name };
}

function containerDefaults(container: JsonObject, isPod: boolean): JsonObject {
  const withProbes = ["livenessProbe", "readinessProbe", "startupProbe"].reduce(
    (result, field) => mapObject(result, field, probeDefaults),
    container,
  );
  const withHooks = mapObject(withProbes, "lifecycle", (lifecycle) =>
    ["postStart", "preStop"].reduce((result, field) => mapObject(result, field, httpGetDefaults), lifecycle),
  );
  const withPorts = mapItems(withHooks, "ports", (port) => withDefaults(port, { protocol: "TCP" }));
  const withEnv = mapItems(withPorts, "env", (env) => mapObject(env, "valueFrom", fieldRefDefaults));
  const withRequests = isPod ? mapObject(withEnv, "resources", requestDefaults) : withEnv;
  return withDefaults(withRequests, {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicy(textOf(container, "image")),
  });
}

/** A Pod's limits stand in for requests it does not name. */
function requestDefaults(resources: JsonObject): JsonObject {
  const limits = objectOf(resources, "limits");
  if (limits === undefined) return resources;
  return { ...resources, requests: { ...limits, ...objectOf(resources, "requests") } };
}

/** `Always` for the tag `latest`, said or implied; a digest pins the image whatever the tag. */
function pullPolicy(image: string): string {
  const [reference = "", digest] = image.split("@");
  const tag = /:([^/:]+)$/.exec(reference)?.[1];
  return digest === undefined && (tag === undefined || tag === "latest") ? "Always" : "IfNotPresent";
}

function probeDefaults(probe: JsonObject): JsonObject {
  const withHandler = mapObject(httpGetDefaults(probe), "grpc", (grpc) => withDefaults(grpc, { service: "" }));
  return withPositive(withHandler, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
}

/** Plain integers of Go: zero counts as not set. */
function withPositive(object: JsonObject, defaults: Readonly<Record<string, number>>): JsonObject {
  const missing = Object.entries(defaults).filter(([field]) => (numberOf(object, field) ?? 0) === 0);
  return { ...object, ...Object.fromEntries(missing) };
}

function httpGetDefaults(handler: JsonObject): JsonObject {
  return mapObject(handler, "httpGet", (httpGet) => withDefaults(httpGet, { path: "/", scheme: "HTTP" }));
}

function fieldRefDefaults(source: JsonObject): JsonObject {
  const withField = mapObject(source, "fieldRef", (ref) => withDefaults(ref, { apiVersion: "v1" }));
  return mapObject(withField, "resourceFieldRef", (ref) => withDefaults(ref, { divisor: "0" }));
}

function hostPorts(spec: JsonObject): JsonObject {
  return ["containers", "initContainers"].reduce(
    (result, field) =>
      mapItems(result, field, (container) =>
        mapItems(container, "ports", (port) => withDefaults(port, { hostPort: port["containerPort"] ?? 0 })),
      ),
    spec,
  );
}

const volumeSources = [
  ["configMap", { defaultMode: readWriteDefaultMode }],
  ["secret", { defaultMode: readWriteDefaultMode }],
  ["downwardAPI", { defaultMode: readWriteDefaultMode }],
  ["projected", { defaultMode: readWriteDefaultMode }],
  ["hostPath", { type: "" }],
] as const;

function volumeDefaults(volume: JsonObject): JsonObject {
  const sources = Object.keys(volume).filter((field) => field !== "name" && volume[field] !== null);
  if (sources.length === 0) return { ...volume, emptyDir: {} };
  const withModes = volumeSources.reduce<JsonObject>(
    (result, [field, defaults]) => mapObject(result, field, (source) => withDefaults(source, defaults)),
    volume,
  );
  const withItems = mapObject(withModes, "downwardAPI", (source) => mapItems(source, "items", fieldRefDefaults));
  const withClaim = mapObject(withItems, "ephemeral", (source) =>
    mapObject(source, "volumeClaimTemplate", (template) =>
      mapObject(template, "spec", (spec) => withDefaults(spec, { volumeMode: "Filesystem" })),
    ),
  );
  return mapObject(withClaim, "projected", projectedDefaults);
}

function projectedDefaults(projected: JsonObject): JsonObject {
  if (itemsOf(projected, "sources").length === 0) return projected;
  return mapItems(projected, "sources", (source) =>
    mapObject(
      mapObject(source, "serviceAccountToken", (token) => withDefaults(token, { expirationSeconds: 3600 })),
      "downwardAPI",
      (api) => mapItems(api, "items", fieldRefDefaults),
    ),
  );
}
