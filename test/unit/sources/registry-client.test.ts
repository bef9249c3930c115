import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { forever, give, manifest, refuse, scriptedRegistry } from "./scripted-registry.ts";

const credentials = { username: "robot", password: new Secret("hunter2") };
const registry = scriptedRegistry();

describe("logging in to a registry", () => {
  test("sends name and password if the registry asks for them", async () => {
    registry.answers["HEAD /v2/app/manifests/v1"] = (request, response) => {
      const isKnown = request.headers.authorization === `Basic ${Buffer.from("robot:hunter2").toString("base64")}`;
      if (isKnown) give(request, response);
      else refuse(401, { "www-authenticate": 'Basic realm="r"' })(request, response);
    };
    expect(await registry.client({ credentials }).digestOfTag("app", "v1", forever)).toBe(digestOf(manifest));
    expect(
      registry.asked.filter(({ what }) => what.startsWith("HEAD")).map(({ authorization }) => authorization),
    ).toEqual([undefined, expect.stringMatching(/^Basic /)]);
  });

  test("gets a token from the service that the registry names, also for anonymous clients", async () => {
    const challenge = `Bearer realm="http://${registry.host}/token",service="reg",scope="repository:app:pull"`;
    registry.answers["GET /token"] = (_request, response) => response.end('{"token":"t1"}');
    for (const reference of ["v1", "v2"]) {
      registry.answers[`HEAD /v2/app/manifests/${reference}`] = (request, response) => {
        if (request.headers.authorization === "Bearer t1") give(request, response);
        else refuse(401, { "www-authenticate": challenge })(request, response);
      };
    }
    const connected = registry.client();
    await connected.digestOfTag("app", "v1", forever);
    await connected.digestOfTag("app", "v2", forever);
    const tokens = registry.asked.filter(({ what }) => what.startsWith("GET /token"));
    expect(tokens).toEqual([
      { what: "GET /token?scope=repository%3Aapp%3Apull&service=reg", authorization: undefined },
    ]);
  });

  const basic = `Basic ${Buffer.from("robot:hunter2").toString("base64")}`;
  test.each([
    { challenge: 'Bearer realm="REALM",service="reg",scope="s"', query: "?scope=s&service=reg" },
    { challenge: 'bearer realm="REALM"', query: "" },
    {
      challenge: 'BEARER Realm="REALM", Scope="repository:app:pull,push"',
      query: "?scope=repository%3Aapp%3Apull%2Cpush",
    },
    { challenge: 'Basic realm="x", Bearer realm="REALM",service=reg', query: "?service=reg" },
    { challenge: 'Bearer realm="REALM",service="a \\"b\\"", Basic realm="x"', query: "?service=a+%22b%22" },
    { challenge: 'Bearer realm="REALM?own=1&x=%26",service="r&d"', query: "?own=1&service=r%26d&x=%26" },
  ])("with the challenge $challenge requests the token from its realm, with and without credentials", async (each) => {
    for (const answer of ['{"token":"t1"}', '{"access_token":"t1"}', '{"token":"t1","access_token":"t2"}']) {
      registry.answers["GET /token"] = (_request, response) => response.end(answer);
      registry.answers["HEAD /v2/app/manifests/v1"] = (request, response) => {
        if (request.headers.authorization === "Bearer t1") give(request, response);
        else {
          const challenge = each.challenge.replace("REALM", `http://${registry.host}/token`);
          refuse(401, { "www-authenticate": challenge })(request, response);
        }
      };
      for (const access of [{}, { credentials }]) {
        registry.asked.length = 0;
        await registry.client(access).digestOfTag("app", "v1", forever);
        expect(registry.asked.filter(({ what }) => what.startsWith("GET /token"))).toEqual([
          { what: `GET /token${each.query}`, authorization: "credentials" in access ? basic : undefined },
        ]);
      }
    }
  });

  test("never sends credentials to an address without TLS if the registry has TLS", async () => {
    const challenge = 'Bearer realm="ftp://elsewhere.example/token"';
    registry.answers["HEAD /v2/app/manifests/v1"] = refuse(401, { "www-authenticate": challenge });
    await expect(registry.client({ credentials }).digestOfTag("app", "v1", forever)).rejects.toThrow("not https");
  });

  test("a refusal is reported without the password", async () => {
    const body = '{"errors":[{"code":"UNAUTHORIZED","message":"authentication required","detail":null}]}';
    for (const method of ["HEAD", "GET"]) {
      registry.answers[`${method} /v2/app/manifests/v1`] = refuse(401, { "www-authenticate": "Basic" }, body);
    }
    const error = await registry
      .client({ credentials })
      .digestOfTag("app", "v1", forever)
      .catch((thrown: unknown) => String(thrown));
    expect(error).toContain(`GET http://${registry.host}/v2/app/manifests/v1: UNAUTHORIZED: authentication required`);
    expect(error).not.toContain("hunter2");
  });
});

test.each(["signature", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "sig", "se", "token", "_state"])(
  "the parameter %s of a signed URL is not shown",
  async (name) => {
    const digest = digestOf("content");
    registry.answers["POST /v2/app/blobs/uploads/"] = refuse(202, { location: `/upload/1?${name}=hunter2&n=3` });
    registry.answers["PUT /upload/1"] = refuse(403);
    const work = registry.client().pushBlob("app", Buffer.from("content"), forever);
    await expect(work).rejects.toThrow(
      `PUT http://${registry.host}/upload/1?${name}=REDACTED&n=3&digest=${encodeURIComponent(digest)}`,
    );
  },
);

