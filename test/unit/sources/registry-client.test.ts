import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { forever, give, manifest, refuse, scriptedRegistry } from "./scripted-registry.ts";

const credentials = { username: "robot", password: new Secret("hunter2") };
const registry = scriptedRegistry();

describe("logging in", () => {
  test("with a name and a password, if the registry asks for them", async () => {
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

  test("with a token from the service that the registry names, also for anonymous clients", async () => {
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
      { what: "GET /token?service=reg&scope=repository%3Aapp%3Apull", authorization: undefined },
    ]);
  });

  test("never by sending credentials to an address without TLS if the registry has TLS", async () => {
    const challenge = 'Bearer realm="ftp://elsewhere.example/token"';
    registry.answers["HEAD /v2/app/manifests/v1"] = refuse(401, { "www-authenticate": challenge });
    await expect(registry.client({ credentials }).digestOfTag("app", "v1", forever)).rejects.toThrow("not https");
  });

  test("a refusal is shown without the password", async () => {
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

test("the parameters of a signed URL are not shown", async () => {
  const digest = digestOf("content");
  registry.answers["POST /v2/app/blobs/uploads/"] = refuse(202, { location: "/upload/1?signature=hunter2&n=3" });
  registry.answers["PUT /upload/1"] = refuse(403);
  const work = registry.client().pushBlob("app", Buffer.from("content"), forever);
  await expect(work).rejects.toThrow(
    `PUT http://${registry.host}/upload/1?signature=REDACTED&n=3&digest=${encodeURIComponent(digest)}`,
  );
});

describe("redirects", () => {
  test("of a blob are followed without the credentials", async () => {
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

test("the end of a run stops its requests", async () => {
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
