import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ClusterArn } from "../../../lib/aws/eks/cluster-arn.ts";
import { eksToken } from "../../../lib/aws/eks/eks-cluster-config.ts";
import { apiClient } from "../../../lib/kube/api-client.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { ask } from "../../real/ask.ts";
import { realParts } from "./real-parts.ts";
import { roleSession } from "./role-session.ts";

const parts = realParts();
const minute = 60_000;

/** What EKS' authenticator and STS make of our tokens: the first of them is aws-iam-authenticator itself. */
describe.skipIf(parts === undefined)("a token for EKS, if SLUICE_REAL_EKS_CLUSTER names a cluster", () => {
  const eks = parts?.eks;

  /** The status that a request with this token gets, and the user that it is made as. */
  async function knock(options: { cluster?: Partial<ClusterArn>; role?: string; signedAt?: number; secret?: string }) {
    if (eks === undefined) throw new Error("skipped");
    const { cluster, role = eks.role, signedAt = Date.now(), secret } = options;
    const name = `knock-${randomUUID().slice(0, 8)}`;
    const session = await roleSession(eks.sts, role, name);
    const credentials = { ...session, ...(secret === undefined ? {} : { secretAccessKey: secret }) };
    const { token } = await eksToken({ ...eks.cluster, ...cluster }, credentials, signedAt);
    const { server, tls } = await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" });
    const url = new URL("/apis/authentication.k8s.io/v1/selfsubjectreviews", server).href;
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const headers = { authorization: `Bearer ${token.reveal()}`, "content-type": "application/json" };
    const answer = await ask(url, { method: "POST", headers, body, ...(tls.ca === undefined ? {} : { ca: tls.ca }) });
    return { status: answer?.status, user: /"username":"([^"]+)"/.exec(answer?.text ?? "")?.[1], name };
  }

  test("is accepted, and its user is named after the role's session", async () => {
    const { status, user, name } = await knock({});
    expect({ status, user }).toEqual({ status: 201, user: `sluice:${name}` });
  });

  test("is accepted until 15 minutes after its signature", async () => {
    expect(await knock({ signedAt: Date.now() - 14 * minute })).toMatchObject({ status: 201 });
    expect(await knock({ signedAt: Date.now() - 15 * minute - 1_000 })).toMatchObject({ status: 401 });
  });

  test.each([
    { what: "for another cluster", options: { cluster: { name: "another" } } },
    { what: "of a role that has no access entry", options: { role: "arn:aws:iam::123456789012:role/stranger" } },
    { what: "signed with another secret", options: { secret: "another" } },
    { what: "that names another partition's STS", options: { cluster: { partition: "aws-cn", region: "cn-north-1" } } },
  ])("is refused $what", async ({ options }) => {
    expect(await knock(options)).toMatchObject({ status: 401, user: undefined });
  });

  test("that expires during a run is renewed once, and one that stays refused is a clear failure", async () => {
    if (eks === undefined) throw new Error("skipped");
    const session = await roleSession(eks.sts, eks.role, `middle-${randomUUID().slice(0, 8)}`);
    const described = await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" });
    /** The clock by which each further token is signed. */
    const signedAt: number[] = [];
    const supply = async () => {
      const { token } = await eksToken(eks.cluster, session, signedAt.shift() ?? Number.NaN);
      return { token, renewAt: Number.POSITIVE_INFINITY };
    };
    const user = { name: "our AWS identity", certificate: undefined, impersonate: undefined };
    const config = {
      ...described,
      name: eks.cluster.name,
      user: { ...user, token: { kind: "supplied", supply } },
    } as const;
    const statuses: number[] = [];
    const observe = ({ status }: { readonly status: number }): void => void statuses.push(status);
    const api = apiClient(config, { clock: systemClock, env: {}, observe });
    const read = { verb: "get", method: "GET", path: "/api/v1/namespaces/kube-system", repeatable: true } as const;
    const { signal } = new AbortController();

    signedAt.push(Date.now() - 20 * minute, Date.now());
    expect((await api.expect(read, signal)).status).toBe(200);
    expect(statuses.splice(0)).toEqual([401, 200]);
    expect((await api.expect(read, signal)).status).toBe(200);
    expect(statuses.splice(0)).toEqual([200]);
    api.close();

    const late = apiClient(config, { clock: systemClock, env: {}, observe });
    signedAt.push(Date.now() - 20 * minute, Date.now() - 20 * minute);
    await expect(late.expect(read, signal)).rejects.toMatchObject({
      code: 401,
      message: expect.stringMatching(
        /does not take the credential of our AWS identity, nor a new one: .*check .* that the clocks agree/,
      ),
    });
    expect(statuses).toEqual([401, 401]);
    late.close();
  });
});
