import { describe, expect, test } from "vitest";
import { type LiveObject, type Manifest } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { type HomeCluster } from "../../../lib/core/ports/home-and-target.ts";
import type { Run } from "../../../lib/core/ports/run.ts";
import { type EventToRecord, recordEvent, reportEvent } from "../../../lib/flows/record-event.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { noHome } from "../../doubles/no-cluster.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { toldRelations } from "../../doubles/told-relations.ts";

const event = { type: "Normal", reason: "Progressing", message: "m", annotations: {} } as const;

function terminating(namespace: string): ApiError {
  return new ApiError({
    code: 403,
    reason: "Forbidden",
    message: `events "e" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    causes: [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated` }],
  });
}

test("control characters are removed from the message and annotations of an event", async () => {
  const written: Manifest[] = [];
  const cluster: HomeCluster = {
    ...noHome,
    create: async (manifest) => {
      written.push(manifest);
      return { ...manifest, metadata: { ...manifest.metadata, uid: "event" } };
    },
  };
  const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "n", name: "a" };
  const copied = { "event.toolkit.fluxcd.io/team": "a\u0007" };
  const metadata = { name: "a", namespace: "n", uid: "a", annotations: copied };
  const run: Run = {
    ...{ key, carried: undefined, fence: { key, token: 1 }, isRequested: true },
    signal: new AbortController().signal,
    assertLease: () => {},
    superseded: async () => false,
  };
  const hostile = { ...event, message: "commit '\u009b31m'\n- b", annotations: { revision: "main\u001b@sha1:0" } };
  const object: LiveObject = { apiVersion: "v1", kind: "Kustomization", metadata };
  await recordEvent(cluster, object, hostile, "kustomize-controller", run, systemClock);
  expect(written).toMatchObject([
    {
      message: `commit '${String.raw`\u009b31m`}'\n- b`,
      metadata: {
        annotations: {
          "event.toolkit.fluxcd.io/team": String.raw`a\u0007`,
          revision: String.raw`main\u001b@sha1:0`,
        },
      },
    },
  ]);
});

test("Alerts get an event with its relations to other objects, unless Flux gives it the type Trace", async () => {
  const { events, reasons, relations } = toldRelations();
  const written: Manifest[] = [];
  const cluster: HomeCluster = {
    ...noHome,
    create: async (manifest) => {
      written.push(manifest);
      return { ...manifest, metadata: { ...manifest.metadata, uid: "event" } };
    },
  };
  const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "n", name: "a" };
  const run: Run = {
    ...{ key, carried: undefined, fence: { key, token: 1 }, isRequested: true, events },
    signal: new AbortController().signal,
    assertLease: () => {},
    superseded: async () => false,
  };
  const object: LiveObject = {
    apiVersion: "v1",
    kind: "Kustomization",
    metadata: { name: "a", namespace: "n", uid: "a" },
  };
  const record = (more: Partial<EventToRecord>) =>
    recordEvent(cluster, object, { ...event, ...more }, "kustomize-controller", run, systemClock);
  const relation = {
    kind: "waits",
    cause: { kind: "Kustomization", namespace: "n", name: "b" },
    why: "BuildFailed",
  } as const;
  await record({ reason: "DependencyNotReady", relation });
  await record({ reason: "ArtifactUpToDate", isTrace: true });
  await record({});
  expect(relations).toEqual(["a DependencyNotReady waits Kustomization/n/b BuildFailed"]);
  expect(reasons).toEqual(["DependencyNotReady", "Progressing"]);
  expect(written.map((one) => one["reason"])).toEqual(["DependencyNotReady", "ArtifactUpToDate", "Progressing"]);
  expect(JSON.stringify(written)).not.toContain("BuildFailed");
});

