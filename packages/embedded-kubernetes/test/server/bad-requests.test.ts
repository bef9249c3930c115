import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject } from "../../src/core/json.ts";
import { maxBodyBytes } from "../../src/server/exchange.ts";
import { type Answer, type RawKubernetes, rawKubernetes } from "./raw-kubernetes.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
let kubernetes: RawKubernetes;
beforeAll(async () => {
  kubernetes = await rawKubernetes();
});
afterAll(async () => {
  await kubernetes.close();
});

describe("bad requests are answered clearly", () => {
  test("a body above 3 MiB gets 413, announced or not", async () => {
    const large = "x".repeat(maxBodyBytes + 1);
    const json = { "content-type": "application/json" };
    const tooLarge = { status: 413, reason: "RequestEntityTooLarge" };
    expect(summary(await kubernetes.call("POST", configMaps, large, json))).toMatchObject(tooLarge);
    expect(
      summary(await kubernetes.call("POST", configMaps, large, { ...json, "transfer-encoding": "chunked" })),
    ).toMatchObject(tooLarge);
    // Up to it a body is read, and found to be no JSON.
    for (const bytes of [maxBodyBytes - 1, maxBodyBytes]) {
      const answer = await kubernetes.call("POST", configMaps, "x".repeat(bytes), json);
      expect(summary(answer)).toMatchObject({ status: 400, reason: "BadRequest" });
    }
  });

  test.each([
    { name: "JSON that breaks off", type: "application/json", body: '{"kind":' },
    { name: "YAML that does not parse", type: "application/yaml", body: "a: [" },
    { name: "JSON nested 5,000 levels deep", type: "application/json", body: "[".repeat(5000) + "]".repeat(5000) },
    { name: "YAML of nine levels of aliases", type: "application/yaml", body: aliasBomb() },
  ])("$name gets 400", async ({ type, body }) => {
    const answer = await kubernetes.call("POST", configMaps, body, { "content-type": type });
    expect(summary(answer)).toMatchObject({ status: 400, reason: "BadRequest" });
  });

  test("headers above 32 KiB are refused, and the server continues", async () => {
    const { status } = await kubernetes.call("GET", "/version", "", { "x-large": "x".repeat(40_000) });
    expect(status).toBe(431);
    expect((await kubernetes.call("GET", "/version")).status).toBe(200);
  });

  test("a client that aborts its request does no harm", async () => {
    const socket = connect(kubernetes.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{");
    socket.destroy();
    expect((await kubernetes.call("GET", "/version")).status).toBe(200);
    expect(kubernetes.failures).toEqual([]);
  });

  test.each([
    { name: "empty", body: "{}" },
    { name: "only a beginning", body: "k8s\0\n" },
    { name: "one that breaks off", body: "k8s\0\n\u0020v1" },
  ])("a protobuf body that is $name gets 400", async ({ body }) => {
    const protobuf = { "content-type": "application/vnd.kubernetes.protobuf" };
    expect(summary(await kubernetes.call("POST", configMaps, body, protobuf))).toMatchObject({
      status: 400,
      reason: "BadRequest",
    });
  });

  test("a protobuf body of an unsupported kind gets 415 and says what to send instead", async () => {
    const body = "k8s\0\n\u0015\n\u0007apps/v1\u0012\nDeployment\u0012\u0000";
    const answer = await kubernetes.call("POST", "/apis/apps/v1/namespaces/default/deployments", body, {
      "content-type": "application/vnd.kubernetes.protobuf",
    });
    expect(summary(answer)).toMatchObject({
      status: 415,
      message: expect.stringContaining("--dry-run=client -o yaml"),
    });
  });

  test("logs of a Pod are refused by name", async () => {
    const answer = summary(await kubernetes.call("GET", "/api/v1/namespaces/default/pods/a/log"));
    expect(answer).toMatchObject({ status: 501, message: expect.stringContaining("runs no containers") });
  });
});

/** The code of an answer, with reason and message where it is a Status. */
function summary({ status, text: body }: Answer): object {
  const document: unknown = JSON.parse(body);
  return isJsonObject(document) ? { ...document, status } : { status };
}

function aliasBomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`,
  );
  return ["l0: &l0 [x]", ...levels].join("\n");
}