describe("redirects of a registry", () => {
  test("for a blob are followed without the credentials", async () => {
    const elsewhere = createServer((request, response) => response.end(request.headers.authorization ?? "content"));
    const port = await portOnLoopback(elsewhere);
    const digest = digestOf("content");
    registry.answers[`GET /v2/app/blobs/${digest}`] = (request, response) => {
      if (request.headers.authorization === undefined) refuse(401, { "www-authenticate": "Basic" })(request, response);
      else refuse(307, { location: `http://127.0.0.1:${port}/signed?X=secret` })(request, response);
    };
    const bytes = await registry.client({ credentials }).blob("app", digest, 100, forever);
    expect(Buffer.from(bytes).toString()).toBe("content");
    elsewhere.closeAllConnections();
    elsewhere.close();
  });

  test("in a cycle, and to other protocols, are not followed", async () => {
    const digest = digestOf("content");
    registry.answers[`GET /v2/app/blobs/${digest}`] = refuse(302, { location: `/v2/app/blobs/${digest}` });
    await expect(registry.client().blob("app", digest, 100, forever)).rejects.toThrow("too many redirects");
    registry.answers[`GET /v2/app/blobs/${digest}`] = refuse(302, { location: "file:///etc/passwd" });
    await expect(registry.client().blob("app", digest, 100, forever)).rejects.toThrow(
      "an address that is not followed",
    );
  });
});

test("an aborted run aborts its requests to a registry", async () => {
  const stop = new AbortController();
  registry.answers["GET /v2/app/blobs/x"] = () => stop.abort(new Error("the run has ended"));
  await expect(registry.client().blob("app", "x", 100, stop.signal)).rejects.toThrow("the run has ended");
});

test("a kept connection that the server has closed is opened again", async () => {
  registry.answers["HEAD /v2/app/manifests/v1"] = give;
  const connected = registry.client();
  await connected.digestOfTag("app", "v1", forever);
  registry.closeConnections();
  expect(await connected.digestOfTag("app", "v1", forever)).toBe(digestOf(manifest));
});

test.each([
  ['</next>; rel="next"', true],
  ["</next>; rel=next", true],
  ['</next>; title="a b"; rel="next"', true],
  ['</before>; rel="prev", </next>; rel="next"', true],
  ['</next>; rel="next", </last>; rel="last"', true],
  ['</before>; rel="prev"', false],
  ['</first>; rel="first", </last>; rel="last"', false],
  ["", false],
])("further pages of tags are taken only from the header Link: %s", async (link, goesOn) => {
  registry.answers["GET /v2/app/tags/list"] = (_request, response) =>
    response.writeHead(200, link === "" ? {} : { link }).end('{"tags":["a"]}');
  registry.answers["GET /next"] = (_request, response) => response.end('{"tags":["b"]}');
  expect(await registry.client().tags("app", forever)).toEqual(goesOn ? ["a", "b"] : ["a"]);
});

describe("a registry that does not speak TLS", () => {
  /** A client of every host, and the protocols by which it was asked. */
  function connecting() {
    const asked: string[] = [];
    const connect = registryClients(
      {
        send: async ({ url }) => {
          asked.push(new URL(url).protocol);
          if (url.startsWith("https:")) throw new HttpError("unreachable", "connection refused");
          return { url, status: 200, headers: {}, body: Buffer.from('{"tags":["a"]}') };
        },
      },
      { now: () => 0, monotonic: () => 0, sleep: async () => undefined },
    );
    const tags = async (host: string, insecure = false): Promise<readonly string[]> => {
      asked.length = 0;
      await connect({ host, insecure })
        .tags("app", forever)
        .catch(() => undefined);
      return [...new Set(asked)];
    };
    return { tags };
  }
  const [local, secure] = [["https:", "http:"], ["https:"]];

  test.each([
    ["localhost", local],
    ["localhost:5000", local],
    ["localhost.example.com", secure],
    ["my-localhost", secure],
    ["127.0.0.1:5000", local],
    ["127.0.0.11", secure],
    ["[::1]:5000", local],
    ["reg.local", local],
    ["reg.localhost:5000", local],
    ["reg.local.example.com", secure],
    ["10.1.2.3", local],
    ["10.example.com", secure],
    ["110.1.2.3", secure],
    ["172.15.0.1", secure],
    ["172.16.0.1", local],
    ["172.20.0.1:5000", local],
    ["172.31.0.1", local],
    ["172.32.0.1", secure],
    ["192.168.1.1", local],
    ["192.169.1.1", secure],
    ["reg.example.com", secure],
  ])("is called over plain HTTP at %s: %j", async (host, protocols) => {
    expect(await connecting().tags(host)).toEqual(protocols);
    expect(await connecting().tags(host, true)).toEqual(local);
  });

  test("is called over plain HTTP only for objects that allow it, whichever runs first", async () => {
    const { tags } = connecting();
    expect(await tags("reg.example.com", true)).toEqual(local);
    expect(await tags("reg.example.com")).toEqual(secure);
    expect(await tags("reg.example.com", true)).toEqual(local);
  });
});
