import { describe, expect, test } from "vitest";
import { reconcileObject } from "../../../cli/reconcile-object.ts";
import { TimeIsUp } from "../../../cli/session.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredHelmRelease } from "../../../lib/api/kinds/helm-release.ts";
import { declaredHelmRepository } from "../../../lib/api/kinds/helm-repository.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import { declaredOciRepository } from "../../../lib/api/kinds/oci-repository.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, handled, helmRelease, kustomization, readyStatus, revision, source } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

describe("reconcile helmrelease", () => {
  const ready = { conditions: [condition("Ready", "True", "Helm upgrade succeeded")] };
  const ofChart = (repository: object) => ({ chart: { spec: { chart: "web", sourceRef: repository } } });
  const object = (kind: string, name: string, namespace: string, spec = {}): LiveObject => ({
    ...source,
    kind,
    metadata: { ...source.metadata, name, namespace, uid: `u-${kind}-${namespace}-${name}` },
    spec,
  });
  const annotated = ({ output }: { readonly output: { readonly err: string } }) =>
    output.err.split("\n").filter((line) => line.startsWith("►"));

  test.each([
    [{}, []],
    [{ force: true }, ["forceAt"]],
    [{ reset: true }, ["resetAt"]],
    [{ force: true, reset: true }, ["forceAt", "resetAt"]],
  ])("with %j the request annotations have the value of the request", async (how, names) => {
    const seen = new Map<string, string>();
    const session = fakeSession(
      [helmRelease("web", {}, { ...ready, history: [{ chartVersion: "1.2.0" }] })],
      (asked) => {
        for (const [key, value] of Object.entries(asked.metadata.annotations ?? {})) seen.set(key, value);
        return handled(asked);
      },
    );
    await reconcileObject(declaredHelmRelease, "web", how, session);
    const at = seen.get("reconcile.fluxcd.io/requestedAt") ?? "";
    expect(at).toMatch(/^\d{4}-/);
    expect(Object.fromEntries(seen)).toEqual(
      Object.fromEntries(["requestedAt", ...names].map((name) => [`reconcile.fluxcd.io/${name}`, at])),
    );
    expect(session.output.err).toContain("✔ applied revision 1.2.0\n");
  });

  test("--with-source reconciles the chart's source, then the chart, both in the source's namespace, then the release (8)", async () => {
    const repository = { kind: "HelmRepository", name: "charts", namespace: "charts" };
    const session = fakeSession(
      [
        object("HelmRepository", "charts", "charts"),
        object("HelmChart", "flux-system-web", "charts", { sourceRef: { kind: "HelmRepository", name: "charts" } }),
        helmRelease("web", ofChart(repository), ready),
      ],
      handled,
    );
    await reconcileObject(declaredHelmRelease, "web", { withSource: declaredKinds }, session);
    expect(annotated(session)).toEqual([
      "► annotating HelmRepository charts in charts namespace",
      "► annotating HelmChart flux-system-web in charts namespace",
      "► annotating HelmRelease web in flux-system namespace",
    ]);
  });

  test("--with-source reconciles the OCIRepository of chartRef, and skips a HelmRepository of type oci", async () => {
    const ofRef = helmRelease("ref", { chartRef: { kind: "OCIRepository", name: "app" } }, ready);
    const ofOci = helmRelease("web", ofChart({ kind: "HelmRepository", name: "oci" }), ready);
    const chart = object("HelmChart", "flux-system-web", "flux-system", {
      sourceRef: { kind: "HelmRepository", name: "oci" },
    });
    const session = fakeSession(
      [source, ofRef, ofOci, chart, object("HelmRepository", "oci", "flux-system", { type: "oci" })],
      handled,
    );
    for (const name of ["ref", "web"]) {
      await reconcileObject(declaredHelmRelease, name, { withSource: declaredKinds }, session);
    }
    expect(session.patched).toEqual([
      "OCIRepository/app",
      "HelmRelease/ref",
      "HelmChart/flux-system-web",
      "HelmRelease/web",
    ]);
  });

  test("waits while the chart is not ready, and ends with the reason when the release has failed", async () => {
    const stop = new AbortController();
    const message = "HelmChart 'flux-system/flux-system-web' is not ready: does not have an artifact";
    const waiting = fakeSession(
      [helmRelease("web")],
      (asked) => handled(asked, [condition("Ready", "False", message, "SourceNotReady")]),
      stop.signal,
    );
    const reconciling = reconcileObject(declaredHelmRelease, "web", {}, waiting);
    await expect.poll(() => waiting.output.err).toContain("waiting for HelmRelease");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
    const failing = fakeSession([helmRelease("web")], (asked) =>
      handled(asked, [condition("Ready", "False", "Helm upgrade failed: no", "UpgradeFailed")]),
    );
    await expect(reconcileObject(declaredHelmRelease, "web", {}, failing)).rejects.toThrow(
      "HelmRelease reconciliation failed: 'Helm upgrade failed: no'",
    );
  });
});

