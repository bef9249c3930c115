import { describe, expect, test } from "vitest";
import { type GetOptions, getObjects } from "../../../cli/get-objects.ts";
import { kustomizations, ociRepositories } from "../../../cli/reconcilable.ts";
import { reconcileObject } from "../../../cli/reconcile-object.ts";
import { resumeObjects } from "../../../cli/resume-objects.ts";
import { TimeIsUp } from "../../../cli/settings.ts";
import { showEvents } from "../../../cli/show-events.ts";
import { suspendObjects } from "../../../cli/suspend-objects.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { fakeSession } from "./fake-session.ts";

const digest = "6c959c51ccbb952e5fe4737563338a0aaf975675dcf812912cf09e5463181871";
const revision = `v1@sha256:${digest}`;

function condition(type: string, status: string, message: string) {
  return { type, status, message, reason: "R", lastTransitionTime: "2026-11-21T12:00:00Z" };
}

function kustomization(
  name: string,
  spec = {},
  status: object | undefined = readyStatus,
  namespace = "flux-system",
): LiveObject {
  return {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace, uid: `u-${name}`, generation: 1 },
    spec: { sourceRef: { kind: "OCIRepository", name: "app" }, ...spec },
    status,
  };
}

const readyStatus = {
  observedGeneration: 1,
  lastAppliedRevision: revision,
  conditions: [condition("Ready", "True", `Applied revision: ${revision}`)],
};

const source: LiveObject = {
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "OCIRepository",
  metadata: { name: "app", namespace: "flux-system", uid: "u-app", generation: 1 },
  spec: {},
  status: {
    observedGeneration: 1,
    artifact: { revision },
    conditions: [condition("Ready", "True", `stored artifact for digest '${revision}'`)],
  },
};

/** What Sluice would make of an object that was patched, with these conditions. */
function handled(object: LiveObject, conditions?: readonly object[]): LiveObject & { readonly status: object } {
  const status: unknown = object["status"];
  const before = typeof status === "object" ? status : {};
  return {
    ...object,
    status: {
      ...before,
      observedGeneration: object.metadata.generation,
      lastHandledReconcileAt: object.metadata.annotations?.["reconcile.fluxcd.io/requestedAt"],
      ...(conditions === undefined ? {} : { conditions }),
    },
  };
}

