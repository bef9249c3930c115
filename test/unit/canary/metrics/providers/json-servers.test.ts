import { describe, expect, test } from "vitest";
import { askedOf, serverWorld } from "./server-world.ts";

describe("datadog", () => {
  const secret = { datadog_api_key: "k", datadog_application_key: "a" };
  const ask = (body: string, status = 200) => serverWorld({ type: "datadog" }, { secret, answers: [{ body, status }] });

  test("is queried for ten intervals, and its oldest point counts", async () => {
    const world = ask('{"series":[{"pointlist":[[1577232000000,29325.1],[1577318400000,2]]},{"pointlist":[[1,3]]}]}');
    expect(await world.query("avg:system.cpu.user{*} by {host}")).toBe(29_325.1);
    expect(askedOf(world)).toEqual([
      {
        asked:
          "GET https://api.datadoghq.com/api/v1/query?from=1795348200&query=avg%3Asystem.cpu.user%7B%2A%7D+by+%7Bhost%7D&to=1795348800",
        headers: { "dd-api-key": "k", "dd-application-key": "a" },
      },
    ]);
  });

  test.each([
    ['{"series":[]}'],
    ['{"series":[{"pointlist":[]}]}'],
    ['{"series":[{"pointlist":[[]]}]}'],
    ['{"series":[{"pointlist":[[1577232000000,null]]}]}'],
  ])("has no values in %s", async (body) => {
    expect(await ask(body).query("q")).toBe(`none: invalid response: ${body}: no values found`);
  });

  test.each([
    ["<html>", 200, /^error unmarshaling result: .*, '<html>'$/s],
    ['{"series":[{"pointlist":[["a","b"]]}]}', 200, /^error unmarshaling result: /],
    ['{"errors":["Forbidden"]}', 403, /^error response: \{"errors":\["Forbidden"\]\}: 403 Forbidden$/],
  ])("reports an unexpected answer: %s", async (body, status, text) => {
    expect(await ask(body, status).query("q")).toMatch(text);
  });

  test("counts as online if it accepts the keys, at the address of the provider", async () => {
    const address = "https://api.datadoghq.eu";
    const online = serverWorld({ type: "datadog", address }, { secret, answers: [{}] });
    expect([await online.probe(), askedOf(online)[0]?.asked]).toEqual([
      "online",
      "GET https://api.datadoghq.eu/api/v1/validate",
    ]);
    expect(await ask("no", 403).probe()).toBe("error response: no");
  });

  test.each([
    [{}, "1m", "datadog credentials does not contain datadog_api_key"],
    [{ datadog_api_key: "k" }, "1m", "datadog credentials does not contain datadog_application_key"],
    [secret, "", 'error parsing metric interval: time: invalid duration ""'],
  ])("needs keys and an interval: %#", async (given, interval, text) => {
    expect(await serverWorld({ type: "datadog" }, { secret: given, interval }).query("q")).toBe(text);
  });
});

describe("newrelic", () => {
  const secret = { newrelic_account_id: "51312", newrelic_query_key: "k" };
  const ask = (body: string, status = 200) =>
    serverWorld({ type: "newrelic" }, { secret, answers: [{ body, status }] });

  test("is queried for one interval", async () => {
    const world = ask('{"results":[{"result":11.5}]}');
    expect(await world.query("SELECT sum(nginx_ingress)")).toBe(11.5);
    expect(askedOf(world)).toEqual([
      {
        asked:
          "GET https://insights-api.newrelic.com/v1/accounts/51312/query?nrql=SELECT+sum%28nginx_ingress%29+SINCE+60+seconds+ago",
        headers: { "x-query-key": "k" },
      },
    ]);
  });

  test.each([
    ['{"results":[]}'],
    ['{"results":[{"result":1},{"result":2}]}'],
    ['{"results":[{"result":null}]}'],
    ["{}"],
  ])("has no values in %s", async (body) => {
    expect(await ask(body).query("q")).toBe(`none: invalid response: ${body}: no values found`);
  });

  test("reports an unexpected answer", async () => {
    expect(await ask("no", 403).query("q")).toBe("error response: no");
    expect(await ask('{"results":[{"result":"a"}]}').query("q")).toMatch(/^error unmarshaling result: /);
  });

  test("is online if it accepts a query", async () => {
    const world = ask("{}");
    expect([await world.probe(), askedOf(world)[0]?.asked]).toEqual([
      "online",
      "GET https://insights-api.newrelic.com/v1/accounts/51312/query?nrql=SELECT+%2A+FROM+Metric+SINCE+60+seconds+ago",
    ]);
    expect(await ask("no", 500).probe()).toBe("error response: no");
  });

  test.each([
    [{}, "newrelic credentials does not contain the key 'newrelic_account_id'"],
    [{ newrelic_account_id: "1" }, "newrelic credentials does not contain the key ''newrelic_query_key"],
  ])("needs account and key: %#", async (given, text) => {
    expect(await serverWorld({ type: "newrelic" }, { secret: given }).query("q")).toBe(text);
  });
});

