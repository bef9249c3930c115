import { expect, test } from "vitest";
import { canaryRights } from "../../../lib/definitions/canary-rights.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { apiDeps, configOf, fakeApi, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const metric = { namespace: "apps", name: "queue/length", labelSelector: "queue in (a,b)" };

test("an external metric is requested by its path, without discovery", async () => {
  const sent: string[] = [];
  await using api = await fakeApi((request, response) => {
    sent.push(`${request.method} ${request.url}`);
    sendJson(response, 200, { kind: "ExternalMetricValueList", items: [{ value: "1" }] });
  });
  const cluster = connect(configOf(api.url), apiDeps);
  expect(await cluster.externalMetrics.values(metric, signal)).toMatchObject({ items: [{ value: "1" }] });
  await cluster.externalMetrics.values({ ...metric, name: "m", labelSelector: "" }, signal);
  cluster.close();
  expect(sent).toEqual([
    "GET /apis/external.metrics.k8s.io/v1beta1/namespaces/apps/queue%2Flength?labelSelector=queue+in+%28a%2Cb%29",
    "GET /apis/external.metrics.k8s.io/v1beta1/namespaces/apps/m",
  ]);
});

test("an external metric is read with the rights of the named user", async () => {
  const users: unknown[] = [];
  await using api = await fakeApi(({ headers }, response) => {
    users.push(headers["impersonate-user"]);
    sendJson(response, 200, { items: [] });
  });
  const cluster = connect(configOf(api.url), apiDeps);
  await cluster.externalMetrics.values({ ...metric, user: "system:serviceaccount:apps:deployer" }, signal);
  await cluster.externalMetrics.values(metric, signal);
  cluster.close();
  expect(users).toEqual(["system:serviceaccount:apps:deployer", undefined]);
});

test("the right to read external metrics is one of those that the steps of a Canary need", async () => {
  const verbs: string[] = [];
  await using api = await fakeApi((_request, response) => sendJson(response, 200, { items: [] }));
  const cluster = connect(configOf(api.url), { ...apiDeps, observe: ({ verb }) => void verbs.push(verb) });
  await cluster.externalMetrics.values(metric, signal);
  cluster.close();
  const rights = canaryRights.filter(({ group }) => group === "external.metrics.k8s.io");
  expect(rights.flatMap((right) => right.verbs.map(({ verb }) => verb))).toEqual(verbs);
});

test("a refusal of an external metric gives the API server's error", async () => {
  await using api = await fakeApi((_request, response) => {
    const status = { apiVersion: "v1", kind: "Status", code: 403, reason: "Forbidden", message: "no right" };
    sendJson(response, 403, status);
  });
  const cluster = connect(configOf(api.url), apiDeps);
  await expect(cluster.externalMetrics.values(metric, signal)).rejects.toMatchObject({
    ...{ name: "ApiError", code: 403, reason: "Forbidden", message: "no right" },
  });
  cluster.close();
});
