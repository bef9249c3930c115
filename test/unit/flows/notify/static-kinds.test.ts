import { describe, expect, test } from "vitest";
import { finalizer } from "../../../../lib/api/names.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { alertFlow } from "../../../../lib/flows/alert/alert-flow.ts";
import { notificationProviderFlow } from "../../../../lib/flows/notification-provider/notification-provider-flow.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { objectCluster, type Write } from "../source-world.ts";

const group = "notification.toolkit.fluxcd.io";
const deleted = { deletionTimestamp: "2026-11-24T12:00:00Z" };

/** One run of the flow of the kind, on one object with this metadata. */
async function ran(
  kind: "Alert" | "Provider",
  metadata: Partial<Metadata> = {},
  spec: object = {},
  { isOff = false, carried }: { readonly isOff?: boolean; readonly carried?: JsonObject } = {},
) {
  const objects = new Map<string, LiveObject>();
  const id = `${kind}/apps/one`;
  const own = { name: "one", namespace: "apps", uid: "u", generation: 1, resourceVersion: "1", ...metadata };
  objects.set(id, { apiVersion: `${group}/v1beta3`, kind, metadata: own, spec });
  const writes: Write[] = [];
  const events: LiveObject[] = [];
  const lease = checkedLease(() => undefined);
  const home = lease.checked(asHome(objectCluster(objects, writes, events, () => false)));
  const sending = isOff ? {} : { alertsChanged: () => {} };
  const deps = { home, clock: systemClock, log: recordedLog(), ...sending };
  const key = { cluster: "here", group, kind, namespace: "apps", name: "one" };
  const {
    outcome,
    dueInMs,
    carried: next,
  } = await (kind === "Alert" ? alertFlow : notificationProviderFlow)(deps)({
    key,
    fence: { key, token: 1 },
    signal: new AbortController().signal,
    assertLease: lease.assertLease,
    carried,
    isRequested: true,
    superseded: async () => false,
  });
  return {
    outcome,
    dueInMs,
    carried: next,
    finalizers: objects.get(id)?.metadata.finalizers ?? [],
    isThere: objects.has(id),
    writes: writes.map(({ verb, manager }) => `${verb} by ${manager}`),
    events: events.map((event) => [event["type"], event["reason"], event["message"]].join(" ")),
  };
}

const migrated = "Normal Migration removed finalizer from Alert to migrate to static Alert";

describe("an Alert", () => {
  test("without a finalizer is not written to, and runs again only if it changes (recorded: notify-objects/01)", async () => {
    expect(await ran("Alert")).toMatchObject({ outcome: "static", dueInMs: undefined, writes: [], events: [] });
  });

  test("loses the finalizer of an older version, with one event (recorded: notify-objects/04)", async () => {
    const run = await ran("Alert", { finalizers: ["theirs", finalizer] });
    expect(run).toMatchObject({ finalizers: ["theirs"], events: [migrated] });
    expect(run.writes[0]).toBe("patch by notification-controller");
  });

  test("warns once per generation if the installation sends no notifications", async () => {
    const off = { isOff: true };
    const first = await ran("Alert", {}, {}, off);
    expect(first.events).toEqual([expect.stringMatching(/^Warning NotificationsOff .*set notifications to true/)]);
    const carried = first.carried ?? {};
    expect((await ran("Alert", {}, {}, { ...off, carried })).events).toEqual([]);
    expect((await ran("Alert", { generation: 2 }, {}, { ...off, carried })).events).toHaveLength(1);
    expect((await ran("Alert", {}, { suspend: true }, off)).events).toEqual([]);
  });

  test("keeps the finalizer while it is suspended, unless it is deleted (recorded: notify-objects/05, 06)", async () => {
    const suspended = { suspend: true };
    expect(await ran("Alert", { finalizers: [finalizer] }, suspended)).toMatchObject({ writes: [], events: [] });
    const gone = await ran("Alert", { finalizers: [finalizer], ...deleted }, suspended);
    expect(gone).toMatchObject({ outcome: "deleted", isThere: false, events: [migrated] });
  });
});

describe("a Provider", () => {
  test("has Flux's finalizer while it exists, without an event (recorded: notify-objects/01, 03)", async () => {
    const run = await ran("Provider", { finalizers: ["theirs"] });
    expect(run).toMatchObject({ finalizers: ["theirs", finalizer], writes: ["patch by notification-controller"] });
    expect(run.events).toEqual([]);
    expect(await ran("Provider", { finalizers: [finalizer] })).toMatchObject({ writes: [], dueInMs: undefined });
  });

  test("loses the finalizer when it is deleted (recorded: notify-objects/06)", async () => {
    const run = await ran("Provider", { finalizers: [finalizer], ...deleted });
    expect(run).toMatchObject({ outcome: "deleted", isThere: false, events: [] });
    expect(await ran("Provider", { finalizers: ["theirs"], ...deleted })).toMatchObject({ writes: [] });
  });
});
