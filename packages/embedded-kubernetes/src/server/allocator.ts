import { randomInt } from "node:crypto";
import { isJsonObject } from "../core/json.ts";
import type { Allocator } from "../rules/allocate.ts";
import type { Store } from "../store/store.ts";
import type { StoredObject } from "../store/stored-object.ts";

const services = "/services";
const range = "10.0.";
const nodePorts = { first: 30_000, count: 2768 };

/**
 * Addresses and node ports for Services, those in use read from the store as it changes. Nothing is reserved: a
 * value is taken once its Service is stored, so a dry run or a refused object takes none.
 */
export function allocatorOf(store: Store): Allocator {
  const addresses = new Map<string, number>();
  const ports = new Map<number, number>();
  const count = (stored: StoredObject | undefined, by: 1 | -1): void => {
    if (stored === undefined) return;
    const { addresses: own, ports: ownPorts } = allottedOf(stored);
    for (const address of own) add(addresses, address, by);
    for (const port of ownPorts) add(ports, port, by);
  };
  for (const stored of store.list({ resource: services })) count(stored, 1);
  store.subscribe((event) => {
    if (event.resource !== services) return;
    count(event.previous, -1);
    if (event.type !== "DELETED") count(event.current, 1);
  });
  return {
    clusterIp(wanted) {
      if (wanted !== undefined) return isInRange(wanted) && !addresses.has(wanted) ? wanted : undefined;
      // The first 256 are for those who choose their own.
      return firstFree(
        () => `${range}${randomInt(1, 255)}.${randomInt(1, 255)}`,
        (address) => !addresses.has(address),
      );
    },
    nodePort(wanted) {
      if (wanted !== undefined) return ports.has(wanted) ? undefined : wanted;
      if (ports.size >= nodePorts.count) return undefined;
      return firstFree(
        () => nodePorts.first + randomInt(nodePorts.count),
        (port) => !ports.has(port),
      );
    },
  };
}

function firstFree<T>(pick: () => T, isFree: (value: T) => boolean): T | undefined {
  for (let attempt = 0; attempt < 100_000; attempt += 1) {
    const value = pick();
    if (isFree(value)) return value;
  }
  return undefined;
}

function isInRange(address: string): boolean {
  return /^10\.0\.\d{1,3}\.\d{1,3}$/.test(address) && address !== "10.0.0.0";
}

function allottedOf({ body }: StoredObject): { addresses: readonly string[]; ports: readonly number[] } {
  const object: unknown = JSON.parse(body);
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  if (!isJsonObject(spec)) return { addresses: [], ports: [] };
  const { clusterIPs, ports, healthCheckNodePort } = spec;
  const list = Array.isArray(ports) ? ports : [];
  return {
    addresses: Array.isArray(clusterIPs) ? clusterIPs.filter((one) => typeof one === "string" && one !== "None") : [],
    ports: [...list.map((port) => (isJsonObject(port) ? port["nodePort"] : undefined)), healthCheckNodePort].filter(
      (port) => typeof port === "number",
    ),
  };
}

function add<T>(counts: Map<T, number>, value: T, by: 1 | -1): void {
  const next = (counts.get(value) ?? 0) + by;
  if (next <= 0) counts.delete(value);
  else counts.set(value, next);
}