describe("get", () => {
  const get = async (objects: readonly LiveObject[], name?: string, options: Partial<GetOptions> = {}) => {
    const session = fakeSession(objects);
    await getObjects(kustomizations, name, { header: true, ...options }, session);
    return session.output.out;
  };

  test("shows revision, suspension, readiness and message, hashes shortened (13)", async () => {
    expect(await get([kustomization("web"), kustomization("old", { suspend: true })])).toBe(
      "NAME\tREVISION          \tSUSPENDED\tREADY\tMESSAGE                              \n" +
        "web \tv1@sha256:6c959c51\tFalse    \tTrue \tApplied revision: v1@sha256:6c959c51\t\n" +
        "old \tv1@sha256:6c959c51\tTrue     \tTrue \tApplied revision: v1@sha256:6c959c51\t\n",
    );
  });

  test("shows an object that nobody has looked at yet as waiting (5)", async () => {
    expect(await get([kustomization("web", {}, { observedGeneration: -1 })], "web")).toContain(
      "False    \tFalse\twaiting to be reconciled",
    );
  });

  test("shows the namespace first with -A, and the source where it is asked for", async () => {
    const objects = [kustomization("web", {}, readyStatus, "apps"), kustomization("db")];
    const lines = (await get(objects, undefined, { allNamespaces: true, showSource: true })).split("\n");
    expect(lines[0]).toMatch(/^NAMESPACE {2}\tNAME\tSOURCE {11}\tREVISION/);
    expect(lines[1]).toMatch(/^apps {7}\tweb \tOCIRepository\/app\tv1@sha256:6c959c51/);
  });

  test("leaves out the header where it is told to", async () => {
    expect(await get([kustomization("web")], undefined, { header: false })).toMatch(/^web\t/);
  });

  test("--status-selector ready=false shows exactly what is not ready, other than unknown (4)", async () => {
    const failing = kustomization("bad", {}, { conditions: [condition("Ready", "False", "no")] });
    const fresh = kustomization("new", {}, {});
    const objects = [kustomization("web"), failing, fresh];
    const names = async (statusSelector: string) =>
      (await get(objects, undefined, { statusSelector, header: false }))
        .split("\n")
        .map((line) => line.split("\t")[0]?.trim());
    expect(await names("ready=false")).toEqual(["bad", ""]);
    expect(await names("Ready!=True")).toEqual(["bad", "new", ""]);
  });

  test.each([
    ["web", {}, `Kustomization object 'web' not found in "flux-system" namespace`],
    ["web", { allNamespaces: true }, "Kustomization object 'web' not found in any namespace"],
    [undefined, {}, 'no Kustomization objects found in "flux-system" namespace'],
    [undefined, { allNamespaces: true }, "no Kustomization objects found in any namespace"],
  ])("of nothing fails and says so (30): %s %o", async (name, options, message) => {
    await expect(get([], name, options)).rejects.toThrow(message);
  });

  test("of nothing in the default namespace says where there is some, in one that was named it does not", async () => {
    const elsewhere = ["b", "a", "f", "e", "d", "c"].map((namespace) =>
      kustomization("web", {}, readyStatus, namespace),
    );
    const said = async (name?: string) => {
      const session = fakeSession([...elsewhere, kustomization("api", {}, readyStatus, "apps")]);
      await expect(getObjects(kustomizations, name, { header: true }, session)).rejects.toThrow("found in");
      return session.output.err;
    };
    expect(await said("api")).toBe("⚠️ Kustomization 'api' can be found in apps: name the namespace with -n\n");
    expect(await said()).toBe(
      "⚠️ Kustomization objects can be found in a, apps, b, c, d and 2 more: name the namespace with -n\n",
    );
    expect(await said("none")).toBe("");
    const named = { ...fakeSession(elsewhere), isNamespaceGiven: true };
    await expect(getObjects(kustomizations, undefined, { header: true }, named)).rejects.toThrow("found in");
    expect(named.output.err).toBe("");
  });

  test("--watch shows a row for each event and ends when its time is up", async () => {
    const stop = new AbortController();
    const session = fakeSession([kustomization("web")], undefined, stop.signal);
    const watching = getObjects(kustomizations, undefined, { header: true, watch: true }, session);
    await expect.poll(() => session.output.out).toMatch(/^NAME.*\nweb \t/);
    stop.abort(new TimeIsUp());
    await expect(watching).rejects.toThrow("timed out waiting for the condition");
  });
});

