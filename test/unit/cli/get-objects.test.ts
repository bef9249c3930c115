import { describe, expect, test } from "vitest";
import { getAll } from "../../../cli/get-all.ts";
import { type GetOptions, getObjects } from "../../../cli/get-objects.ts";
import { TimeIsUp } from "../../../cli/session.ts";
import { definedKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredExternalArtifact } from "../../../lib/api/kinds/external-artifact.ts";
import { declaredHelmRelease } from "../../../lib/api/kinds/helm-release.ts";
import { declaredHelmRepository } from "../../../lib/api/kinds/helm-repository.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import { declaredReceiver } from "../../../lib/api/kinds/receiver.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, helmRelease, kustomization, readyStatus } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

function labelled(name: string, team: string, namespace = "flux-system"): LiveObject {
  const object = kustomization(name, {}, readyStatus, namespace);
  return { ...object, metadata: { ...object.metadata, labels: { team } } };
}

test("a HelmRepository of type oci, which is never reconciled, is shown as ready", async () => {
  const registry = {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "HelmRepository",
    metadata: { ...kustomization("charts").metadata },
    spec: { type: "oci", url: "oci://registry.example/charts" },
  };
  const session = fakeSession([registry]);
  await getObjects(declaredHelmRepository, undefined, { header: false }, session);
  expect(session.output.out).toMatch(/^charts\t\s*\tFalse\s*\tTrue\s*\tHelm repository is Ready/);
});

