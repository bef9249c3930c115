import { describe, expect, test } from "vitest";
import { refOf } from "../../../lib/core/manifest.ts";
import { maxRequestBytes } from "../../../packages/embedded-kubernetes/src/store/check-stored-size.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

/** What etcd takes in one request by default. The object is not alone in it, and a built-in kind is shorter in protobuf than in JSON. */
export const storeLimit = maxRequestBytes;
/** The longest text is between 400 and 2,500 bytes shorter than the limit, by kind and server. */
export const justUnderStoreLimit = storeLimit - 4_000;

export function transportContract(start: StartCluster): void {
  describe("a request", () => {
    const space = workspace(start);
    const { apply, get, configMap, deployment, configMapRef, signal } = space;

    test("with an aborted signal is not sent", async () => {
      const reason = new Error("enough");
      await expect(space.cluster.get(configMapRef(), AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    test("among many at once gets its own answer", async () => {
      const names = Array.from({ length: 60 }, (_, index) => `many-${index}`);
      const made = await Promise.all(names.map((name) => apply(configMap(name, { name }))));
      expect(made.map(({ object }) => object["data"])).toEqual(names.map((name) => ({ name })));
    });

    test("with an object of one megabyte is served", async () => {
      const { object } = await apply(configMap("a", { k: "x".repeat(1_000_000) }));
      expect(await get(configMapRef())).toEqual(object);
    });

    test("with a ConfigMap above its limit is invalid", async () => {
      const error = await faultOf(apply(configMap("a", { k: "x".repeat(1024 * 1024 + 1) })));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.causes).toMatchObject([{ reason: "FieldValueTooLong" }]);
      expect(error.message).toContain("may not be more than 1048576 bytes");
    });

    const envOf = (bytes: number) =>
      deployment("", {
        template: {
          metadata: { labels: { app: "app" } },
          spec: {
            containers: [{ name: "app", image: "example.test/app:1", env: [{ name: "A", value: "x".repeat(bytes) }] }],
          },
        },
      });

    test("with an object of one and a half megabytes, the maximum of the store, is served", async () => {
      const { object } = await apply(envOf(justUnderStoreLimit));
      expect((await get(refOf(deployment())))?.["spec"]).toEqual(object["spec"]);
    });

    test.each([
      [storeLimit, /^etcdserver: request is too large$/],
      [1_700_000, /^etcdserver: request is too large$/],
      [
        2_100_000,
        /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(\d+ vs\. 2097152\)$/,
      ],
    ])(
      "with an object of %i bytes, above the limit of the store, is refused, and the object stays unchanged",
      async (bytes, message) => {
        await apply(envOf(10));
        const error = await faultOf(apply(envOf(bytes)));
        expect(error).toMatchObject({ code: 500, message: expect.stringMatching(message) });
        expect(JSON.stringify(await get(refOf(deployment()))).length).toBeLessThan(10_000);
      },
    );

    test("whose body is above the limit of the server is refused", async () => {
      const error = await faultOf(apply(configMap("a", { k: "x".repeat(3 * 1024 * 1024) })));
      expect(error).toMatchObject({ code: 413, reason: "RequestEntityTooLarge" });
    });

    test("returns the warnings of the server", async () => {
      const { warnings } = await apply(
        deployment("", {
          template: {
            metadata: { labels: { app: "app" } },
            spec: {
              containers: [{ name: "app", image: "example.test/app:1" }],
              nodeSelector: { "beta.kubernetes.io/os": "linux" },
            },
          },
        }),
      );
      expect(warnings).toEqual([expect.stringContaining("beta.kubernetes.io/os")]);
    });

    test("on behalf of a user without rights is Forbidden, and names the user, the action and the namespace", async () => {
      const { cluster } = space.connectAs("contract-nobody", ["contract-nobodies"]);
      const error = await faultOf(cluster.get(configMapRef(), signal));
      expect(error).toMatchObject({ code: 403, reason: "Forbidden" });
      expect(error.message).toContain(
        `configmaps "a" is forbidden: User "contract-nobody" cannot get resource "configmaps" in API group "" in the namespace "${space.namespace}"`,
      );
    });
  });
}
