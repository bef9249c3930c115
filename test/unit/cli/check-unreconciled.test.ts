import { describe, expect, test } from "vitest";
import { checkUnreconciled } from "../../../cli/check-unreconciled.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { ApiError, type Cluster, type Resource } from "../../../lib/core/ports/cluster.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { fakeSession } from "./fake-session.ts";

const resource = (plural: string, kind: string, group: string, version = "v1", verbs = ["list"]): Resource => ({
  ...{ group, version, kind, plural, namespaced: true, verbs },
});
const policies = resource("imagepolicies", "ImagePolicy", "image.toolkit.fluxcd.io");
const canaries = resource("canaries", "Canary", "flagger.app", "v1beta1");
/** As if Sluice did not reconcile ImagePolicies and Canaries. */
const others: readonly string[] = ["Canary", "ImagePolicy"];
const reconciled = declaredKinds.filter(({ kind }) => !others.includes(kind));
const ours = reconciled.map(({ plural, kind, group }) => resource(plural, kind, group));

/** A cluster with these kinds and so many objects of each. */
function checking(
  kinds: readonly Resource[],
  counts: Readonly<Record<string, number>> = {},
  change: Partial<Cluster> = {},
) {
  const fake = fakeSession([]);
  const listed: string[] = [];
  const cluster: Cluster = {
    ...noCluster,
    served: async () => ({ resources: kinds, silentGroups: [] }),
    listMetadata: async ({ group, version, kind }) => {
      listed.push(`${group}/${version} ${kind}`);
      return Array.from({ length: counts[kind] ?? 0 }, (_, index) => ({
        apiVersion: `${group}/${version}`,
        kind,
        metadata: { name: `x${index}`, namespace: "apps", uid: `${index}` },
      })).toReversed();
    },
    ...change,
  };
  return { fake, listed, check: () => checkUnreconciled(reconciled, { ...fake, cluster }) };
}

describe("objects of Flux and Flagger that Sluice does not reconcile", () => {
  test("are counted by kind, with the names of the first ones and the controller", async () => {
    const { check, fake } = checking([...ours, policies, canaries], { ImagePolicy: 5, Canary: 2 });
    expect(await check()).toEqual([
      { kind: "canaries.flagger.app/v1beta1", count: 2, objects: ["apps/x0", "apps/x1"], controller: "flagger" },
      {
        kind: "imagepolicies.image.toolkit.fluxcd.io/v1",
        count: 5,
        objects: ["apps/x0", "apps/x1", "apps/x2"],
        controller: "image-reflector-controller",
      },
    ]);
    expect(fake.output.err).toBe(
      "► checking for objects of Flux and Flagger that Sluice does not reconcile\n" +
        "⚠️ canaries.flagger.app/v1beta1: 2 not reconciled by Sluice (apps/x0, apps/x1): nothing happens to them unless flagger runs\n" +
        "⚠️ imagepolicies.image.toolkit.fluxcd.io/v1: 5 not reconciled by Sluice (apps/x0, apps/x1, apps/x2 and 2 more): " +
        "nothing happens to them unless image-reflector-controller runs\n",
    );
  });

  test("are not mentioned if there are none, and other kinds are not listed", async () => {
    const others = [resource("widgets", "Widget", "example.com"), resource("pods", "Pod", "")];
    const written = resource("externalartifacts", "ExternalArtifact", "source.toolkit.fluxcd.io");
    const unlistable = resource("helmcharts", "HelmChart", "source.toolkit.fluxcd.io", "v1", ["get"]);
    const { check, fake, listed } = checking([...ours, ...others, written, unlistable, canaries]);
    expect(await check()).toEqual([]);
    expect(listed).toEqual(["flagger.app/v1beta1 Canary"]);
    expect(fake.output.err).toBe("");
  });

  test("are reported as unknown for a kind that must not be listed, and the others are counted", async () => {
    const denied = new ApiError({ code: 403, reason: "Forbidden", message: "no rights" });
    const { check, fake } = checking(
      [policies, canaries],
      {},
      {
        listMetadata: async ({ kind }) => {
          if (kind === "ImagePolicy") throw denied;
          return [{ apiVersion: "flagger.app/v1beta1", kind, metadata: { name: "web", uid: "u" } }];
        },
      },
    );
    expect(await check()).toMatchObject([
      { count: 1, objects: ["web"] },
      { count: null, fault: "no rights" },
    ]);
    expect(fake.output.err).toContain(
      "imagepolicies.image.toolkit.fluxcd.io/v1: not known, they cannot be listed: no rights",
    );
  });

  test("are unknown if a cluster does not report what it serves", async () => {
    const served = async () => {
      throw new ApiError({ code: 500, reason: "InternalError", message: "broken" });
    };
    const { check, fake } = checking([], {}, { served });
    expect(await check()).toBeUndefined();
    expect(fake.output.err).toBe("⚠️ not known whether there are objects that Sluice does not reconcile: broken\n");
  });
});
