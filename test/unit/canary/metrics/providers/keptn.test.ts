import { describe, expect, test } from "vitest";
import { defaultCanarySettings } from "../../../../../lib/canary/settings.ts";
import type { LiveObject, Manifest } from "../../../../../lib/core/manifest.ts";
import { ApiError } from "../../../../../lib/core/ports/cluster.ts";
import { noHome } from "../../../../doubles/no-cluster.ts";
import { serverWorld } from "./server-world.ts";

const live = (status: object): LiveObject => ({
  ...{ apiVersion: "metrics.keptn.sh/v1beta1", kind: "KeptnMetric" },
  ...{ metadata: { name: "m", namespace: "apps", uid: "u", resourceVersion: "1" }, status },
});

describe("a KeptnMetric", () => {
  const ask = (object: LiveObject | undefined | ApiError) => {
    const get = async () => {
      if (object instanceof ApiError) throw object;
      return object;
    };
    return serverWorld({ type: "keptn" }, { parts: { cluster: { ...noHome, get } } });
  };

  test.each([["KeptnMetric/apps/m\n"], ["keptnmetrics/apps/m/5m"]])(
    "is queried with %j and has a value",
    async (query) => {
      expect(await ask(live({ value: "3.0" })).query(query)).toBe(3);
    },
  );

  test.each([
    [undefined, 'could not retrieve KeptnMetric apps/m: keptnmetrics.metrics.keptn.sh "m" not found'],
    [live({}), "could not retrieve KeptnMetric - no value found in resource apps/m"],
    [
      live({ value: "x" }),
      'could not parse value of KeptnMetric apps/m to float: strconv.ParseFloat: parsing "x": invalid syntax',
    ],
    [new ApiError({ code: 403, reason: "Forbidden", message: "no" }), "could not retrieve KeptnMetric apps/m: no"],
  ])("has no value: %#", async (object, text) => {
    expect(await ask(object).query("keptnmetric/apps/m")).toBe(text);
  });

  test.each([
    ["keptnmetric/apps", /^unexpected query format\. query must be in the format/],
    [
      "other/apps/m",
      /^unexpected resource kind provided in the query\. must be one of: \['keptnmetric', 'analysis'\]$/,
    ],
  ])("is not queried with %j", async (query, text) => {
    expect(await ask(undefined).query(query)).toMatch(text);
  });

  test("in another namespace than the template's is not read if the installation forbids such references", async () => {
    const settings = { ...defaultCanarySettings, noCrossNamespaceRefs: true };
    const get = async () => live({ value: "3.0" });
    const { query } = serverWorld({ type: "keptn" }, { parts: { settings, cluster: { ...noHome, get } } });
    expect(await query("keptnmetric/ops/m")).toBe(
      "can't access KeptnMetric ops/m, cross-namespace references are blocked",
    );
    expect(await query("analysis/ops/a")).toBe("can't access Analysis ops/a, cross-namespace references are blocked");
    expect(await query("keptnmetric/apps/m")).toBe(3);
  });

  test("counts as online without a request", async () => {
    expect(await ask(undefined).probe()).toBe("online");
  });
});

describe("a Keptn Analysis", () => {
  /** It is completed at the given look; undefined for never. */
  function world(status: object, completedAt?: number) {
    const created: Manifest[] = [];
    const deleted: string[] = [];
    let looks = 0;
    const cluster = {
      ...noHome,
      create: async (manifest: Manifest) => {
        created.push(manifest);
        return live({});
      },
      get: async () => (++looks === completedAt ? live(status) : live({ state: "Progressing" })),
      delete: async ({ name }: { readonly name: string }) => {
        deleted.push(name);
        return "deleted" as const;
      },
    };
    return { ...serverWorld({ type: "keptn" }, { parts: { cluster } }), created, deleted };
  }

  test.each([
    [true, 1],
    [false, 0],
  ])("is created, awaited and deleted; pass %s counts as %d", async (pass, value) => {
    const { query, created, deleted } = world({ state: "Completed", pass }, 3);
    expect(await query("analysis/apps/my-analysis/5m/foo=bar;bar=foo;odd")).toBe(value);
    expect(created).toMatchObject([
      {
        apiVersion: "metrics.keptn.sh/v1beta1",
        kind: "Analysis",
        metadata: { name: expect.stringMatching(/^my-analysis-[0-9a-f]{6}$/), namespace: "apps" },
        spec: {
          analysisDefinition: { name: "my-analysis" },
          timeframe: { recent: "5m" },
          args: { foo: "bar", bar: "foo" },
        },
      },
    ]);
    expect(deleted).toEqual([created[0]?.metadata.name]);
  });

  test("that is not finished within 10 s is deleted too", async () => {
    const { query, clock, deleted } = world({});
    const begun = clock.now();
    expect(await query("analysis/apps/slow")).toBe(
      "encountered timeout while waiting for Keptn Analysis apps/slow to be finished",
    );
    expect([clock.now() - begun, deleted.length]).toEqual([10_000, 1]);
  });
});
