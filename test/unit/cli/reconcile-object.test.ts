import { describe, expect, test } from "vitest";
import { kustomizations, ociRepositories } from "../../../cli/reconcilable.ts";
import { reconcileObject } from "../../../cli/reconcile-object.ts";
import { TimeIsUp } from "../../../cli/settings.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, handled, kustomization, readyStatus, revision, source } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

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
