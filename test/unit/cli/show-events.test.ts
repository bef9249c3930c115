import { describe, expect, test } from "vitest";
import { kindCalled } from "../../../cli/event-kinds.ts";
import { showEvents } from "../../../cli/show-events.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { helmRelease, kustomization, readyStatus } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

describe("sluice events", () => {
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
  const shown = async (options: Parameters<typeof showEvents>[1]) => {
    const session = fakeSession(objects);
    await showEvents(declaredKinds, options, session);
    return session.output.out
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split("\t").map((cell) => cell.trim()));
  };

  test("shows the events of Flux's kinds, oldest first", async () => {
    expect((await shown({})).map((cells) => cells[3])).toEqual([
      "OCIRepository/app",
      "Kustomization/web",
      "Kustomization/db",
    ]);
  });

  test("shows events of the same second in the order in which the cluster stored them", async () => {
    const stored = ["10", "9", "11"].map((resourceVersion) => {
      const { metadata, ...one } = event(
        "Kustomization",
        `app-${resourceVersion}`,
        "Progressing",
        "2026-11-21T12:00:00Z",
      );
      return { ...one, metadata: { ...metadata, resourceVersion } };
    });
    const session = fakeSession(stored);
    await showEvents(declaredKinds, {}, session);
    expect(session.output.out.match(/app-\d+/g)).toEqual(["app-9", "app-10", "app-11"]);
  });

  test("--for one object shows its own events and those of its source (14)", async () => {
    expect((await shown({ for: "kustomization/web" })).map((cells) => cells[3])).toEqual([
      "OCIRepository/app",
      "Kustomization/web",
    ]);
  });

  test("--for an object with a source in another namespace shows the namespaces, and not a source of that name in its own", async () => {
    const elsewhere = event("OCIRepository", "app", "Elsewhere", "2026-11-21T12:00:00Z");
    const session = fakeSession([
      ...objects.filter(({ kind }) => kind === "Event"),
      { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: "sources" } },
      kustomization("web", { sourceRef: { kind: "OCIRepository", name: "app", namespace: "sources" } }),
    ]);
    await showEvents(declaredKinds, { for: "Kustomization/web" }, session);
    const rows = session.output.out.split("\n").map((line) => line.split("\t").map((cell) => cell.trim()));
    expect(rows[0]?.[0]).toBe("NAMESPACE");
    expect(rows.slice(1, -1).map((cells) => `${cells[0]} ${cells[3]}`)).toEqual([
      "sources Elsewhere",
      "flux-system BuildFailed",
    ]);
  });

  test("--for a HelmRelease shows its own events and those of its HelmChart and its HelmRepository (14)", async () => {
    const about = (kind: string, name: string, namespace: string): LiveObject => ({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${kind}.${name}`, namespace, uid: `e-${kind}-${name}` },
      involvedObject: { kind, name },
      type: "Normal",
      reason: "R",
      message: "m",
    });
    const repository = { kind: "HelmRepository", name: "charts", namespace: "charts" };
    const release = helmRelease("web", { chart: { spec: { chart: "web", sourceRef: repository } } });
    const session = fakeSession([
      release,
      about("HelmRelease", "web", "flux-system"),
      about("HelmRelease", "db", "flux-system"),
      about("HelmChart", "flux-system-web", "charts"),
      about("HelmRepository", "charts", "charts"),
    ]);
    await showEvents(declaredKinds, { for: "helmrelease/web" }, session);
    expect(session.output.out.split("\n").map((line) => line.split("\t")[4]?.trim())).toEqual([
      "OBJECT",
      "HelmRelease/web",
      "HelmChart/flux-system-web",
      "HelmRepository/charts",
      undefined,
    ]);
  });

  test("--for a deleted object shows its last events, and a line says that it is deleted", async () => {
    const session = fakeSession(objects);
    await showEvents(declaredKinds, { for: "Kustomization/db" }, session);
    expect(session.output.out).toContain("Kustomization/db");
    expect(session.output.out).not.toContain("OCIRepository/app");
    expect(session.output.err).toBe(
      "⚠️ Kustomization object 'db' not found in \"flux-system\" namespace: these are its last events\n",
    );
  });

  test.each([{}, { watch: true }, { types: ["Warning"] }])(
    "--for an object that never existed fails with %o",
    async (options) => {
      await expect(
        showEvents(declaredKinds, { for: "Kustomization/none", ...options }, fakeSession(objects)),
      ).rejects.toThrow(`Kustomization object 'none' not found in "flux-system" namespace`);
    },
  );

  test.each(["ks/web", "KS/web", "kustomizations/web", "kustomization.kustomize.toolkit.fluxcd.io/web"])(
    "--for %s are those of Kustomization/web",
    async (selector) => {
      expect(await shown({ for: selector })).toEqual(await shown({ for: "Kustomization/web" }));
    },
  );

  test("--for knows every kind by the short names that kubectl and flux have for it", () => {
    const called = Object.fromEntries(
      "hr gitrepo git ocirepo oci helmrepo helm hc chart bucket ag ea imgrepo imgpol iua receiver alert alert-provider canary"
        .split(" ")
        .map((name) => [name, kindCalled(name, declaredKinds).kind]),
    );
    expect(called).toEqual({
      ...{ hr: "HelmRelease", gitrepo: "GitRepository", git: "GitRepository", ocirepo: "OCIRepository" },
      ...{ oci: "OCIRepository", helmrepo: "HelmRepository", helm: "HelmRepository", hc: "HelmChart" },
      ...{ chart: "HelmChart", bucket: "Bucket", ag: "ArtifactGenerator", ea: "ExternalArtifact" },
      ...{ imgrepo: "ImageRepository", imgpol: "ImagePolicy", iua: "ImageUpdateAutomation", receiver: "Receiver" },
      ...{ alert: "Alert", "alert-provider": "Provider", canary: "Canary" },
    });
  });

  test("--types shows only events of these types", async () => {
    expect((await shown({ types: ["warning"] })).map((cells) => cells[2])).toEqual(["BuildFailed"]);
  });

  test("succeeds with empty output if there are none", async () => {
    const session = fakeSession([]);
    await showEvents(declaredKinds, {}, session);
    await showEvents(declaredKinds, { allNamespaces: true }, session);
    expect(session.output).toEqual({
      out: "",
      err: "✗ No events found in flux-system namespace.\n✗ No events found.\n",
    });
  });

  test("names the namespaces with Kustomizations if the default namespace has no events", async () => {
    const session = fakeSession([kustomization("web", {}, readyStatus, "apps")]);
    await showEvents(declaredKinds, {}, session);
    expect(session.output.err).toBe(
      "✗ No events found in flux-system namespace: there are Kustomization objects in apps, choose them with -n apps\n",
    );
  });

  test.each([
    [
      { for: "Pod/a" },
      /^'Pod' is not a recognized Flux kind: give one of .*Kustomization \(ks\), HelmRelease \(hr\), /,
    ],
    [{ for: "kustomization.example.com/a" }, "'kustomization.example.com' is not a recognized Flux kind"],
    [{ for: "/a" }, "--for selector must be of format <kind>[/<name>]"],
    [{ types: ["Error"] }, "type 'Error' not supported. Supported types are Normal, Warning"],
  ])("with %o is refused", async (options, message) => {
    await expect(showEvents(declaredKinds, options, fakeSession([]))).rejects.toThrow(message);
  });
});
