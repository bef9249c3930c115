import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { getAll } from "../../../cli/get-all.ts";
import { type GetOptions, getObjects } from "../../../cli/get-objects.ts";
import { declaredHelmRelease } from "../../../lib/api/kinds/helm-release.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { condition, helmRelease, kustomization } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const web = kustomization("web");
const broken = kustomization("broken", {}, { conditions: [condition("Ready", "False", "no such path")] });
const list = (...items: readonly LiveObject[]) => ({
  apiVersion: "v1",
  kind: "List",
  metadata: { resourceVersion: "" },
  items,
});

async function get(
  objects: readonly LiveObject[],
  output: "json" | "yaml" | "name",
  name?: string,
  options: Partial<GetOptions> = {},
): Promise<string> {
  const session = fakeSession(objects);
  await getObjects(declaredKustomization, name, { header: true, output, ...options }, session);
  return session.output.out;
}

describe("get -o", () => {
  test.each([
    ["json", JSON.parse],
    ["yaml", load],
  ] as const)(
    "%s prints the objects as one List, a single object by its name as itself, and an empty List for none",
    async (format, parse) => {
      expect(parse(await get([web, broken], format))).toEqual(list(web, broken));
      expect(parse(await get([web, broken], format, "broken"))).toEqual(broken);
      expect(parse(await get([], format))).toEqual(list());
      await expect(get([web], format, "gone")).rejects.toThrow("Kustomization object 'gone' not found");
    },
  );

  test("name prints one name per line, which kubectl accepts", async () => {
    expect(await get([web, broken], "name")).toBe(
      "kustomization.kustomize.toolkit.fluxcd.io/web\nkustomization.kustomize.toolkit.fluxcd.io/broken\n",
    );
  });

  test("json has no managedFields, as from kubectl", async () => {
    const managedFields = [{ manager: "flux", operation: "Apply", apiVersion: web.apiVersion }] as const;
    const managed = { ...web, metadata: { ...web.metadata, managedFields } };
    expect(JSON.parse(await get([managed], "json", "web"))).toEqual(web);
  });

  test("json with a name and -A is a List, because each namespace may have one", async () => {
    expect(JSON.parse(await get([web], "json", "web", { allNamespaces: true }))).toEqual(list(web));
  });

  test("json prints only objects that --status-selector selects", async () => {
    expect(JSON.parse(await get([web, broken], "json", undefined, { statusSelector: "ready=false" }))).toEqual(
      list(broken),
    );
  });

  test.each([
    ["json", JSON.parse, String.raw`"a\u009b2J\u202eb\u001bc"`],
    ["yaml", load, String.raw`"a\x9B2J\u202eb\ec"`],
  ] as const)(
    "%s escapes control and direction characters without changing the values",
    async (output, parse, escaped) => {
      const conditions = [
        condition("Ready", "False", "a\u009b2J\u202eb\u001bc"),
        condition("Healthy", "False", "\u2066turned\nlines"),
      ];
      const hostile = kustomization("web", {}, { conditions, "\u202ekey": "b" });
      const text = await get([hostile], output, "web");
      expect(text).toContain(escaped);
      expect(text).not.toMatch(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(parse(text)).toEqual(hostile);
    },
  );

  test.each([
    ["yaml", /^apiVersion: [\s\S]*\n---\napiVersion: [\s\S]*name: broken/],
    ["json", /^\{[\s\S]*\n\}\n\{[\s\S]*"name": "broken"/],
    ["name", /^kustomization\.kustomize\.toolkit\.fluxcd\.io\/web\nkustomization\.[a-z.]*\/broken\n$/],
  ] as const)("%s with --watch prints one document after another", async (output, expected) => {
    const stop = new AbortController();
    const session = fakeSession([web, broken], undefined, stop.signal);
    const { terminal } = session;
    let printed = "";
    const note = (text: string) => {
      printed += text;
      if (printed.includes("broken")) stop.abort(new Error("seen"));
    };
    const watching = { ...session, terminal: { ...terminal, out: note, document: note } };
    const options = { header: true, watch: true, output } as const;
    await expect(getObjects(declaredKustomization, undefined, options, watching)).rejects.toThrow("seen");
    expect(printed).toMatch(expected);
  });
});

describe("get all", () => {
  const kinds = [declaredHelmRelease, declaredKustomization];
  const api = helmRelease("api");

  test("prints a table for each kind that has objects, and with -o json one List of all", async () => {
    const session = fakeSession([web, api]);
    await getAll(kinds, "objects", { header: false }, session);
    expect(session.output.out).toMatch(/^helmrelease\/api\t[^\n]*\n\nkustomization\/web\t[^\n]*\n$/);
    session.output.out = "";
    await getAll(kinds, "objects", { header: false, output: "json" }, session);
    expect(JSON.parse(session.output.out)).toEqual(list(api, web));
  });

  test("leaves out a kind that the cluster does not serve, and fails if it serves none", async () => {
    const session = fakeSession([web]);
    const noMatch = (kind: string) => new ApiError({ code: 404, reason: "NoMatch", message: `no matches for ${kind}` });
    const without = (...missing: readonly string[]) => ({
      ...session,
      cluster: {
        ...session.cluster,
        list: (query: Parameters<typeof session.cluster.list>[0]) =>
          missing.includes(query.kind)
            ? Promise.reject(noMatch(query.kind))
            : session.cluster.list(query, session.signal),
      },
    });
    await getAll(kinds, "objects", { header: false }, without("HelmRelease"));
    expect(session.output.out).toMatch(/^kustomization\/web\t/);
    const none = without("HelmRelease", "Kustomization");
    await expect(getAll(kinds, "objects", { header: false }, none)).rejects.toThrow("no matches for");
  });

  test("says how to reach other namespaces if the default one has no objects", async () => {
    await expect(getAll(kinds, "objects", { header: true }, fakeSession([]))).rejects.toThrow(
      'no objects found in "flux-system" namespace: choose another one with -n, or all with -A',
    );
  });

  test("refuses --watch, as flux does", async () => {
    const options = { header: true, watch: true };
    await expect(getAll(kinds, "objects", options, fakeSession([web]))).rejects.toThrow(
      "expected a single resource type, but found all",
    );
  });
});
