import { createHmac, createVerify, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { type AzureAccess, azureStore } from "../../../../lib/sources/bucket/azure-store.ts";
import { googleStore } from "../../../../lib/sources/bucket/google-store.ts";
import {
  googleTokens,
  maxServiceAccountChars,
  readServiceAccount,
} from "../../../../lib/sources/bucket/google-token.ts";
import { ldapCredentials } from "../../../../lib/sources/bucket/ldap-credentials.ts";
import { type Answer, allOf, phase, recordedHttp } from "./recorded-http.ts";

const clock = { now: () => Date.UTC(2026, 0, 1) };
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

describe("a Google service account", () => {
  const key = { type: "service_account", client_email: "reader@project.test", private_key: pem, private_key_id: "k1" };

  test("requests a read-only token once", async () => {
    const { http, sent } = recordedHttp(() => ({ body: JSON.stringify({ access_token: "hunter2" }) }));
    const token = googleTokens(readServiceAccount(JSON.stringify(key)), { http }, clock);
    expect((await token(phase())).reveal()).toBe("hunter2");
    await token(phase());
    expect(sent.map(({ url, method }) => `${method} ${url}`)).toEqual(["POST https://oauth2.googleapis.com/token"]);
    const assertion = new URLSearchParams(Buffer.from(sent[0]?.body ?? "").toString()).get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = assertion.split(".");
    expect(JSON.parse(Buffer.from(head, "base64url").toString())).toEqual({ alg: "RS256", typ: "JWT", kid: "k1" });
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      iss: "reader@project.test",
      scope: "https://www.googleapis.com/auth/devstorage.read_only",
      aud: "https://oauth2.googleapis.com/token",
      iat: clock.now() / 1_000,
    });
    expect(createVerify("sha256").update(`${head}.${claims}`).verify(publicKey, signature, "base64url")).toBe(true);
  });

  test.each([
    ["{", "it is not JSON"],
    ["[]", "it is not the JSON key of a service account: check all fields"],
    [JSON.stringify({ ...key, type: "authorized_user" }), "check type"],
    [JSON.stringify({ ...key, private_key: "hunter2" }), "private_key is not a private key in PEM"],
    [" ".repeat(maxServiceAccountChars + 1), `it has more than ${maxServiceAccountChars} characters`],
  ])("that cannot be parsed is refused without quoting it", (text, why) => {
    expect(() => readServiceAccount(text)).toThrow(RangeError);
    expect(() => readServiceAccount(text)).toThrow(why);
  });

  test("that Google rejects is reported without Google's message", async () => {
    const { http } = recordedHttp(() => ({ status: 400, body: "hunter2" }));
    const token = googleTokens(readServiceAccount(JSON.stringify(key)), { http }, clock);
    await expect(token(phase())).rejects.toThrow("Google gives no token for the credentials: 400 Bad Request");
  });
});

