import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { type BucketLogin, BucketLoginError } from "../../../../lib/core/ports/bucket-login.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { recordedHttp } from "../../sources/bucket/recorded-http.ts";
import { type BucketWorld, bucketWorld } from "./bucket-world.ts";

let world: BucketWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function open(parts: Parameters<typeof bucketWorld>[0] = {}): Promise<BucketWorld> {
  world = await bucketWorld(parts);
  world.hold({ a: "a" });
  return world;
}

/** Runs a Bucket of this spec, and answers what Ready says. */
async function readyOf(here: BucketWorld, spec: JsonObject): Promise<string> {
  here.bucket(spec);
  await here.reconcile();
  expect(JSON.stringify([here.writes, here.logged])).not.toContain("hunter2");
  return here.ready();
}

const keys = { accesskey: "AKIA", secretkey: "hunter2" };
const secretRef = { name: "s3" };

describe("a generic Bucket", () => {
  test("signs requests with the keys of its Secret", async () => {
    const here = await open();
    here.s3.accessKeyId = "AKIA";
    here.secret("s3", keys);
    expect(await readyOf(here, { secretRef })).toMatch(/^True /);
    expect(here.s3.logins.every((login) => login?.startsWith("AWS4-HMAC-SHA256 Credential=AKIA/"))).toBe(true);
  });

  test("signs with the new keys from the next run on if its Secret is rotated", async () => {
    const here = await open();
    here.s3.accessKeyId = "AKIA";
    here.secret("s3", keys);
    expect(await readyOf(here, { secretRef })).toMatch(/^True /);
    here.s3.accessKeyId = "AKIANEW";
    expect(await readyOf(here, { secretRef })).toMatch(/^False .*Access Denied/);
    here.secret("s3", { ...keys, accesskey: "AKIANEW" });
    expect(await readyOf(here, { secretRef })).toMatch(/^True /);
  });

  test("sends anonymous requests if it has no Secret", async () => {
    const here = await open();
    expect(await readyOf(here, {})).toMatch(/^True /);
    expect(here.s3.logins.every((login) => login === undefined)).toBe(true);
  });

  test.each<[string, JsonObject, Readonly<Record<string, string>> | undefined, string]>([
    ["no Secret", { secretRef }, undefined, `failed to get secret 'apps/s3': secrets "s3" not found`],
    [
      "half of the keys",
      { secretRef },
      { accesskey: "AKIA" },
      "invalid 's3' secret data: required fields 'accesskey' and 'secretkey'",
    ],
    [
      "a newline after a key",
      { secretRef },
      { accesskey: "AKIA\n", secretkey: "hunter2" },
      "invalid 's3' secret data: key 'accesskey' holds a character that is not printable ASCII: write it without a newline",
    ],
    ["no proxy", { proxySecretRef: { name: "p" } }, undefined, "failed to get proxy URL: secret 'apps/p' not found"],
    [
      "no authority",
      { certSecretRef: { name: "tls" }, insecure: false },
      undefined,
      "failed to get TLS config: secret 'apps/tls' not found",
    ],
    [
      "no Secret for STS",
      { sts: { provider: "ldap", endpoint: "https://sts.test", secretRef: { name: "ldap" } } },
      undefined,
      `failed to get STS secret 'apps/ldap': secrets "ldap" not found`,
    ],
    [
      "no authority for STS",
      { sts: { provider: "ldap", endpoint: "https://sts.test", certSecretRef: { name: "tls" } } },
      undefined,
      "failed to get STS TLS config: secret 'apps/tls' not found",
    ],
  ])("with %s fails to log in, and retries", async (_what, spec, secret, message) => {
    const here = await open();
    if (secret !== undefined) here.secret("s3", secret);
    expect(await readyOf(here, spec)).toBe(`False AuthenticationFailed: ${message}`);
    expect(here.conditions()).toContain("FetchFailed=True AuthenticationFailed");
    expect(here.s3.asked).toEqual([]);
  });

  test("11.1/29: lists the allowed proxy schemes if its proxy has another scheme", async () => {
    const here = await open();
    here.secret("p", { address: "ftp://x" });
    expect(await readyOf(here, { proxySecretRef: { name: "p" } })).toBe(
      "False AuthenticationFailed: failed to get proxy URL: secret 'apps/p': proxy URL must use one of the supported schemes (http, https, socks5), got 'ftp'",
    );
  });

  test("signs requests with the keys that STS returns for its LDAP user", async () => {
    const here = await open();
    here.s3.accessKeyId = "TEMPORARY";
    here.s3.instead = (request, response) => {
      if (request.method !== "POST") return false;
      const inner = "<AccessKeyId>TEMPORARY</AccessKeyId><SecretAccessKey>hunter2</SecretAccessKey>";
      const result = `<AssumeRoleWithLDAPIdentityResult><Credentials>${inner}</Credentials></AssumeRoleWithLDAPIdentityResult>`;
      response.end(`<AssumeRoleWithLDAPIdentityResponse>${result}</AssumeRoleWithLDAPIdentityResponse>`);
      return true;
    };
    here.secret("ldap", { username: "bob", password: "hunter2" });
    const endpoint = `http://${here.s3.endpoint}/`;
    expect(await readyOf(here, { sts: { provider: "ldap", endpoint, secretRef: { name: "ldap" } } })).toMatch(/^True /);
  });

  test.each<[JsonObject, string]>([
    [
      { sts: { provider: "aws", endpoint: "https://sts.test" } },
      "InvalidSTSConfiguration: STS provider 'aws' is not supported for 'generic' bucket provider",
    ],
    [
      { sts: { provider: "ldap", endpoint: "https://sts.test:x" } },
      `URLInvalid: failed to parse STS endpoint 'https://sts.test:x': invalid port ":x" after host`,
    ],
    [
      { provider: "aws", serviceAccountName: "robot" },
      "FeatureGateDisabled: to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller",
    ],
    [{ region: "evil.example/x" }, "URLInvalid: spec.region must be 1 to 64 letters, digits and hyphens, for example"],
    [{ serviceAccountName: "robot" }, "InvalidSpec: ServiceAccountName is not supported for the 'generic' Bucket"],
    [{ accessFrom: { namespaceSelectors: [] } }, "UnsupportedField: spec.accessFrom is not supported yet"],
  ])("stalls with this spec: %j", async (spec, message) => {
    const here = await open();
    expect(await readyOf(here, spec)).toContain(`False ${message}`);
    const [reason = ""] = message.split(":");
    expect(here.conditions()).toContain(`Stalled=True ${reason}`);
    expect(here.s3.asked).toEqual([]);
  });

  test.each<[JsonObject, string]>([
    [{ endpoint: "https://s3.test" }, "Authentication/Endpoint url cannot have fully qualified paths."],
    [{ endpoint: "s3.test/folder" }, "Authentication/Endpoint url cannot have fully qualified paths."],
    [{ endpoint: "" }, "Authentication/Endpoint:  does not follow ip address or domain name standards."],
    [
      { endpoint: "-s3.test" },
      "Authentication/Endpoint: -s3.test does not follow ip address or domain name standards.",
    ],
    [
      { endpoint: "s3.test?x=1" },
      "Authentication/Endpoint: s3.test does not follow ip address or domain name standards.",
    ],
    [{ endpoint: "s3.test:x" }, 'Authentication/parse "https://s3.test:x": invalid port ":x" after host.'],
    [{ bucketName: "" }, "BucketOperation/failed to confirm existence of '' bucket: Bucket name cannot be empty"],
    [{ bucketName: "ab" }, "BucketOperation/failed to confirm existence of 'ab' bucket: Bucket name cannot be shorter"],
    [
      { bucketName: "1.2.3.4" },
      "BucketOperation/failed to confirm existence of '1.2.3.4' bucket: Bucket name cannot be",
    ],
    [
      { bucketName: "../x" },
      "BucketOperation/failed to confirm existence of '../x' bucket: Bucket name contains invalid",
    ],
  ])("is not looked for at an address that is not valid, in the words of Flux's client: %j", async (spec, message) => {
    const here = await open();
    const [reason = "", text = ""] = message.split(/\/(.*)/s);
    expect(await readyOf(here, spec)).toContain(`False ${reason}Failed: ${text}`);
    expect(here.s3.asked).toEqual([]);
  });

  test("a slash at the end of its endpoint is left out", async () => {
    const here = await open();
    expect(await readyOf(here, { endpoint: `${here.s3.endpoint}/` })).toMatch(/^True /);
  });
});

