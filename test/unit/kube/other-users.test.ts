import { expect, test } from "vitest";
import { connect } from "../../../lib/kube/connect.ts";
import { apiDeps, configMapOf, configOf, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
const deployer = "system:serviceaccount:n:deployer";

test("another user is sent in each request, including discovery, on the same connections", async () => {
  const sent: string[] = [];
  const sockets = new Set<unknown>();
  await using api = await fakeApi((request, response) => {
    sockets.add(request.socket);
    const path = request.url?.split("?")[0];
    sent.push(`${path} ${String(request.headers["impersonate-user"])} ${String(request.headers["impersonate-group"])}`);
    if (!sendDiscovery(request, response)) sendJson(response, 200, configMapOf("a"));
  });
  const own = { ...configOf(api.url).user, impersonate: { user: "operator", groups: ["operators"] } };
  const cluster = connect(configOf(api.url, { user: own }), apiDeps);
  await cluster.as(deployer).get(ref, signal);
  await cluster.as(deployer).get(ref, signal);
  await cluster.as("other").get(ref, signal);
  await cluster.get(ref, signal);
  await cluster.as(deployer).uid(signal);
  cluster.close();
  const path = "/api/v1/namespaces/n/configmaps/a";
  expect(sent.filter((line) => line.startsWith("/api/v1/"))).toEqual([
    `${path} ${deployer} undefined`,
    `${path} ${deployer} undefined`,
    `${path} other undefined`,
    `${path} operator operators`,
    // The identity of the cluster is read with our own rights.
    "/api/v1/namespaces/kube-system operator operators",
  ]);
  const discoveries = sent.filter((line) => !line.startsWith("/api/v1/")).map((line) => line.split(" ")[1]);
  expect([...new Set(discoveries)]).toEqual([deployer, "other", "operator"]);
  expect(discoveries.filter((user) => user === deployer).length).toBe(
    discoveries.filter((user) => user === "other").length,
  );
  // Discovery asks for two lists at once.
  expect(sockets.size).toBe(2);
});

test("discovery is cached for the hundred users that were used last", () => {
  const cluster = connect(configOf(new URL("http://127.0.0.1:1")), apiDeps);
  const first = cluster.as("user-0");
  for (let number = 1; number <= 99; number += 1) cluster.as(`user-${number}`);
  expect(cluster.as("user-0")).toBe(first);
  const second = cluster.as("user-1");
  cluster.as("user-100");
  expect(cluster.as("user-1")).toBe(second);
  cluster.as("user-101");
  cluster.as("user-102");
  expect(cluster.as("user-0")).toBe(first);
  cluster.close();
});
