import { expect, test } from "vitest";
import { canaryServersOf } from "../../../functions/canary-servers.ts";
import type { CloudWatch } from "../../../lib/core/ports/cloud-watch.ts";
import { type Http, HttpError } from "../../../lib/core/ports/http.ts";
import type { ServiceProxy } from "../../../lib/core/ports/service-proxy.ts";
import { noHelm } from "../../doubles/no-helm.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const url = "http://prometheus.monitoring:9090/api/v1/query?query=up";

/** Two clusters whose Canaries reach Services of `monitoring`. */
function world() {
  const sent: string[] = [];
  const clock = steppedClock();
  const answer = (place: string): ServiceProxy["send"] => {
    return async (_service, request) => {
      sent.push(`${place} ${new URL(request.url).search}`);
      return { url: request.url, status: 200, headers: {}, body: Buffer.from(`${sent.length}`) };
    };
  };
  const http: Http = {
    async send(request) {
      sent.push(`outside ${request.url}`);
      throw new HttpError("unreachable", "GET x: down");
    },
  };
  const of = canaryServersOf({ http, clock, namespaces: ["monitoring"], engine: noHelm });
  const [first, second] = ["first", "second"].map((id) => of({ id, services: { send: answer(id) } }).canaryHttp);
  if (first === undefined || second === undefined) throw new Error("there are two clusters");
  const ask = async (way: Http, change: object = {}): Promise<string> => {
    const { body } = await way.send({ method: "GET", url, timeoutMs: 1_000, maxBytes: 1_000, ...change }, signal);
    return Buffer.from(body).toString();
  };
  return { ask, clock, first, second, sent };
}

test("one metric query serves all Canaries that send the same query to the same server within a second", async () => {
  const { ask, clock, first, sent } = world();
  expect(await Promise.all([ask(first.shared(["apps"])), ask(first.shared(["other"]))])).toEqual(["1", "1"]);
  clock.pass(999);
  expect(await ask(first.shared(["apps"]))).toBe("1");
  clock.pass(1);
  expect(await ask(first.shared(["apps"]))).toBe("2");
  expect(sent).toHaveLength(2);
});

test("one metric query serves all of them, even if hundreds of Canaries send other queries in between", async () => {
  const { ask, clock, first, sent } = world();
  const way = first.shared(["apps"]);
  expect(await ask(way)).toBe("1");
  for (let other = 0; other < 500; other++) await ask(way, { url: `${url}${other}` });
  clock.pass(999);
  expect(await ask(first.shared(["other"]))).toBe("1");
  expect(sent).toHaveLength(501);
});

test("another query, login or cluster gets a separate answer", async () => {
  const { ask, first, second, sent } = world();
  const way = first.shared(["apps"]);
  await ask(way);
  await ask(way, { url: `${url}2` });
  await ask(way, { headers: { "x-api-key": "k" } });
  await ask(second.shared(["apps"]));
  expect(sent).toEqual(["first ?query=up", "first ?query=up2", "first ?query=up", "second ?query=up"]);
});

test("a shared answer is given only to namespaces that may send the query", async () => {
  const { ask, first, sent } = world();
  const own = { url: "http://prometheus.apps.svc:9090/?query=up" };
  await ask(first.shared(["apps"]), own);
  await expect(ask(first.shared(["other"]), own)).rejects.toThrow("does not list namespace apps");
  expect(sent).toHaveLength(1);
});

test("a server that does not answer is queried again", async () => {
  const { ask, first, sent } = world();
  const elsewhere = { url: "https://prom.example.com/" };
  await expect(ask(first.shared(["apps"]), elsewhere)).rejects.toThrow("down");
  await expect(ask(first.shared(["apps"]), elsewhere)).rejects.toThrow("down");
  expect(sent).toHaveLength(2);
});

test("answers of webhooks are not shared", async () => {
  const { ask, first, sent } = world();
  await ask(first.of(["apps"]));
  await ask(first.of(["apps"]));
  expect(sent).toHaveLength(2);
});

test("answers of CloudWatch are shared too, separately for each cluster and namespace", async () => {
  const clock = steppedClock();
  const asked: string[] = [];
  const http: Http = { send: () => Promise.reject(new Error("the test did not expect a request")) };
  const cloudWatchOf = (cluster: string): CloudWatch => ({
    async metricData({ namespace, endMs }) {
      asked.push(`${cluster} ${namespace} ${endMs}`);
      return [[asked.length]];
    },
  });
  const of = canaryServersOf({ http, clock, namespaces: [], cloudWatchOf, engine: noHelm });
  const ask = (id: string, namespace: string, endMs: number) =>
    of({ id }).metricServers.cloudWatch?.metricData(
      { namespace, region: "eu-west-1", queries: [], startMs: endMs - 600_000, endMs, maxDatapoints: 20 },
      signal,
    );
  expect(await ask("first", "apps", 1_000_000)).toEqual([[1]]);
  expect(await ask("first", "apps", 1_000_400)).toEqual([[1]]);
  await ask("first", "other", 1_000_400);
  await ask("second", "apps", 1_000_400);
  clock.pass(1_000);
  await ask("first", "apps", 1_001_000);
  expect(asked).toEqual(["first apps 1000000", "first other 1000400", "second apps 1000400", "first apps 1001000"]);
});