describe("a Bucket of provider aws", () => {
  const identity = { accessKeyId: "ASIA", secretAccessKey: new Secret("hunter2"), region: "eu-west-1" };
  const spec = { provider: "aws", endpoint: "s3.eu-west-1.amazonaws.com", insecure: false };

  function lending() {
    const asked: unknown[] = [];
    const aws: BucketLogin = {
      credentials: async (request) => {
        asked.push(request);
        return identity;
      },
    };
    const { http, sent } = recordedHttp(({ url, method }) =>
      method === "HEAD" ? {} : url.includes("list-type") ? { body: "<ListBucketResult/>" } : { status: 404 },
    );
    return { asked, sent, parts: { http, logins: { aws } } };
  }

  test("signs with Sluice's identity, scoped to this bucket and namespace, and expects events of the bucket", async () => {
    const { asked, sent, parts } = lending();
    const here = await open(parts);
    expect(await readyOf(here, spec)).toMatch(/^True /);
    expect(asked).toEqual([{ bucket: "things", cluster: "here", namespace: "apps" }]);
    expect(sent.map(({ url }) => new URL(url).host)).toEqual(["things.s3.eu-west-1.amazonaws.com"]);
    expect(sent[0]?.headers?.["authorization"]).toContain("Credential=ASIA/20261121/eu-west-1/s3/aws4_request");
  });

  test("signs with the keys of its Secret if it has one, and does not use Sluice's identity", async () => {
    const { asked, sent, parts } = lending();
    const here = await open(parts);
    here.secret("s3", keys);
    expect(await readyOf(here, { ...spec, secretRef })).toMatch(/^True /);
    expect(asked).toEqual([]);
    expect(sent[0]?.headers?.["authorization"]).toContain("Credential=AKIA/");
  });

  test("is refused if its bucket is not listed in the installation, and the message says so", async () => {
    const credentials = () => Promise.reject(new BucketLoginError("not-allowed", "not lent"));
    const here = await open({ logins: { aws: { credentials } } });
    expect(await readyOf(here, spec)).toBe("False AuthenticationFailed: AWS authentication failed: not lent");
  });

  test.each<[JsonObject, string]>([
    [{ endpoint: "s3.evil.test" }, "spec.endpoint 's3.evil.test' is not a host of Amazon S3"],
    [{ endpoint: "s3.evil.test/" }, "spec.endpoint 's3.evil.test' is not a host of Amazon S3"],
    [{ endpoint: "s3.amazonaws.com.evil.test" }, "is not a host of Amazon S3"],
    [{ endpoint: "s3.eu-west-1.amazonaws.com:8443" }, "is not a host of Amazon S3"],
    [{ endpoint: "s3.amazonaws.com", region: "evil" }, "spec.region 'evil' is not a region of Amazon S3"],
    [{ insecure: true }, "spec.insecure cannot be set with provider aws"],
    [{ certSecretRef: { name: "tls" } }, "spec.certSecretRef cannot be set with provider aws"],
    [{ proxySecretRef: { name: "p" } }, "spec.proxySecretRef cannot be set with provider aws"],
  ])("sends Sluice's identity only to Amazon: %j", async (change, why) => {
    const { asked, sent, parts } = lending();
    const here = await open(parts);
    expect(await readyOf(here, { ...spec, ...change })).toContain(why);
    expect([asked, sent]).toEqual([[], []]);
  });

  test("lists the allowed STS endpoints if its own is not an AWS endpoint", async () => {
    const { parts } = lending();
    const here = await open(parts);
    const sts = { provider: "aws", endpoint: "https://sts.test" };
    expect(await readyOf(here, { ...spec, sts })).toBe(
      "False AuthenticationFailed: AWS authentication failed: invalid STS endpoint: 'https://sts.test'. must match ^https://(.+\\.)?sts(-fips)?(\\.[^.]+)?(\\.vpce)?\\.amazonaws\\.com$",
    );
  });

  test("is refused if Sluice has no AWS identity", async () => {
    const here = await open();
    expect(await readyOf(here, spec)).toContain(
      "UnsupportedField: spec.provider aws without secretRef is not supported",
    );
  });
});

