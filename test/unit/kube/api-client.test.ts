import { describe, expect, test } from "vitest";
import { apiClient, type SentRequest } from "../../../lib/kube/api-client.ts";
import { faultOf } from "../../contract/cluster/fault-of.ts";
import { apiDeps, configOf, fakeApi, readNodes, sendJson } from "./fake-api.ts";
import { outcomeOf } from "./outcome-of.ts";

const { signal } = new AbortController();

describe("requests to an API server", () => {
  test("share kept connections", async () => {
    const sockets = new Set<unknown>();
    await using api = await fakeApi((request, response) => {
      sockets.add(request.socket);
      sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    for (let index = 0; index < 5; index++) await client.send(readNodes, signal);
    expect(sockets.size).toBe(1);
    client.close();
  });

  test("keep the path of the server's address", async () => {
    await using api = await fakeApi((request, response) => {
      sendJson(response, 200, { url: request.url });
    });
    const client = apiClient(configOf(new URL("/k8s/clusters/c-1/", api.url)), apiDeps);
    const { text } = await client.send(
      { ...readNodes, query: { labelSelector: "a in (b)", limit: undefined } },
      signal,
    );
    expect(JSON.parse(text)).toEqual({ url: "/k8s/clusters/c-1/api/v1/nodes?labelSelector=a+in+%28b%29" });
    client.close();
  });

  test("are not sent if fetching the credentials has used up their time", async () => {
    let requests = 0;
    await using api = await fakeApi((_, response) => {
      requests++;
      sendJson(response, 200, {});
    });
    // Each look at the clock is 6 s after the one before, as a slow credential plug-in would make it.
    let now = 0;
    const clock = { ...apiDeps.clock, monotonic: () => (now += 6_000) };
    const client = apiClient(configOf(api.url), { ...apiDeps, clock, limitMs: 5_000 });
    expect(await faultOf(client.send(readNodes, signal))).toMatchObject({ reason: "Unreachable" });
    expect(requests).toBe(0);
    client.close();
  });

  test("are counted by verb", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(response, 200, {});
    });
    const sent: SentRequest[] = [];
    const client = apiClient(configOf(api.url), { ...apiDeps, observe: (request) => sent.push(request) });
    await client.send({ ...readNodes, query: { dryRun: "All" } }, signal);
    expect(sent).toEqual([{ verb: "get", dryRun: true, path: "/api/v1/nodes", status: 200 }]);
    client.close();
  });

  test.each([
    { repeatable: true, requests: 3, outcome: 200 },
    { repeatable: false, requests: 2, outcome: "Unreachable" },
  ])("on a kept connection that the server has closed are sent again if repeatable is $repeatable", async (row) => {
    let requests = 0;
    await using api = await fakeApi((request, response) => {
      requests++;
      if (requests === 2) request.socket.resetAndDestroy();
      else sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    await client.send(readNodes, signal);
    const second = client.send({ ...readNodes, repeatable: row.repeatable }, signal);
    expect(await outcomeOf(second)).toBe(row.outcome);
    expect(requests).toBe(row.requests);
    client.close();
  });

  test.each([
    { name: "429 with a time", status: 429, headers: { "retry-after": "0" }, repeatable: false, requests: 2 },
    {
      name: "503 with a time, repeatable",
      status: 503,
      headers: { "retry-after": "0" },
      repeatable: true,
      requests: 2,
    },
    {
      name: "503 with a time, not repeatable",
      status: 503,
      headers: { "retry-after": "0" },
      repeatable: false,
      requests: 1,
    },
    { name: "500 without a time", status: 500, headers: {}, repeatable: true, requests: 1 },
  ])("answered $name are sent $requests times", async ({ status, headers, repeatable, requests }) => {
    let count = 0;
    await using api = await fakeApi((_, response) => {
      count++;
      if (count === 1) sendJson(response, status, {}, headers);
      else sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    const answer = await client.send({ ...readNodes, repeatable }, signal);
    expect(answer.status).toBe(requests === 2 ? 200 : status);
    expect(count).toBe(requests);
    client.close();
  });

  test.each([
    { name: "repeatable", repeatable: true, requests: 3, outcome: 200 },
    { name: "not repeatable", repeatable: false, requests: 1, outcome: "Unreachable" },
  ])("whose connection breaks are sent $requests times if they are $name", async (row) => {
    let count = 0;
    await using api = await fakeApi((_, response) => {
      if (++count < 3) response.destroy();
      else sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await outcomeOf(client.send({ ...readNodes, repeatable: row.repeatable }, signal))).toBe(row.outcome);
    expect(count).toBe(row.requests);
    client.close();
  });

  test("fail at once if Retry-After exceeds their limit, and name the wait", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(
        response,
        429,
        { kind: "Status", reason: "TooManyRequests", message: "slow down", code: 429 },
        { "retry-after": "60" },
      );
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await faultOf(client.expect(readNodes, signal))).toMatchObject({
      code: 429,
      message: "slow down",
      retryAfterMs: 60_000,
    });
    client.close();
  });

  test("end if no answer comes in time", async () => {
    await using api = await fakeApi(() => {});
    // As if nothing before the request took time.
    const clock = { ...apiDeps.clock, monotonic: () => 0 };
    const client = apiClient(configOf(api.url), { ...apiDeps, clock, limitMs: 50 });
    const error = await faultOf(client.send(readNodes, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toContain("no answer within 0.05s");
    client.close();
  });

  test("end in time if an answer starts and stalls", async () => {
    const limitMs = 500;
    let now = 0;
    await using api = await fakeApi((_, response) => {
      now = limitMs;
      response.writeHead(200).write("{");
    });
    const clock = { ...apiDeps.clock, monotonic: () => now };
    const client = apiClient(configOf(api.url), { ...apiDeps, clock, limitMs });
    expect((await faultOf(client.send(readNodes, signal))).message).toContain("no answer within 0.5s");
    client.close();
  });

  test("end with the reason of their signal", async () => {
    const stop = new AbortController();
    const reason = new Error("lease lost");
    await using api = await fakeApi(() => {
      stop.abort(reason);
    });
    const client = apiClient(configOf(api.url), apiDeps);
    await expect(client.send(readNodes, stop.signal)).rejects.toBe(reason);
    client.close();
  });

  test("to an address without a listener fail with address and context", async () => {
    const client = apiClient(configOf(new URL("http://127.0.0.1:1")), apiDeps);
    const error = await faultOf(client.send(readNodes, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toBe(
      "the cluster at http://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; check the server of context test and that it runs",
    );
  });

  test("report an answer of a proxy with its code and text", async () => {
    await using api = await fakeApi((_, response) => {
      response.writeHead(403).end("<html>denied by proxy</html>");
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await faultOf(client.expect(readNodes, signal))).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: "<html>denied by proxy</html>",
    });
    client.close();
  });
});
