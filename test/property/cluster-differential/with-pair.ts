import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { vi } from "vitest";
import { parse } from "yaml";
import { isJsonObject } from "../../../lib/core/json.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { deadlineMs } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Address, type ApiServer, apiServer } from "./api-server.ts";
import type { Pair } from "./run-seed.ts";
import { widgetDefinition } from "./subjects.ts";

/** Starts an embedded server beside the real one, with a namespace and the custom resources on both; everything is removed at the end. */
export async function withPair<Result>(
  kubeconfig: string,
  withControllers: boolean,
  work: (pair: Pair) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-differential-"));
  const kubernetes = await startKubernetes({ stateFolder: folder, port: 0, controllers: false, log: silentLog });
  const token = /token: (\w+)/.exec(kubernetes.kubeconfig())?.[1] ?? "";
  const run = `diff-${randomBytes(3).toString("hex")}`;
  const real = apiServer(await addressIn(kubeconfig));
  const embedded = apiServer({ url: new URL(kubernetes.url), token });
  try {
    await Promise.all([prepare(real, run), prepare(embedded, run)]);
    return await work({ real, embedded, namespace: run, run, withControllers });
  } finally {
    await real.send({
      method: "DELETE",
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.widgets.${run}.example.com`,
    });
    await real.send({ method: "DELETE", path: `/api/v1/namespaces/${run}` });
    real.close();
    embedded.close();
    await kubernetes.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function addressIn(file: string): Promise<Address> {
  const { server, tls } = await readKubeconfig({ file, env: {}, homeDir: "/" });
  const config: unknown = parse(await readFile(file, "utf8"));
  const listed: unknown = isJsonObject(config) ? config["users"] : undefined;
  const users: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const [first] = users;
  const user = isJsonObject(first) ? first["user"] : undefined;
  const token = isJsonObject(user) && typeof user["token"] === "string" ? user["token"] : "";
  return { url: server, token, ca: tls.ca };
}

async function prepare(server: ApiServer, run: string): Promise<void> {
  const group = `widgets.${run}.example.com`;
  const metadata = { name: run };
  await server.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata } });
  await server.send({
    method: "POST",
    path: `/api/v1/namespaces/${run}/serviceaccounts`,
    body: { metadata: { name: "default" } },
  });
  const definition = {
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    body: widgetDefinition(`${run}.example.com`),
  };
  const { status, body } = await server.send(definition);
  if (status !== 201) throw new Error(`the definition is refused: ${JSON.stringify(body)}`);
  // The server serves single objects and apply a moment later than the list.
  const widgets = `/apis/${group}/v1/namespaces/${run}/widgets`;
  const probe = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "probe" } };
  const isServed = async () => {
    const { status: listed } = await server.send({ method: "GET", path: widgets });
    const { status: applied } = await server.send({
      method: "PATCH",
      path: `${widgets}/probe?fieldManager=probe&dryRun=All`,
      contentType: "application/apply-patch+yaml",
      body: probe,
    });
    // Whatever it says of the object, it knows the place.
    if (listed !== 200 || applied === 404) throw new Error(`custom resources are not served: ${listed}, ${applied}`);
  };
  await vi.waitFor(isServed, { timeout: deadlineMs, interval: 50 });
}
