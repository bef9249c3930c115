import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseClusterArn, stsHost } from "../../../../lib/aws/eks/cluster-arn.ts";
import { eksToken } from "../../../../lib/aws/eks/eks-cluster-config.ts";

const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "hunter2", sessionToken: "a session/token+" };
const cluster = parseClusterArn("arn:aws:eks:eu-west-1:123456789012:cluster/prod");
const now = Date.parse("2026-11-21T12:00:00Z");

async function signedUrl(): Promise<URL> {
  const { token } = await eksToken(cluster, credentials, now);
  const [prefix, text = ""] = token.reveal().split(".");
  expect(prefix).toBe("k8s-aws-v1");
  expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
  return new URL(Buffer.from(text, "base64url").toString());
}

/** The signature of a presigned request, by the book: docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html */
function signatureOf(url: URL, clusterName: string): string {
  const encode = (text: string): string =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join("&");
  const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
  const headers = `host:${url.host}\nx-k8s-aws-id:${clusterName}\n`;
  const request = ["GET", "/", query, headers, "host;x-k8s-aws-id", hash("")].join("\n");
  const scope = "20261121/eu-west-1/sts/aws4_request";
  const toSign = ["AWS4-HMAC-SHA256", "20261121T120000Z", scope, hash(request)].join("\n");
  const key = ["20261121", "eu-west-1", "sts", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  );
  return createHmac("sha256", key).update(toSign).digest("hex");
}

describe("a token for EKS", () => {
  test("is a GetCallerIdentity request to the region's STS, dated now, with the cluster's name in a signed header", async () => {
    const url = await signedUrl();
    expect(`${url.origin}${url.pathname}`).toBe("https://sts.eu-west-1.amazonaws.com/");
    const { "X-Amz-Signature": signature, ...query } = Object.fromEntries(url.searchParams);
    expect(query).toEqual({
      Action: "GetCallerIdentity",
      Version: "2011-06-15",
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": "AKIDEXAMPLE/20261121/eu-west-1/sts/aws4_request",
      "X-Amz-Date": "20261121T120000Z",
      "X-Amz-Expires": "60",
      "X-Amz-Security-Token": credentials.sessionToken,
      "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
    });
    expect(signature).toBe(signatureOf(url, "prod"));
    expect(signature).not.toBe(signatureOf(url, "other"));
    expect(url.href).not.toContain("hunter2");
  });

  test("is valid for 15 minutes and created again after 10", async () => {
    expect((await eksToken(cluster, credentials, now)).renewAt).toBe(now + 600_000);
  });
});

describe("the name of a cluster", () => {
  test.each([
    ["arn:aws:eks:eu-west-1:123456789012:cluster/prod", "sts.eu-west-1.amazonaws.com"],
    ["arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/prod", "sts.us-gov-west-1.amazonaws.com"],
    ["arn:aws-cn:eks:cn-north-1:123456789012:cluster/prod", "sts.cn-north-1.amazonaws.com.cn"],
    ["arn:aws-iso-b:eks:us-isob-east-1:123456789012:cluster/prod", "sts.us-isob-east-1.sc2s.sgov.gov"],
  ])("%s determines which STS confirms Sluice's identity: %s", (arn, host) => {
    expect(stsHost(parseClusterArn(arn))).toBe(host);
  });

  test.each(["prod", "arn:aws:eks:eu-west-1:123:cluster/prod", "arn:aws:eks:eu-west-1:123456789012:cluster/../x", ""])(
    "must not be %j",
    (text) => {
      expect(() => parseClusterArn(text)).toThrow("write arn:aws:eks:<region>:<account>:cluster/<name>");
    },
  );
});