test.each([
  ["ArtifactGenerator", "NAME SUSPENDED READY MESSAGE"],
  ["Alert", "NAME SUSPENDED READY MESSAGE"],
  ["Bucket", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["ExternalArtifact", "NAME REVISION SOURCE READY MESSAGE"],
  ["GitRepository", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["HelmChart", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["HelmRelease", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["HelmRepository", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["ImagePolicy", "NAME IMAGE TAG READY MESSAGE"],
  ["ImageRepository", "NAME LAST SCAN SUSPENDED READY MESSAGE"],
  ["ImageUpdateAutomation", "NAME LAST RUN SUSPENDED READY MESSAGE"],
  ["Kustomization", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["OCIRepository", "NAME REVISION SUSPENDED READY MESSAGE"],
  ["Provider", "NAME READY MESSAGE"],
  ["Receiver", "NAME SUSPENDED READY MESSAGE"],
])("the table of kind %s has the columns of flux 2.9", async (kind, columns) => {
  const declared = definedKinds.find((one) => one.kind === kind);
  if (declared === undefined) throw new Error(`no kind ${kind}`);
  const apiVersion = `${declared.group}/${declared.versions[0]}`;
  const session = fakeSession([{ apiVersion, kind, metadata: kustomization("app").metadata, spec: {} }]);
  await getObjects(declared, undefined, { header: true }, session);
  expect(session.output.out.split("\n")[0]?.replaceAll(/\s+/g, " ").trim()).toBe(columns);
});

test("an ExternalArtifact is shown with the object that made it", async () => {
  const artifact: LiveObject = {
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "ExternalArtifact", metadata: kustomization("app").metadata },
    spec: { sourceRef: { kind: "ArtifactGenerator", name: "split", namespace: "apps" } },
  };
  const session = fakeSession([artifact]);
  await getObjects(declaredExternalArtifact, undefined, { header: false }, session);
  expect(session.output.out).toMatch(/^app\t\s*\tArtifactGenerator\/apps\/split\t/);
});

describe("get helmreleases", () => {
  const shown = async (...objects: readonly LiveObject[]) => {
    const session = fakeSession(objects);
    await getObjects(declaredHelmRelease, undefined, { header: true, showSource: true }, session);
    return session.output.out.split("\n").map((line) =>
      line
        .split("\t")
        .slice(0, 6)
        .map((cell) => cell.trim()),
    );
  };
  const conditions = [condition("Ready", "True", "Helm upgrade succeeded")];

  test("shows the chart version of the latest snapshot in flux's columns, and the source in each of its forms (12)", async () => {
    const template = { chart: { spec: { chart: "web", sourceRef: { kind: "HelmRepository", name: "charts" } } } };
    const ref = { chartRef: { kind: "OCIRepository", name: "web", namespace: "charts" } };
    const history = [{ chartVersion: "1.2.0" }, { chartVersion: "1.1.0" }];
    expect(
      await shown(
        helmRelease("web", template, { conditions, history, lastAttemptedRevision: "1.3.0" }),
        helmRelease("oci", ref, { conditions, lastAttemptedRevision: "2.0.0+6c959c51ccbb" }),
        helmRelease("new", { ...ref, suspend: true }, {}),
      ),
    ).toEqual([
      ["NAME", "SOURCE", "REVISION", "SUSPENDED", "READY", "MESSAGE"],
      ["web", "HelmRepository/flux-system/charts", "1.2.0", "False", "True", "Helm upgrade succeeded"],
      ["oci", "OCIRepository/charts/web", "2.0.0+6c959c51ccbb", "False", "True", "Helm upgrade succeeded"],
      ["new", "OCIRepository/charts/web", "", "True", "False", "waiting to be reconciled"],
      [""],
    ]);
  });
});

describe("get sources all", () => {
  const kinds = [declaredKustomization, declaredReceiver];

  test("prints a table for each kind that has objects, with the kind before each name", async () => {
    const session = fakeSession([kustomization("web"), kustomization("far", {}, readyStatus, "apps")]);
    await getAll(kinds, "sources", { header: true }, session);
    expect(session.output.out.split("\n").map((line) => line.split("\t")[0]?.trim())).toEqual([
      "NAME",
      "kustomization/web",
      "",
    ]);
  });

  test("reports that there are none", async () => {
    await expect(getAll(kinds, "sources", { header: true }, fakeSession([]))).rejects.toThrow(
      'no sources found in "flux-system" namespace',
    );
  });
});

describe("get", () => {
  const get = async (objects: readonly LiveObject[], name?: string, options: Partial<GetOptions> = {}) => {
    const session = fakeSession(objects);
    await getObjects(declaredKustomization, name, { header: true, ...options }, session);
    return session.output.out;
  };

  test("shows revision, suspension, readiness and message, with short hashes (13)", async () => {
    expect(await get([kustomization("web"), kustomization("old", { suspend: true })])).toBe(
      "NAME\tREVISION          \tSUSPENDED\tREADY\tMESSAGE                              \n" +
        "web \tv1@sha256:6c959c51\tFalse    \tTrue \tApplied revision: v1@sha256:6c959c51\t\n" +
        "old \tv1@sha256:6c959c51\tTrue     \tTrue \tApplied revision: v1@sha256:6c959c51\t\n",
    );
  });

  test("shows an object that was not reconciled yet as waiting (5)", async () => {
    expect(await get([kustomization("web", {}, { observedGeneration: -1 })], "web")).toContain(
      "False    \tFalse\twaiting to be reconciled",
    );
  });

  test("shows the namespace first with -A, and the source with --show-source", async () => {
    const objects = [kustomization("web", {}, readyStatus, "apps"), kustomization("db")];
    const lines = (await get(objects, undefined, { allNamespaces: true, showSource: true })).split("\n");
    expect(lines[0]).toMatch(/^NAMESPACE {2}\tNAME\tSOURCE {23}\tREVISION/);
    expect(lines[1]).toMatch(/^apps {7}\tweb \tOCIRepository\/apps\/app {7}\tv1@sha256:6c959c51/);
  });

  test("prints no header with --no-header", async () => {
    expect(await get([kustomization("web")], undefined, { header: false })).toMatch(/^web\t/);
  });

  test("--status-selector ready=false shows objects that are not ready, but none without a condition (4)", async () => {
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
    { name: undefined, options: {}, shown: ["web", "db"] },
    { name: "web", options: {}, shown: ["web"] },
    { name: "web", options: { allNamespaces: true }, shown: ["flux-system web", "apps web"] },
    { name: undefined, options: { labelSelector: "team=a" }, shown: ["web"] },
    {
      name: undefined,
      options: { labelSelector: "team=a", allNamespaces: true },
      shown: ["flux-system web", "apps db"],
    },
    { name: "db", options: { labelSelector: "team=a", allNamespaces: true }, shown: ["apps db"] },
    { name: "db", options: { labelSelector: "team=b", statusSelector: "ready=true" }, shown: ["db"] },
  ])("name, namespace and selectors limit the rows together: $name $options", async ({ name, options, shown }) => {
    const objects = [
      labelled("web", "a"),
      labelled("db", "b"),
      labelled("web", "b", "apps"),
      labelled("db", "a", "apps"),
    ];
    const columns = "allNamespaces" in options ? 2 : 1;
    const rows = (await get(objects, name, { ...options, header: false })).trimEnd().split("\n");
    const cells = rows.map((row) =>
      row
        .split("\t")
        .slice(0, columns)
        .map((cell) => cell.trim()),
    );
    expect(cells.map((row) => row.join(" "))).toEqual(shown);
  });

  test.each([
    ["web", {}, `Kustomization object 'web' not found in "flux-system" namespace`],
    ["web", { allNamespaces: true }, "Kustomization object 'web' not found in any namespace"],
    [undefined, {}, 'no Kustomization objects found in "flux-system" namespace'],
    [undefined, { allNamespaces: true }, "no Kustomization objects found in any namespace"],
  ])("fails if there is no such object, and says so (30): %s %o", async (name, options, message) => {
    await expect(get([], name, options)).rejects.toThrow(message);
  });

  test("names other namespaces that have such objects, unless the user gave a namespace", async () => {
    const inApps = kustomization("api", {}, readyStatus, "apps");
    const elsewhere = ["b", "a", "f", "e", "d", "c"].map((namespace) =>
      kustomization("web", {}, readyStatus, namespace),
    );
    const refusal = (name?: string, session = fakeSession([...elsewhere, inApps])) =>
      getObjects(declaredKustomization, name, { header: true }, session).catch(messageOf);
    const notHere = (name: string) => `Kustomization object '${name}' not found in "flux-system" namespace`;
    const noneHere = 'no Kustomization objects found in "flux-system" namespace';
    expect(await refusal("api")).toBe(`${notHere("api")}: it is in apps, choose it with -n apps`);
    expect(await refusal()).toBe(
      `${noneHere}: there are Kustomization objects in a, apps, b, c, d and 2 more, choose one with -n`,
    );
    expect(await refusal(undefined, fakeSession([inApps]))).toBe(
      `${noneHere}: there are Kustomization objects in apps, choose them with -n apps`,
    );
    expect(await refusal("none")).toBe(notHere("none"));
    expect(await refusal(undefined, { ...fakeSession(elsewhere), isNamespaceGiven: true })).toBe(noneHere);
  });

  test("cuts messages to the width of the screen, unless -o wide is set", async () => {
    const failing = kustomization(
      "bad",
      {},
      { conditions: [condition("Ready", "False", "so long a reason ".repeat(9))] },
    );
    const lastLine = async (output?: "wide") => {
      const session = fakeSession([failing]);
      const screen = { ...session.terminal, columns: () => 80 };
      await getObjects(
        declaredKustomization,
        undefined,
        { header: true, ...(output && { output }) },
        { ...session, terminal: screen },
      );
      return session.output.out.split("\n")[1];
    };
    expect(await lastLine()).toMatch(/so long a r?.*…\t$/);
    expect(await lastLine("wide")).toMatch(/so long a reason\t$/);
  });

  test("--watch shows a row for each event and ends when its time is up", async () => {
    const stop = new AbortController();
    const failing = kustomization("failing", {}, { conditions: [condition("Ready", "False", "no")] });
    const session = fakeSession([failing, kustomization("web")], undefined, stop.signal);
    const options = { header: true, watch: true, statusSelector: "ready=true" };
    const watching = getObjects(declaredKustomization, undefined, options, session);
    await expect.poll(() => session.output.out).toMatch(/^NAME.*\nweb \t/);
    stop.abort(new TimeIsUp());
    await expect(watching).rejects.toThrow("timed out waiting for the condition");
  });
});

describe("get receivers", () => {
  const webhookPath = `/hook/${"0123456789abcdef".repeat(4)}`;
  const receiver: LiveObject = {
    apiVersion: "notification.toolkit.fluxcd.io/v1",
    kind: "Receiver",
    metadata: { name: "app", namespace: "flux-system", uid: "u-app" },
    spec: {},
    status: {
      webhookPath,
      conditions: [condition("Ready", "True", `Receiver initialized for path: ${webhookPath}`)],
    },
  };
  const get = async (data: Readonly<Record<string, string>>) => {
    const metadata = { name: "sluice-owner", namespace: "kube-system", uid: "u-owner" };
    const session = fakeSession([receiver, { apiVersion: "v1", kind: "ConfigMap", metadata, data }]);
    const cluster = { ...session.cluster, uid: async () => "cluster-1" };
    await getObjects(declaredReceiver, undefined, { header: false }, { ...session, cluster });
    return session.output.out;
  };
  const owner = { installation: "a", version: "1", since: "2026-11-22T12:00:00Z", cluster: "cluster-1" };

  test("prints the full address of a webhook if the owner of the cluster has published it", async () => {
    for (const webhookUrl of ["https://hooks.example", "https://hooks.example/"]) {
      expect(await get({ ...owner, webhookUrl })).toContain(
        `Receiver initialized for path: https://hooks.example${webhookPath}\t`,
      );
    }
  });

  test.each([
    { name: "has not published it", data: owner },
    { name: "has published an invalid URL", data: { ...owner, webhookUrl: "javascript:alert(1)" } },
    { name: "was that of another cluster", data: { ...owner, webhookUrl: "https://a.example", cluster: "cluster-0" } },
  ])("prints the path if the owner $name", async ({ data }) => {
    expect(await get(data)).toContain(`Receiver initialized for path: ${webhookPath}\t`);
  });
});
