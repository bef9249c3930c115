import { describe, expect, test } from "vitest";
import { parseClusterArn } from "../../../lib/aws/eks/cluster-arn.ts";
import { eksToken } from "../../../lib/aws/eks/eks-cluster-config.ts";
import { presignedFault } from "./presigned-request.ts";

const credentials = { accessKeyId: "ASIA1", secretAccessKey: "secret", sessionToken: "a/b+c==" };
const signedAt = Date.UTC(2026, 10, 21, 16, 0, 0);
const minute = 60_000;

/** A token as the cluster sends it on to STS. */
async function request(header = "prod") {
  const cluster = parseClusterArn("arn:aws:eks:eu-west-1:123456789012:cluster/prod");
  const { token } = await eksToken(cluster, credentials, signedAt);
  const url = new URL(Buffer.from(token.reveal().replace("k8s-aws-v1.", ""), "base64url").toString());
  const headers = { host: url.host, "x-k8s-aws-id": header };
  return { method: "GET", path: url.pathname, query: url.searchParams, headers };
}

const signerOf = (accessKeyId: string) => (accessKeyId === "ASIA1" ? credentials : undefined);

describe("a presigned request to STS", () => {
  test("is accepted for 15 minutes", async () => {
    expect(presignedFault(await request(), signerOf, signedAt + 1)).toBeUndefined();
    expect(presignedFault(await request(), signerOf, signedAt + 15 * minute)).toBeUndefined();
    expect(presignedFault(await request(), signerOf, signedAt + 15 * minute + 1)?.message).toBe("Signature expired.");
  });

  test("is refused if it is for another cluster", async () => {
    const fault = presignedFault(await request("staging"), signerOf, signedAt + 1);
    expect(fault?.code).toBe("SignatureDoesNotMatch");
  });

  test.each([
    { what: "its action", name: "Action", value: "GetSessionToken", code: "SignatureDoesNotMatch" },
    { what: "its date", name: "X-Amz-Date", value: "20261121T160100Z", code: "SignatureDoesNotMatch" },
    { what: "its signature", name: "X-Amz-Signature", value: "00", code: "SignatureDoesNotMatch" },
    { what: "its session", name: "X-Amz-Security-Token", value: "other", code: "InvalidClientTokenId" },
    {
      what: "its key",
      name: "X-Amz-Credential",
      value: "ASIA2/20261121/eu-west-1/sts/aws4_request",
      code: "InvalidClientTokenId",
    },
    {
      what: "its service",
      name: "X-Amz-Credential",
      value: "ASIA1/20261121/eu-west-1/s3/aws4_request",
      code: "IncompleteSignature",
    },
    { what: "its day", name: "X-Amz-Date", value: "tomorrow", code: "IncompleteSignature" },
  ])("is refused if $what was changed", async ({ name, value, code }) => {
    const changed = await request();
    changed.query.set(name, value);
    expect(presignedFault(changed, signerOf, signedAt + 2 * minute)?.code).toBe(code);
  });
});