describe("reconcile", () => {
  test("triggers a reconciliation, waits for it to finish and prints the revision (6)", async () => {
    const session = fakeSession([source], handled);
    await reconcileObject(declaredOciRepository, "app", {}, session);
    expect(session.output).toEqual({
      out: "",
      err: `► annotating OCIRepository app in flux-system namespace
✔ OCIRepository annotated
◎ waiting for OCIRepository reconciliation
✔ fetched revision ${revision}
`,
    });
  });

  test("refuses a HelmRepository of type oci, which is never reconciled, with flux's text", async () => {
    const registry = { ...source, kind: "HelmRepository", spec: { type: "oci" }, status: {} };
    const session = fakeSession([registry], handled);
    await reconcileObject(declaredHelmRepository, "app", {}, session);
    expect([session.output.err, session.patched]).toEqual(["✔ reconciliation not supported by the object\n", []]);
  });

  test("--with-source reconciles the source first (8)", async () => {
    const session = fakeSession([source, kustomization("web")], handled);
    await reconcileObject(declaredKustomization, "web", { withSource: [declaredOciRepository] }, session);
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

  test("--with-source reconciles the source in the namespace of sourceRef, and not another of the same name", async () => {
    const inApps = { ...source, metadata: { ...source.metadata, namespace: "apps", uid: "u-apps" } };
    const sourceRef = { kind: "OCIRepository", name: "app", namespace: "apps" };
    const session = fakeSession([source, inApps, kustomization("web", { sourceRef })], handled);
    await reconcileObject(declaredKustomization, "web", { withSource: [declaredOciRepository] }, session);
    expect(session.output.err.split("\n").filter((line) => line.startsWith("►"))).toEqual([
      "► annotating OCIRepository app in apps namespace",
      "► annotating Kustomization web in flux-system namespace",
    ]);
  });

  test.each([
    ["a Kustomization", declaredKustomization, kustomization("web"), "web", []],
    [
      "a source",
      declaredOciRepository,
      source,
      "app",
      [condition("Reconciling", "True", "pulling", "ProgressingWithRetry")],
    ],
  ])("ends as soon as the requested run of %s has failed, with the reason", async (_, kind, object, name, running) => {
    const failed = (seen: LiveObject) =>
      handled(seen, [...running, condition("Ready", "False", 'secrets "keys" not found\n', "BuildFailed")]);
    const session = fakeSession([object], failed);
    await expect(reconcileObject(kind, name, {}, session)).rejects.toThrow(
      `${kind.kind} reconciliation failed: 'secrets "keys" not found'`,
    );
  });

  test.each([
    ["waits for a dependency", condition("Ready", "False", "dependency 'a/b' is not ready", "DependencyNotReady"), {}],
    ["begins again for a newer revision", condition("Ready", "False", "canceled", "HealthCheckCanceled"), {}],
    ["has failed at an older generation", { ...condition("Ready", "False", "old"), observedGeneration: 0 }, {}],
    [
      "is under way",
      condition("Ready", "False", "former"),
      condition("Reconciling", "True", "building", "Progressing"),
    ],
  ])("keeps waiting while the object %s", async (_, ready, doing) => {
    const stop = new AbortController();
    const session = fakeSession([kustomization("web")], (seen) => handled(seen, [doing, ready]), stop.signal);
    const reconciling = reconcileObject(declaredKustomization, "web", {}, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
  });

  test("keeps waiting while only an earlier request has been handled, which failed", async () => {
    const stop = new AbortController();
    const earlier = (seen: LiveObject): LiveObject => {
      const ended = handled(seen, [condition("Ready", "False", "of the earlier run", "BuildFailed")]);
      return { ...ended, status: { ...ended["status"], lastHandledReconcileAt: "an earlier one" } };
    };
    const session = fakeSession([kustomization("web")], earlier, stop.signal);
    const reconciling = reconcileObject(declaredKustomization, "web", {}, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
  });

  test("waits while the object is not ready, and prints its last status when the time is up (7)", async () => {
    const stop = new AbortController();
    const notReady = (object: LiveObject) =>
      handled(object, [condition("Ready", "False", "no artifact\n", "DependencyNotReady")]);
    const session = fakeSession([kustomization("web")], notReady, stop.signal);
    const reconciling = reconcileObject(declaredKustomization, "web", {}, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
    const last = session.output.err.split("\n").slice(-2);
    expect(last).toEqual(["⚠️ Kustomization web last said Ready=False DependencyNotReady: no artifact", ""]);
  });

  test("prints nothing about the object when Ctrl-C stops it", async () => {
    const stop = new AbortController();
    const notReady = (object: LiveObject) =>
      handled(object, [condition("Ready", "False", "no artifact", "DependencyNotReady")]);
    const session = fakeSession([kustomization("web")], notReady, stop.signal);
    const reconciling = reconcileObject(declaredKustomization, "web", {}, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new Error("stopped by SIGINT"));
    await expect(reconciling).rejects.toThrow("SIGINT");
    expect(session.output.err).not.toContain("last said");
  });

  test("ends at once with the message of a stalled object (7)", async () => {
    const stalled = (object: LiveObject) =>
      handled(object, [
        condition("Stalled", "True", "spec.decryption is not supported yet"),
        condition("Ready", "False", "x"),
      ]);
    const session = fakeSession([kustomization("web")], stalled);
    await expect(reconcileObject(declaredKustomization, "web", {}, session)).rejects.toThrow(
      "spec.decryption is not supported yet",
    );
  });

  test("ends at once for an object whose current generation is stalled, even if observedGeneration is older", async () => {
    const stalled = (object: LiveObject): LiveObject => {
      const ended = handled(object, [{ ...condition("Stalled", "True", "refused"), observedGeneration: 1 }]);
      return { ...ended, status: { ...ended["status"], observedGeneration: -1 } };
    };
    const session = fakeSession([kustomization("web")], stalled);
    await expect(reconcileObject(declaredKustomization, "web", {}, session)).rejects.toThrow("refused");
  });

  test("ignores a reconciliation that was handled before its own request (10)", async () => {
    const conditions = [
      condition("Reconciling", "True", "Namespace/web is being deleted\n"),
      condition("Ready", "Unknown", "Reconciliation in progress"),
    ];
    const status = { ...readyStatus, conditions, lastHandledReconcileAt: "before" };
    const stop = new AbortController();
    const session = fakeSession([kustomization("web", {}, status)], undefined, stop.signal);
    const reconciling = reconcileObject(declaredKustomization, "web", {}, session);
    await expect.poll(() => session.output.err).toContain("waiting for Kustomization");
    stop.abort(new TimeIsUp());
    await expect(reconciling).rejects.toThrow("context deadline exceeded");
    expect(session.output.err).toContain(
      "Reconciliation in progress; Namespace/web is being deleted (the request has not been handled yet; if this does not change, check that Sluice runs for this cluster",
    );
  });

  test.each([
    ["that is suspended", kustomization("web", { suspend: true }), "resource is suspended"],
    ["that is missing", kustomization("other"), `Kustomization object 'web' not found in "flux-system" namespace`],
    [
      "whose source is of another kind",
      kustomization("web", { sourceRef: { kind: "Bucket", name: "b" } }),
      "sources of kind Bucket are not supported yet",
    ],
  ])("fails and changes nothing for an object %s", async (_, object, message) => {
    const session = fakeSession([object], handled);
    await expect(
      reconcileObject(declaredKustomization, "web", { withSource: [declaredOciRepository] }, session),
    ).rejects.toThrow(message);
    expect(session.patched).toEqual([]);
  });
});
