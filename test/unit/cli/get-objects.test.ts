import { describe, expect, test } from "vitest";
import { type GetOptions, getObjects } from "../../../cli/get-objects.ts";
import { kustomizations } from "../../../cli/reconcilable.ts";
import { TimeIsUp } from "../../../cli/settings.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, kustomization, readyStatus } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

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
