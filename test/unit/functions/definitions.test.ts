import { expect, test } from "vitest";
import { definitionsHandler } from "../../../functions/definitions.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const id = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const unauthorized = new ApiError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
const forbidden = new ApiError({ code: 403, reason: "Forbidden", message: "cannot get resource namespaces" });
const unreachable = new ApiError({ code: 0, reason: "Unreachable", message: "connect ETIMEDOUT" });

/** A create in a cluster whose API server answers so; how long it took, in seconds. */
async function created(uid: Cluster["uid"], described: { hasAccessEntries?: boolean; isPublic?: boolean } = {}) {
  const clock = steppedClock();
  const from = clock.monotonic();
  const sleep = async (ms: number) => clock.pass(ms);
  const description = {
    server: new URL("https://127.0.0.1"),
    ca: "",
    version: "1.35",
    hasAccessEntries: true,
    isPublic: true,
    ...described,
  };
  const handler = definitionsHandler({
    clock: { ...clock, sleep },
    log: silentLog,
    readStored: () => Promise.reject(new Error("must not be read")),
    open: async () => ({
      description,
      cluster: { ...noCluster, uid },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  });
  const properties = { cluster: id, installation: "123456789012/eu-west-1/sluice", version: "0.1.0" };
  const request = {
    type: "Create",
    resource: "stack/Prod",
    physicalId: undefined,
    properties,
    oldProperties: {},
  } as const;
  const error: unknown = await handler(request, signal).catch((thrown: unknown) => thrown);
  return { message: error instanceof Error ? error.message : "", seconds: (clock.monotonic() - from) / 1_000 };
}

const refuses = (error: ApiError) => async () => {
  throw error;
};

test.each([
  {
    what: "knows roles only by aws-auth",
    error: unauthorized,
    described: { hasAccessEntries: false },
    says: "aws eks update-cluster-config --region eu-west-1 --name prod --access-config authenticationMode=API_AND_CONFIG_MAP (Unauthorized)",
  },
  {
    what: "has no access entry for us",
    error: unauthorized,
    described: {},
    says: "Create an access entry for it with the group sluice-definitions",
  },
  {
    what: "gives us too few rights",
    error: forbidden,
    described: {},
    says: "AmazonEKSClusterAdminPolicy, or apply the manifests of docs/cluster-rights.md for the group sluice-definitions (cannot get resource namespaces)",
  },
  {
    what: "has only a private address",
    error: unreachable,
    described: { isPublic: false },
    says: "Give the cluster a network with its VPC and subnets",
  },
  { what: "does not answer", error: unreachable, described: {}, says: "publicAccessCidrs" },
])("a cluster that $what is reported with a mend", async ({ error, described, says }) => {
  const { message, seconds } = await created(refuses(error), described);
  expect(message).toMatch(`cluster ${id}: `);
  expect(message).toContain(says);
  // New access entries take a while to count; what does not answer has had the client's own tries.
  expect(seconds).toBe(error.code === 0 ? 0 : 90);
});

test("an access entry that takes effect late is awaited", async () => {
  let asked = 0;
  const late = async () => {
    if (asked++ < 5) throw asked < 3 ? unauthorized : forbidden;
    return "uid";
  };
  const { message, seconds } = await created(late);
  expect(message).toBe("the test did not expect this call");
  expect(seconds).toBe(15);
});
