import { inspect } from "node:util";
import { expect, test } from "vitest";
import { assumedRole } from "../../../lib/aws/assumed-role.ts";
import { parseClusterArn } from "../../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../../lib/aws/eks/eks-cluster.ts";
import { eksToken } from "../../../lib/aws/eks/eks-cluster-config.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";

const never = new AbortController().signal;
const role = "arn:aws:iam::210987654321:role/sluice";
const arn = parseClusterArn("arn:aws:eks:eu-north-1:210987654321:cluster/prod");
const credentials = { accessKeyId: "OUR-KEY", secretAccessKey: "y" };
const hour = 3_600_000;

/** STS' answer with credentials that end at this time. */
function sessionUntil(end: number, number = 1): WireFault {
  const given = `<AccessKeyId>ROLE-KEY-${number}</AccessKeyId><SecretAccessKey>hunter2</SecretAccessKey><SessionToken>hunter2-session</SessionToken><Expiration>${new Date(end).toISOString()}</Expiration>`;
  const body = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>${given}</Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  return { status: 200, headers: { "content-type": "text/xml" }, body };
}

function refusal(code: string): WireFault {
  const body = `<ErrorResponse><Error><Code>${code}</Code><Message>User: arn:aws:sts::123456789012:assumed-role/fn/x is not authorized to perform: sts:AssumeRole on resource: ${role}</Message></Error></ErrorResponse>`;
  return { status: 403, headers: { "content-type": "text/xml" }, body };
}

test("a role is assumed once for all callers, and again 15 minutes before its credentials expire", async () => {
  let now = Date.now();
  const bodies: string[] = [];
  await using sts = await faultyWire(undefined, (_, count, body) => {
    bodies.push(body.toString());
    return sessionUntil(now + hour, count);
  });
  const connection = { region: "eu-west-1", endpoint: sts.url, credentials };
  const ask = assumedRole(role, connection, { now: () => now });
  expect(sts.seen).toEqual([]);
  const all = await Promise.all([ask(), ask(), ask()]);
  expect(new Set(all.map(({ accessKeyId }) => accessKeyId))).toEqual(new Set(["ROLE-KEY-0"]));
  now += hour - 901_000;
  expect((await ask()).accessKeyId).toBe("ROLE-KEY-0");
  now += 2_000;
  expect((await ask()).accessKeyId).toBe("ROLE-KEY-1");
  expect(bodies).toHaveLength(2);
  expect(bodies[0]).toContain(`RoleArn=${encodeURIComponent(role)}`);
});

test("a role that must not be assumed is named with a mend, and retried by the next caller", async () => {
  await using sts = await faultyWire(undefined, (_, count) =>
    count === 0 ? refusal("AccessDenied") : sessionUntil(Date.now() + hour),
  );
  const ask = assumedRole(role, { region: "eu-west-1", endpoint: sts.url, credentials }, systemClock);
  const error: unknown = await ask().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`sts:AssumeRole on role ${role}: the credentials are of account 123456789012`);
  expect(String(error)).toContain("allow sts:AssumeRole in the policy of the role");
  await expect(ask()).resolves.toMatchObject({ accessKeyId: "ROLE-KEY-1" });
});

test("an answer without credentials is an error that shows none", async () => {
  const body = "<AssumeRoleResponse><AssumeRoleResult></AssumeRoleResult></AssumeRoleResponse>";
  await using sts = await faultyWire(undefined, () => ({ status: 200, headers: { "content-type": "text/xml" }, body }));
  const ask = assumedRole(role, { region: "eu-west-1", endpoint: sts.url, credentials }, systemClock);
  await expect(ask()).rejects.toThrow(/sts:AssumeRole on role .*: the answer holds no credentials/);
});

test("a cluster's token is signed as the role, and the cluster is described with the role in its region", async () => {
  const signedBy: string[] = [];
  await using aws = await faultyWire(undefined, (request) => {
    signedBy.push(
      /Credential=([^/]+)\/[0-9]+\/([^/]+)\/([^/]+)/
        .exec(request.headers.authorization ?? "")
        ?.slice(1)
        .join(" ") ?? "",
    );
    if (request.method === "POST") return sessionUntil(Date.now() + hour);
    const headers = { "content-type": "application/json", "x-amzn-errortype": "ResourceNotFoundException" };
    return { status: 404, headers, body: JSON.stringify({ message: "No cluster found" }) };
  });
  const connection = { region: "eu-west-1", endpoint: aws.url, credentials };
  const ask = assumedRole(role, connection, systemClock);
  const cluster = eksCluster(arn, { ...connection, credentials: ask }, { clock: systemClock, env: {} });
  const error: unknown = await cluster.uid(never).catch((thrown: unknown) => thrown);
  cluster.close();
  expect(error).toMatchObject({ reason: "Unreachable" });
  expect(inspect(error, { depth: 9 })).not.toContain("hunter2");
  expect(signedBy).toEqual(["OUR-KEY eu-west-1 sts", "ROLE-KEY-1 eu-north-1 eks"]);

  const { token, renewAt } = await eksToken(arn, ask, 1_000);
  const url = Buffer.from(token.reveal().replace("k8s-aws-v1.", ""), "base64url").toString();
  expect(url).toMatch(/^https:\/\/sts\.eu-north-1\.amazonaws\.com\/.*X-Amz-Credential=ROLE-KEY-1/);
  expect(renewAt).toBe(601_000);
  expect(signedBy).toHaveLength(2);
});
