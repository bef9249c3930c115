import { describe, expect, test } from "vitest";
import { ecrLogin } from "../../lib/aws/ecr/ecr-login.ts";
import { RegistryLoginError } from "../../lib/core/ports/registry-login.ts";
import { faultyWire, type WireFault } from "../doubles/faulty-wire.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");
const host = "012345678901.dkr.ecr.eu-west-1.amazonaws.com";
const cluster = "arn:aws:eks:eu-west-1:012345678901:cluster/prod";
const request = { host, repository: "apps/web", cluster, namespace: "apps" };
const isAllowed = (tenant: { cluster: string; namespace: string }, repository: string): boolean =>
  tenant.cluster === cluster && tenant.namespace === "apps" && repository.startsWith("012345678901.dkr.ecr.");

/** ECR's answer with a token that ends at this time. */
function tokenUntil(endMs: number): WireFault {
  const data = { authorizationToken: btoa("AWS:hunter2"), expiresAt: endMs / 1000 };
  const headers = { "content-type": "application/x-amz-json-1.1" };
  return { status: 200, headers, body: JSON.stringify({ authorizationData: [data] }) };
}

describe.skipIf(connection === undefined)("login to ECR, where SLUICE_REAL_AWS names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };

  async function over(faultOf: (count: number, now: number) => WireFault = () => "pass") {
    let now = Date.now();
    const wire = await faultyWire(of.endpoint, (_, count) => faultOf(count, now));
    const login = ecrLogin({ connection: { ...of, endpoint: wire.url }, clock: { now: () => now }, isAllowed });
    return { wire, login, pass: (ms: number) => void (now += ms) };
  }

  test("gives a username and a password, once for all concurrent callers", async () => {
    const { wire, login } = await over();
    const all = await Promise.all([1, 2, 3].map(() => login.credentials(request, never)));
    expect(new Set(all.map(({ username, password }) => `${username}:${password.reveal()}`)).size).toBe(1);
    expect(all[0]?.username).toBe("AWS");
    expect(wire.seen).toHaveLength(1);
    await wire[Symbol.asyncDispose]();
  });

  test("is cached for 80 % of a token's life, at most one hour", async () => {
    // The stand-in's own tokens ended years ago.
    const { wire, login, pass } = await over((_, now) => tokenUntil(now + 12 * 3_600_000));
    await login.credentials(request, never);
    pass(3_599_000);
    await login.credentials({ ...request, repository: "other" }, never);
    expect(wire.seen).toHaveLength(1);
    pass(2_000);
    await login.credentials(request, never);
    expect(wire.seen).toHaveLength(2);
    await login.credentials({ ...request, host: host.replace("eu-west-1", "us-east-1") }, never);
    expect(wire.seen).toHaveLength(3);
    await wire[Symbol.asyncDispose]();

    const short = await over((_, now) => tokenUntil(now + 100_000));
    await short.login.credentials(request, never);
    short.pass(79_000);
    await short.login.credentials(request, never);
    expect(short.wire.seen).toHaveLength(1);
    short.pass(2_000);
    await short.login.credentials(request, never);
    expect(short.wire.seen).toHaveLength(2);
    await short.wire[Symbol.asyncDispose]();
  });

  test("is refused to a namespace that the installation does not list for its cluster, without a call to ECR", async () => {
    const { wire, login } = await over();
    for (const other of [{ namespace: "other" }, { cluster: cluster.replace("prod", "other") }]) {
      const tenant = { ...request, ...other };
      const error = await login.credentials(tenant, never).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RegistryLoginError);
      const namespace = `does not lend its AWS identity to namespace ${tenant.namespace} for ${host}/apps/web`;
      expect(String(error)).toContain(namespace);
    }
    expect(wire.seen).toEqual([]);
    await wire[Symbol.asyncDispose]();
  });

  test("that fails is retried by the next caller", async () => {
    const body = JSON.stringify({ __type: "ExpiredTokenException", message: "expired" });
    const expired = { status: 400, body, headers: { "content-type": "application/x-amz-json-1.1" } };
    const { wire, login } = await over((count) => (count === 0 ? expired : "pass"));
    await expect(login.credentials(request, never)).rejects.toThrow(
      /^failed to get access token for artifact registry: ecr:GetAuthorizationToken on all registries: the AWS credentials have expired/,
    );
    await expect(login.credentials(request, never)).resolves.toMatchObject({ username: "AWS" });
    await wire[Symbol.asyncDispose]();
  });
});