describe("reconcile", () => {
  test("asks for a run, waits for its end and tells the revision (6)", async () => {
    const session = fakeSession([source], handled);
    await reconcileObject(ociRepositories, "app", false, session);
    expect(session.output).toEqual({
      out: "",
      err: `► annotating OCIRepository app in flux-system namespace
✔ OCIRepository annotated
◎ waiting for OCIRepository reconciliation
✔ fetched revision ${revision}
`,
    });
  });

  test("--with-source asks the source first (8)", async () => {
    const session = fakeSession([source, kustomization("web")], handled);
    await reconcileObject(kustomizations, "web", true, session);
    expect(session.patched).toEqual(["OCIRepository/app", "Kustomization/web"]);
    expect(session.output.err.split("\n")).toEqual([
      "► annotating OCIRepository app in flux-system namespace",
      "✔ OCIRepository annotated",
      "◎ waiting for OCIRepository reconciliation",
      `✔ fetched revision ${revision}`,
      "► annotating Kustomization web in flux-system namespace",
      "✔ Kustomization annotated",
      "◎ waiting for Kustomization reconciliation",
      `✔ applied revision ${revision}`,
      "",
    ]);
  });

  test("waits on while the object is not ready, until its time is up, then tells what it said last (7)", async () => {
    const stop = new AbortController();
    const notReady = (object: LiveObject) => handled(object, [condition("Ready", "False", "no artifact\n")]);
    const session = fakeSession([kustomization("web")], notReady, stop.signal);
    const reconciling = reconcileObject(kustomizations, "web", false, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
    const last = session.output.err.split("\n").slice(-2);
    expect(last).toEqual(["⚠️ Kustomization web last said Ready=False R: no artifact", ""]);
  });

  test("that is stopped by Ctrl-C tells nothing of the object", async () => {
    const stop = new AbortController();
    const notReady = (object: LiveObject) => handled(object, [condition("Ready", "False", "no artifact")]);
    const session = fakeSession([kustomization("web")], notReady, stop.signal);
    const reconciling = reconcileObject(kustomizations, "web", false, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new Error("stopped by SIGINT"));
    await expect(reconciling).rejects.toThrow("SIGINT");
    expect(session.output.err).not.toContain("last said");
  });

  test("of an object that is stalled ends at once with its message (7)", async () => {
    const stalled = (object: LiveObject) =>
      handled(object, [
        condition("Stalled", "True", "spec.decryption is not supported yet"),
        condition("Ready", "False", "x"),
      ]);
    const session = fakeSession([kustomization("web")], stalled);
    await expect(reconcileObject(kustomizations, "web", false, session)).rejects.toThrow(
      "spec.decryption is not supported yet",
    );
  });

  test("of an object that is stalled as it is now ends at once, though its status lags behind", async () => {
    const stalled = (object: LiveObject): LiveObject => {
      const ended = handled(object, [{ ...condition("Stalled", "True", "refused"), observedGeneration: 1 }]);
      return { ...ended, status: { ...ended["status"], observedGeneration: -1 } };
    };
    const session = fakeSession([kustomization("web")], stalled);
    await expect(reconcileObject(kustomizations, "web", false, session)).rejects.toThrow("refused");
  });

  test("takes no notice of what was handled before it asked (10)", async () => {
    const conditions = [
      condition("Reconciling", "True", "Namespace/web is being deleted\n"),
      condition("Ready", "Unknown", "Reconciliation in progress"),
    ];
    const status = { ...readyStatus, conditions, lastHandledReconcileAt: "before" };
    const stop = new AbortController();
    const session = fakeSession([kustomization("web", {}, status)], undefined, stop.signal);
    const reconciling = reconcileObject(kustomizations, "web", false, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
    expect(session.output.err).toContain(
      "Reconciliation in progress; Namespace/web is being deleted (the request has not been handled yet: if that lasts, see that Sluice runs for this cluster",
    );
  });

  test.each([
    ["that is suspended", kustomization("web", { suspend: true }), "resource is suspended"],
    ["that is not there", kustomization("other"), `Kustomization object 'web' not found in "flux-system" namespace`],
    [
      "whose source is of another kind",
      kustomization("web", { sourceRef: { kind: "Bucket", name: "b" } }),
      "sources of kind Bucket are not supported yet",
    ],
  ])("of an object %s fails and asks for nothing", async (_, object, message) => {
    const session = fakeSession([object], handled);
    await expect(reconcileObject(kustomizations, "web", true, session)).rejects.toThrow(message);
    expect(session.patched).toEqual([]);
  });
});

describe("suspend and resume (11)", () => {
  test("suspend tells each object, and one that is absent without failing", async () => {
    const session = fakeSession([kustomization("web")]);
    await suspendObjects(kustomizations, ["web", "none"], false, session);
    expect(session.output.err).toBe(`► suspending kustomization web in flux-system namespace
✔ kustomization suspended
✗ Kustomization none not found in flux-system namespace
`);
  });

  test("suspend --all takes all of the namespace, in the words for the kind", async () => {
    const session = fakeSession([source]);
    await suspendObjects(ociRepositories, [], true, session);
    expect(session.output.err).toContain(
      "► suspending source oci app in flux-system namespace\n✔ source oci suspended\n",
    );
  });

  test.each([false, true])(
    "without a name, with all objects absent or none asked for (--all %s), says so",
    async (all) => {
      const session = fakeSession([]);
      const outcome = await suspendObjects(kustomizations, [], all, session).then(() => session.output.err, String);
      expect(outcome).toBe(
        all ? "✗ no Kustomization objects found in flux-system namespace\n" : "Error: Kustomization name is required",
      );
    },
  );

  test("resume of one object waits until its status speaks of it", async () => {
    const session = fakeSession([kustomization("web", { suspend: true })], handled);
    await resumeObjects(kustomizations, ["web"], { all: false, wait: false }, session);
    expect(session.output.err).toBe(`► resuming kustomization web in flux-system namespace
✔ kustomization resumed
◎ waiting for Kustomization reconciliation
✔ Kustomization web reconciliation completed
✔ applied revision ${revision}
`);
  });

  test("resume of several objects does not wait unless it is told to", async () => {
    const objects = [kustomization("a"), kustomization("b")];
    const session = fakeSession(objects);
    await resumeObjects(kustomizations, ["a", "b"], { all: false, wait: false }, session);
    expect(session.output.err).not.toContain("waiting");
    const waiting = fakeSession(objects, handled);
    await resumeObjects(kustomizations, ["a", "none", "b"], { all: false, wait: true }, waiting);
    expect(waiting.output.err).toContain("✗ Kustomization object 'none' not found in flux-system namespace\n");
    expect(waiting.output.err.match(/reconciliation completed/g)).toHaveLength(2);
  });

  test("resume of an object that does not become ready fails and counts it", async () => {
    const stalled = (object: LiveObject) => handled(object, [condition("Stalled", "True", "bad spec")]);
    const session = fakeSession([kustomization("web")], stalled);
    const resuming = resumeObjects(kustomizations, ["web"], { all: false, wait: false }, session);
    await expect(resuming).rejects.toThrow("reconciliation failed for 1 Kustomization(s)");
    expect(session.output.err).toContain("✗ Kustomization web reconciliation failed: bad spec\n");
  });
});

describe("events", () => {
  const event = (kind: string, name: string, reason: string, lastTimestamp: string): LiveObject => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${reason}`, namespace: "flux-system", uid: `${name}${reason}` },
    involvedObject: { kind, name },
    type: reason === "BuildFailed" ? "Warning" : "Normal",
    reason,
    message: "m",
    firstTimestamp: lastTimestamp,
    lastTimestamp,
  });
  const objects = [
    event("Kustomization", "web", "BuildFailed", "2026-11-21T12:00:02Z"),
    event("OCIRepository", "app", "NewArtifact", "2026-11-21T12:00:01Z"),
    event("Pod", "web-1", "Killing", "2026-11-21T12:00:03Z"),
    event("Kustomization", "db", "Progressing", "2026-11-21T12:00:04Z"),
    kustomization("web"),
  ];
  const shown = async (options: Parameters<typeof showEvents>[0]) => {
    const session = fakeSession(objects);
    await showEvents(options, session);
    return session.output.out
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split("\t").map((cell) => cell.trim()));
  };

  test("are those of Flux's kinds, oldest first", async () => {
    expect((await shown({})).map((cells) => cells[3])).toEqual([
      "OCIRepository/app",
      "Kustomization/web",
      "Kustomization/db",
    ]);
  });

  test("--for one object are its own and those of its source (14)", async () => {
    expect((await shown({ for: "kustomization/web" })).map((cells) => cells[3])).toEqual([
      "OCIRepository/app",
      "Kustomization/web",
    ]);
  });

  test("--types shows only these", async () => {
    expect((await shown({ types: ["warning"] })).map((cells) => cells[2])).toEqual(["BuildFailed"]);
  });

  test("of nothing say so and do not fail", async () => {
    const session = fakeSession([]);
    await showEvents({}, session);
    await showEvents({ allNamespaces: true }, session);
    expect(session.output).toEqual({
      out: "",
      err: "✗ No events found in flux-system namespace.\n✗ No events found.\n",
    });
  });

  test("of nothing in the default namespace say where there are Kustomizations", async () => {
    const session = fakeSession([kustomization("web", {}, readyStatus, "apps")]);
    await showEvents({}, session);
    expect(session.output.err).toBe(
      "⚠️ Kustomization objects can be found in apps: name the namespace with -n\n✗ No events found in flux-system namespace.\n",
    );
  });

  test.each([
    [{ for: "Pod/a" }, "'Pod' is not a recognized Flux kind"],
    [{ for: "/a" }, "--for selector must be of format <kind>[/<name>]"],
    [{ types: ["Error"] }, "type 'Error' not supported. Supported types are Normal, Warning"],
  ])("asked for by %o are refused", async (options, message) => {
    await expect(showEvents(options, fakeSession([]))).rejects.toThrow(message);
  });
});
