import { describe, expect, test } from "vitest";
import { Secret } from "../../../../lib/core/secret.ts";
import { escapedPath, escapedQuery, signedHeaders } from "../../../../lib/sources/bucket/sign-request.ts";

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html has the requests and their signatures. */
const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: new Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
};
const now = new Date("2013-05-24T00:00:00Z");
const host = "https://examplebucket.s3.amazonaws.com";

function signatureOf(url: string, headers: Readonly<Record<string, string>> = {}): string | undefined {
  const signed = signedHeaders({ method: "GET", url: new URL(url), headers }, "us-east-1", credentials, now);
  return /Signature=(.*)$/.exec(signed["authorization"] ?? "")?.[1];
}

describe("requests to S3 are signed as AWS documents it", () => {
  test.each([
    [`${host}/test.txt`, { range: "bytes=0-9" }, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"],
    [`${host}/?lifecycle=`, {}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    [`${host}/?max-keys=2&prefix=J`, {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
  ])("GET %s", (url, headers, signature) => {
    expect(signatureOf(url, headers)).toBe(signature);
  });

  test("with a session token, which is signed and sent", () => {
    const session = { ...credentials, sessionToken: new Secret("token") };
    const signed = signedHeaders({ method: "GET", url: new URL(`${host}/a`) }, "us-east-1", session, now);
    expect(signed["x-amz-security-token"]).toBe("token");
    expect(signed["authorization"]).toContain(
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,",
    );
    expect(JSON.stringify(signed)).not.toContain("wJalr");
  });
});

test("keys and queries are escaped as S3 expects them", () => {
  expect(escapedPath("a b/ü!'()*~/%")).toBe("a%20b/%C3%BC%21%27%28%29%2A~/%25");
  expect(escapedQuery({ prefix: "a/b c", "list-type": "2", delimiter: "" })).toBe(
    "delimiter=&list-type=2&prefix=a%2Fb%20c",
  );
});