describe("dynatrace", () => {
  const provider = { type: "dynatrace", address: "https://abc.live.dynatrace.com" } as const;
  const secret = { dynatrace_token: "t" };
  const ask = (body: string, status = 200) => serverWorld(provider, { secret, answers: [{ body, status }] });

  test("is queried for ten intervals, and the first value of the last series counts", async () => {
    const world = ask('{"result":[{"data":[{"values":[1]},{"timestamps":[1],"values":[6.78,2]}]},{"data":[]}]}');
    expect(await world.query("builtin:service.keyRequest.totalProcessingTime:avg")).toBe(6.78);
    expect(askedOf(world)).toEqual([
      {
        asked:
          "GET https://abc.live.dynatrace.com/api/v2/metrics/query?from=1795348200000&metricSelector=builtin%3Aservice.keyRequest.totalProcessingTime%3Aavg&resolution=Inf&to=1795348800000",
        headers: { authorization: "Api-Token t" },
      },
    ]);
  });

  test.each([['{"result":[]}'], ['{"result":[{"data":[]}]}'], ['{"result":[{"data":[{"values":[null]}]}]}']])(
    "has no values in %s",
    async (body) => {
      expect(await ask(body).query("q")).toBe(`none: invalid response: ${body}: no values found`);
    },
  );

  test("reports an unexpected answer, and whether it is online", async () => {
    expect(await ask("no", 401).query("q")).toBe("error response: no");
    const world = ask("{}");
    expect([await world.probe(), askedOf(world)[0]?.asked]).toEqual([
      "online",
      "GET https://abc.live.dynatrace.com/api/v2/metrics?pageSize=1",
    ]);
    expect(await ask("no", 401).probe()).toBe("error response: no");
  });

  test("needs an address and a token", async () => {
    expect(await serverWorld({ type: "dynatrace" }, { secret }).query("q")).toBe("dynatrace endpoint is not set");
    expect(await serverWorld(provider, { secret: {} }).query("q")).toBe(
      "dynatrace credentials does not contain dynatrace_token",
    );
  });
});

describe("graphite", () => {
  const provider = { type: "graphite", address: "http://graphite.example.com/base/" } as const;
  const ask = (body: string, status = 200) => serverWorld(provider, { answers: [{ body, status }] });

  test("is queried through its render API, and the last point with a value counts", async () => {
    const body =
      '[{"target":"a","datapoints":[[1,100],[2.5,200]]},{"target":"b","datapoints":[["7",300],[null,9999999999]]}]';
    const world = serverWorld(provider, { secret: { username: "u", password: "p" }, answers: [{ body }] });
    expect(await world.query("target=sum(\n  a, b)&until=now&from=-5min&format=csv&target=c")).toBe(7);
    expect(askedOf(world)).toEqual([
      {
        asked:
          "GET http://graphite.example.com/base/render?format=json&from=-5min&target=sum%28+a%2C+b%29&target=c&until=now",
        headers: { authorization: "Basic dTpw" },
      },
    ]);
  });

  test.each([["[]"], ['[{"datapoints":[]}]'], ['[{"datapoints":[[null,1]]}]'], ["null"]])(
    "has no values in %s",
    async (body) => {
      expect(await ask(body).query("target=a")).toBe("none: no values found");
      expect(await ask(body).probe()).toBe("online");
    },
  );

  test.each([
    ['[{"datapoints":[[1]]}]', 200, /^error unmarshaling result: /],
    ['[{"datapoints":[["x",1]]}]', 200, /^error unmarshaling result: strconv\.ParseFloat: parsing "x": invalid syntax/],
    ['[{"datapoints":[[true,1]]}]', 200, /^error unmarshaling result: /],
    ["no", 400, /^error response: no$/],
  ])("reports an unexpected answer: %s", async (body, status, text) => {
    expect(await ask(body, status).query("target=a")).toMatch(text);
    expect(await ask(body, status).probe()).toMatch(/^running query failed: /);
  });

  test("needs an address, and a username with a password", async () => {
    expect(await serverWorld({ type: "graphite" }).query("q")).toBe("graphite address  is not a valid URL");
    expect(await serverWorld(provider, { secret: { username: "u" } }).query("q")).toBe(
      "graphite credentials does not contain a password",
    );
  });
});