describe("a Bucket of provider gcp or azure", () => {
  test.each<[string, JsonObject, Readonly<Record<string, string>>, string]>([
    ["gcp", {}, { x: "y" }, "AuthenticationFailed: invalid 's3' secret data: required fields 'serviceaccount'"],
    ["gcp", {}, { serviceaccount: "hunter2" }, "secret 'apps/s3', key 'serviceaccount': it is not JSON"],
    [
      "azure",
      {},
      { x: "y" },
      "invalid 's3' secret data: requires a 'clientId' or 'accountKey' field, a combination of",
    ],
    ["azure", {}, { clientId: "hunter2" }, "clientId alone means a managed identity of Azure"],
    ["azure", {}, { tenantId: "t", clientId: "c", clientCertificate: "hunter2" }, "clientCertificate must be PEM"],
    ["azure", { endpoint: "acme.blob" }, { accountKey: "eA==" }, "URLInvalid: spec.endpoint is not a URL"],
  ])("%s with %j and this Secret reports which key is missing", async (provider, spec, secret, why) => {
    const here = await open();
    here.secret("s3", secret);
    const endpoint = "https://acme.blob.core.windows.net";
    expect(await readyOf(here, { provider, endpoint, insecure: false, secretRef, ...spec })).toContain(why);
  });

  test("of provider gcp without a Secret is refused, because Sluice has no Google identity", async () => {
    const here = await open();
    expect(await readyOf(here, { provider: "gcp" })).toContain("UnsupportedField: spec.provider gcp without secretRef");
  });

  test("of provider azure logs in with the client secret of an application, once per run", async () => {
    const list = "<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>";
    const { http, sent } = recordedHttp(({ url, method }) =>
      method === "POST"
        ? { body: JSON.stringify({ access_token: "hunter2" }) }
        : url.includes("comp=list")
          ? { body: list }
          : { status: 404 },
    );
    const here = await open({ http });
    here.secret("s3", { tenantId: "tenant", clientId: "app", clientSecret: "hunter2" });
    const endpoint = "https://acme.blob.core.windows.net";
    expect(await readyOf(here, { provider: "azure", endpoint, insecure: false, secretRef })).toMatch(/^True /);
    expect(sent.map(({ method, url }) => `${method} ${new URL(url).host}`)).toEqual([
      ...["POST login.microsoftonline.com", "GET acme.blob.core.windows.net"],
      ...["GET acme.blob.core.windows.net", "GET acme.blob.core.windows.net"],
    ]);
  });

  test("of provider gcp logs in with a service account", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const private_key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const { http, sent } = recordedHttp(({ url, method }) =>
      method === "POST"
        ? { body: JSON.stringify({ access_token: "hunter2" }) }
        : url.includes("/o/")
          ? { status: 404 }
          : { body: "{}" },
    );
    const here = await open({ http });
    const account = { type: "service_account", client_email: "a@b", private_key };
    here.secret("s3", { serviceaccount: JSON.stringify(account) });
    expect(await readyOf(here, { provider: "gcp", secretRef })).toMatch(/^True /);
    expect(sent.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET"]);
  });
});
