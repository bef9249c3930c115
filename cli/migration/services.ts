import type { JsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { serviceOf } from "../../lib/in-cluster/in-cluster-http.ts";
import { textAt, valueAt } from "../objects/read-object.ts";
import { inventoryIds, type MigrationFacts, type Need, namespaceOf, needOf, ofKind } from "./facts.ts";

/**
 * Where objects name Services of the cluster, which Sluice reaches only in namespaces that a setting lists.
 *
 * @param metricsServer of Canaries that name none; empty for the default, a Service beside each Canary
 */
export function serviceNamespaces(
  { controllers, objects }: Pick<MigrationFacts, "controllers" | "objects">,
  metricsServer: string,
): {
  readonly needs: readonly Need[];
  readonly settings: JsonObject;
} {
  const known = new Set([...controllers, ...objects.map(({ metadata }) => metadata)].map(({ namespace }) => namespace));
  for (const id of objects.flatMap(inventoryIds)) known.add(namespaceIn(id));
  const providers = ofKind(objects, "Provider").flatMap((object) =>
    [serviceOf(textAt(object, "spec", "address")) ?? []].flat().map(({ namespace }) => ({ object, namespace })),
  );
  const canaries = ofCanaries(objects, metricsServer).filter(({ isFull, namespace }) => isFull || known.has(namespace));
  return {
    needs: [
      ...serviceNeed(providers, "notification-service-namespaces", "docs/notifications.md"),
      ...serviceNeed(canaries, "canary-service-namespaces", "docs/canary-servers.md"),
    ],
    settings: {
      ...settingOf("notification-service-namespaces", providers),
      ...settingOf("canary-service-namespaces", canaries),
    },
  };
}

/** The namespace of an entry of an inventory, or the one that it is. */
function namespaceIn(id: string): string {
  const [namespace = "", name = "", , kind] = id.split("_");
  return namespace === "" && kind === "Namespace" ? name : namespace;
}

interface Reached {
  readonly object: LiveObject;
  readonly namespace: string;
}

/** A Service, or what may be one. */
interface Named extends Reached {
  /** Whether its host ends with `.svc`. */
  readonly isFull: boolean;
}

function ofCanaries(objects: readonly LiveObject[], metricsServer: string): readonly Named[] {
  return [
    ...ofKind(objects, "AlertProvider").flatMap((one) => servicesIn(one, [textAt(one, "spec", "address")])),
    ...ofKind(objects, "MetricTemplate").flatMap((one) =>
      servicesIn(one, [textAt(one, "spec", "provider", "address")]),
    ),
    ...ofKind(objects, "Canary").flatMap((one) => servicesIn(one, addressesOf(one, metricsServer))),
  ];
}

function servicesIn(object: LiveObject, addresses: readonly string[]): readonly Named[] {
  return addresses.flatMap((address): readonly Named[] => {
    const full = serviceOf(address);
    if (full !== undefined) return [{ object, namespace: full.namespace, isFull: true }];
    const [host, namespace = namespaceOf(object)] = short.exec(address)?.slice(1) ?? [];
    return host === undefined ? [] : [{ object, namespace, isFull: false }];
  });
}

/** `http://name.namespace:port` and `http://name`. So is `http://example.com`, where no namespace is named com. */
const short = /^http:\/\/([a-z0-9-]+)(?:\.([a-z0-9-]+))?(?::\d+)?(?:\/|$)/;

function addressesOf(canary: LiveObject, metricsServer: string): readonly string[] {
  const webhooks = valueAt(canary, "spec", "analysis", "webhooks");
  const urls = Array.isArray(webhooks)
    ? webhooks.map((hook: unknown) =>
        typeof hook === "object" && hook !== null && "url" in hook ? hook.url : undefined,
      )
    : [];
  return [textAt(canary, "spec", "metricsServer") || metricsServer, ...urls.filter((url) => typeof url === "string")];
}

function serviceNeed(reached: readonly Reached[], setting: string, page: string): readonly Need[] {
  const objects = [...new Set(reached.map(({ object }) => object))];
  return needOf(
    "services",
    objects,
    `list the namespace of the Service in the setting ${setting}, and give Sluice the right to reach it (${page})`,
  );
}

function settingOf(setting: string, reached: readonly Reached[]): JsonObject {
  const namespaces = [...new Set(reached.map(({ namespace }) => namespace))].toSorted();
  return namespaces.length === 0 ? {} : { [setting]: namespaces };
}