/** Users of Kustomizations that are told, where the API server answers each event with this. */
function told() {
  const log = recordedLog();
  let refusal: ((namespace: string) => ApiError) | undefined;
  const cluster: HomeCluster = {
    ...noHome,
    create: async ({ apiVersion, kind, metadata }) => {
      const { namespace = "" } = metadata;
      if (refusal !== undefined) throw refusal(namespace);
      return { apiVersion, kind, metadata: { ...metadata, uid: "event" } };
    },
  };
  const tell = async (namespace: string, name: string): Promise<void> => {
    const key = { cluster: "c", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", namespace, name };
    const object: LiveObject = { apiVersion: "v1", kind: "Kustomization", metadata: { name, namespace, uid: name } };
    const run: Run = {
      key,
      carried: undefined,
      signal: new AbortController().signal,
      fence: { key, token: 1 },
      assertLease: () => {},
      isRequested: true,
      superseded: async () => false,
    };
    await reportEvent(cluster, object, event, "kustomize-controller", run, { clock: systemClock, log });
  };
  return {
    tell,
    refuse: (by: typeof refusal) => {
      refusal = by;
    },
    lines: () => log.lines.map(({ message, namespace }) => `${String(message)}: ${String(namespace)}`),
  };
}

describe("events that the API server refuses", () => {
  test("are logged once for a terminating namespace, and again if it terminates another time", async () => {
    const { tell, refuse, lines } = told();
    refuse(terminating);
    for (let n = 0; n < 300; n++) await tell("ends", `app-${n}`);
    await tell("other", "app");
    const once = ["ends", "other"].map(
      (namespace) => `events not recorded in a namespace that terminates: ${namespace}`,
    );
    expect(lines()).toEqual(once);
    refuse(undefined);
    await tell("ends", "app");
    refuse(terminating);
    await tell("ends", "app");
    await tell("other", "app");
    expect(lines()).toEqual([...once, once[0]]);
  });

  test("are logged one by one if the user can fix the cause", async () => {
    const { tell, refuse, lines } = told();
    refuse(() => new ApiError({ code: 403, reason: "Forbidden", message: "no" }));
    await tell("apps", "a");
    await tell("apps", "b");
    expect(lines()).toEqual(["event not recorded: apps", "event not recorded: apps"]);
  });
});

/** The event that is created about a Kustomization of this name with these annotations. */
async function createdFor(name: string, annotations: Readonly<Record<string, string>>, own: object) {
  let created: LiveObject["metadata"] | undefined;
  const cluster: HomeCluster = {
    ...noHome,
    create: async ({ apiVersion, kind, metadata }) => {
      created = { ...metadata, uid: "event" };
      return { apiVersion, kind, metadata: created };
    },
  };
  const key = { cluster: "c", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", namespace: "n", name };
  const object = { apiVersion: "v1", kind: "Kustomization", metadata: { name, namespace: "n", uid: "u", annotations } };
  const run: Run = {
    ...{ key, carried: undefined, signal: new AbortController().signal, fence: { key, token: 1 } },
    ...{ assertLease: () => {}, isRequested: true, superseded: async () => false },
  };
  await recordEvent(cluster, object, { ...event, annotations: { ...own } }, "kustomize-controller", run, systemClock);
  return created;
}

test("an event has the metadata that the object sets for events, but a key of the run takes precedence", async () => {
  const prefix = "event.toolkit.fluxcd.io/";
  const annotations = {
    [`${prefix}team`]: "a",
    [`${prefix}revision`]: "old",
    "event.toolkit.fluxcd.io.x/a": "b",
    a: "b",
  };
  const created = await createdFor("app", annotations, { [`${prefix}revision`]: "main@sha1:1" });
  expect(created?.annotations).toEqual({ [`${prefix}team`]: "a", [`${prefix}revision`]: "main@sha1:1" });
});

test.each([
  ["app", "app"],
  ["a".repeat(253), "a".repeat(200)],
  [`${"a".repeat(198)}.-b`, "a".repeat(198)],
])("the name of an event about %s is valid", async (name, begin) => {
  expect((await createdFor(name, {}, {}))?.name).toMatch(new RegExp(`^${begin}\\.[0-9a-f]{16}$`));
});

describe("Alerts", () => {
  const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "n", name: "a" };
  const object = { apiVersion: "v1", kind: "Kustomization", metadata: { name: "a", namespace: "n", uid: "u" } };

  /** What happens, in its order, when an event is reported while the API server answers so. */
  async function happens(
    answer: () => void,
    assertLease = () => {},
    reported: EventToRecord = event,
  ): Promise<readonly string[]> {
    const order: string[] = [];
    const cluster: HomeCluster = {
      ...noHome,
      create: async ({ apiVersion, kind, metadata }, { beforeSend }) => {
        beforeSend?.();
        order.push("written");
        answer();
        return { apiVersion, kind, metadata: { ...metadata, uid: "event" } };
      },
    };
    const run: Run = {
      ...{ key, carried: undefined, signal: new AbortController().signal, fence: { key, token: 1 } },
      ...{ assertLease, isRequested: true, superseded: async () => false },
      events: { tell: async (where, { reason, message }) => void order.push(`told ${where} ${reason} ${message}`) },
    };
    const parts = { clock: systemClock, log: recordedLog() };
    await reportEvent(cluster, object, reported, "kustomize-controller", run, parts).catch((error: unknown) =>
      order.push(String(error)),
    );
    return order;
  }

  test("get an event before it is written to the API server, so they also get one that the API server refuses", async () => {
    expect(await happens(() => undefined)).toEqual(["told c Progressing m", "written"]);
    const refuse = (): never => {
      throw terminating("n");
    };
    expect(await happens(refuse)).toEqual(["told c Progressing m", "written"]);
  });

  test("do not get an event that is only for users of the object", async () => {
    const trace = { ...event, isTrace: true };
    expect(await happens(() => undefined, undefined, trace)).toEqual(["written"]);
  });

  test("do not get an event of a run that has lost its lease", async () => {
    const lost = (): never => {
      throw new Error("the lease is lost");
    };
    expect(await happens(() => undefined, lost)).toEqual(["Error: the lease is lost"]);
  });
});