describe("a bucket of Google Cloud Storage", () => {
  const store = (answer: (request: HttpRequest) => Answer) => {
    const { http, sent } = recordedHttp(answer);
    return { sent, of: googleStore("things", async () => new Secret("hunter2"), { http }) };
  };

  test("is listed page by page, with the etags of its objects", async () => {
    const item = (name: string) => ({ name, etag: `e-${name}`, size: "1" });
    const { of, sent } = store(({ url }) => ({
      body: url.includes("pageToken=t")
        ? JSON.stringify({ items: [item("b")] })
        : JSON.stringify({ items: [item("a")], nextPageToken: "t" }),
    }));
    expect(await allOf(of.list("p/", phase()))).toEqual([
      { key: "a", etag: "e-a", size: 1 },
      { key: "b", etag: "e-b", size: 1 },
    ]);
    expect(new URL(sent[0]?.url ?? "").searchParams.get("prefix")).toBe("p/");
    expect(sent[0]?.headers).toMatchObject({ authorization: "Bearer hunter2" });
  });

  test("returns the content of exactly the generation whose etag it reports", async () => {
    const { of, sent } = store(({ url }) => ({
      body: url.includes("alt=media") ? "content" : JSON.stringify({ etag: "e", generation: "7" }),
    }));
    expect(await of.get("a/b c", 100, phase())).toEqual({ bytes: Buffer.from("content"), etag: "e" });
    expect(sent.map(({ url }) => url.replace(/^.*\/b\//, ""))).toEqual([
      "things/o/a%2Fb%20c?fields=etag,generation",
      "things/o/a%2Fb%20c?alt=media&generation=7",
    ]);
    await expect(of.get("a", 3, phase())).rejects.toMatchObject({ reason: "too-large" });
  });

  test.each<[Answer, unknown]>([
    [{ body: "{}" }, true],
    [{ status: 404 }, false],
    [{ status: 403, body: "hunter2" }, "the service account may not read the bucket (403 Forbidden)"],
    [{ status: 500 }, "500 Internal Server Error"],
  ])("exists or not: %j", async (answer, exists) => {
    const { of } = store(() => answer);
    expect(await of.exists(phase()).catch((error: Error) => error.message)).toBe(exists);
  });

  test.each([["{"], ["{}}"], ['{"items":[{"name":"a"}]}']])(
    "with an answer that does not fit the API is refused: %s",
    async (body) => {
      const { of } = store(() => ({ body }));
      await expect(allOf(of.list("", phase()))).rejects.toMatchObject({ reason: "answer" });
    },
  );
});

describe("a container in Azure", () => {
  const store = (
    access: AzureAccess,
    answer: (request: HttpRequest) => Answer,
    endpoint = "https://acme.blob.core.windows.net/",
  ) => {
    const { http, sent } = recordedHttp(answer);
    return { sent, of: azureStore({ http, endpoint: new URL(endpoint), container: "things", access, clock }) };
  };
  const page = (names: readonly string[], marker = "") =>
    `<EnumerationResults><Blobs>${names.map((name) => `<Blob><Name>${name}</Name><Properties><Etag>0x8D</Etag><Content-Length>1</Content-Length></Properties></Blob>`).join("")}</Blobs><NextMarker>${marker}</NextMarker></EnumerationResults>`;

  test("is listed page by page, with plain etags", async () => {
    const { of } = store({ kind: "anonymous" }, ({ url }) => ({
      body: url.includes("marker=m") ? page(["b"]) : page(["a"], "m"),
    }));
    expect(await allOf(of.list("", phase()))).toEqual([
      { key: "a", etag: "0x8D", size: 1 },
      { key: "b", etag: "0x8D", size: 1 },
    ]);
  });

  test("returns an object only with the etag of the listing", async () => {
    const { of, sent } = store({ kind: "anonymous" }, ({ url }) =>
      url.endsWith("/a%20b") ? { headers: { etag: '"0x8D"' }, body: "x" } : { status: 404 },
    );
    expect(await of.get("a b", 10, phase())).toEqual({ bytes: Buffer.from("x"), etag: "0x8D" });
    expect(await of.get("c", 10, phase())).toBeUndefined();
    expect(sent[0]?.headers).not.toHaveProperty("authorization");
  });

  test("is requested with a signature by its account's key, as Azure documents it", async () => {
    const key = Buffer.from("hunter2").toString("base64");
    const { of, sent } = store({ kind: "key", key: new Secret(key) }, () => ({ body: page([]) }));
    await allOf(of.list("p", phase()));
    const text = [
      ...["GET", "", "", "", "", "", "", "", "", "", "", "", "x-ms-date:Thu, 01 Jan 2026 00:00:00 GMT"],
      ...["x-ms-version:2020-10-02", "/acme/things", "comp:list", "maxresults:1000", "prefix:p", "restype:container"],
    ].join("\n");
    const signature = createHmac("sha256", "hunter2").update(text).digest("base64");
    expect(sent[0]?.headers?.["authorization"]).toBe(`SharedKey acme:${signature}`);
  });

  test("is requested with a shared access signature, which no message shows", async () => {
    const { of, sent } = store(
      { kind: "sas", query: new Secret("sig=hunter2&se=x") },
      () => ({ status: 403 }),
      "https://acme.blob.core.windows.net/?sv=1",
    );
    const fault = await of.exists(phase()).catch((error: Error) => error.message);
    expect(fault).toBe("403 Forbidden: the container name may be wrong, or access may be denied");
    expect(new URL(sent[0]?.url ?? "").searchParams.get("sig")).toBe("hunter2");
    expect(new URL(sent[0]?.url ?? "").searchParams.get("sv")).toBe("1");
    await expect(of.get("a", 1, phase(0))).rejects.toThrow(
      'Get "https://acme.blob.core.windows.net/things/a": context',
    );
  });

  test("is requested with a token", async () => {
    const { of, sent } = store({ kind: "token", token: async () => new Secret("hunter2") }, () => ({ body: page([]) }));
    expect(await of.exists(phase())).toBe(true);
    expect(sent[0]?.headers).toMatchObject({ authorization: "Bearer hunter2" });
  });

  test.each<[Answer, unknown]>([
    [{ status: 404 }, false],
    [
      { status: 403, headers: { "x-ms-error-code": "AuthorizationFailure" } },
      "AuthorizationFailure (403 Forbidden): the container name may be wrong, or access may be denied",
    ],
  ])("exists or not: %j", async (answer, exists) => {
    const { of } = store({ kind: "anonymous" }, () => answer);
    expect(await of.exists(phase()).catch((error: Error) => error.message)).toBe(exists);
  });

  test("that sends the same page forever is refused", async () => {
    const { of } = store({ kind: "anonymous" }, () => ({ body: page([], "m") }));
    await expect(allOf(of.list("", phase()))).rejects.toThrow("it has the same page again");
  });
});

describe("credentials for an LDAP user", () => {
  const user = { username: "bob", password: new Secret("hunter2") };
  const given = (inner: string) =>
    `<AssumeRoleWithLDAPIdentityResponse><AssumeRoleWithLDAPIdentityResult><Credentials>${inner}</Credentials></AssumeRoleWithLDAPIdentityResult></AssumeRoleWithLDAPIdentityResponse>`;

  test("are requested with a form", async () => {
    const { http, sent } = recordedHttp(() => ({
      body: given("<AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>"),
    }));
    const found = await ldapCredentials("https://sts.test/", user, { http }, phase());
    expect([found.accessKeyId, found.secretAccessKey.reveal(), found.sessionToken?.reveal()]).toEqual(["A", "S", "T"]);
    expect(Object.fromEntries(new URLSearchParams(Buffer.from(sent[0]?.body ?? "").toString()))).toEqual({
      ...{ Action: "AssumeRoleWithLDAPIdentity", Version: "2011-06-15" },
      ...{ LDAPUsername: "bob", LDAPPassword: "hunter2" },
    });
  });

  test.each<[Answer, string]>([
    [{ status: 403, body: "hunter2" }, "the STS endpoint refuses the user: 403 Forbidden"],
    [{ body: "<a/>" }, "it holds no credentials"],
    [{ body: given("<AccessKeyId>A</AccessKeyId>") }, "it holds no credentials"],
  ])("that STS does not return fail: %j", async (answer, why) => {
    const { http } = recordedHttp(() => answer);
    const fault = await ldapCredentials("https://sts.test/", user, { http }, phase()).catch(
      (error: Error) => error.message,
    );
    expect(fault).toEqual(expect.stringContaining(why));
    expect(fault).not.toEqual(expect.stringContaining("hunter2"));
  });
});
