import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type Answer, ask } from "../ask.ts";
import type { Installation, PartRun } from "../part.ts";
import { versions } from "../versions.ts";
import { type ControlPlaneFiles, writeControlPlaneFiles, writeKubeconfigs } from "./control-plane-files.ts";
import {
  apiServerProcess,
  auditArgs,
  type ControlPlanePorts,
  controllerProcess,
  etcdProcess,
  kwokProcess,
  schedulerProcess,
} from "./control-plane-processes.ts";
import { defineGatewayApi } from "./gateway-api.ts";
import { goProgram } from "./go-program.ts";

const [major, minor] = versions.kubernetes.split(".");
/** Without these the server calls itself v0.0.0, and clients that compare versions fail. */
const stamps = { gitVersion: `v${versions.kubernetes}`, gitMajor: major, gitMinor: minor };
const kubernetesFlags = Object.entries(stamps).map(
  ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
);

const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n1", annotations: { "kwok.x-k8s.io/node": "fake" }, labels: { "kubernetes.io/hostname": "n1" } },
  status: {
    capacity: { cpu: "64", memory: "256Gi", pods: "2000" },
    allocatable: { cpu: "64", memory: "256Gi", pods: "2000" },
  },
};

const bindingOf = (groups: readonly string[]): object => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "sluice" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
  subjects: groups.map((name) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name })),
});

const NodeStatus = z.object({
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});
const Cluster = z.object({ server: z.string(), "certificate-authority-data": z.string() });
/** As `writeKubeconfigs` writes it. */
const Kubeconfig = z.object({ clusters: z.tuple([z.object({ cluster: Cluster })]) });

export interface PlaneOptions {
  /** Members of these groups may do everything. */
  readonly groups: readonly string[];
  /** Further arguments of the API server. */
  readonly apiServerArgs: readonly string[];
  /** Whether it has the definitions of the Gateway API, which are installed then. */
  readonly hasGatewayApi?: boolean;
}

/** The programs of a control plane. */
export const planePrograms: readonly Installation[] = [
  goProgram({
    program: "kubernetes",
    module: "control-plane",
    packages: ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map(
      (name) => `k8s.io/kubernetes/cmd/${name}`,
    ),
    output: "./",
    ldflags: kubernetesFlags.join(" "),
    needsMegabytes: 5_000,
  }),
  goProgram({
    program: "etcd",
    module: "control-plane",
    packages: ["go.etcd.io/etcd/server/v3"],
    output: "etcd",
    needsMegabytes: 1_000,
  }),
  goProgram({
    program: "kwok",
    module: "kwok",
    packages: ["sigs.k8s.io/kwok/cmd/kwok"],
    output: "kwok",
    needsMegabytes: 2_500,
  }),
];

/** Starts the processes of a control plane one after the other, since each needs the ones before. */
export async function startPlane(
  run: PartRun,
  { groups, apiServerArgs, hasGatewayApi = false }: PlaneOptions,
): Promise<ControlPlaneFiles> {
  const { folder, installed, audit } = run;
  const kubernetes = installed("kubernetes");
  const files = await writeControlPlaneFiles(folder);
  const ports = await choosePorts(run);
  const server = `https://127.0.0.1:${ports.api}`;
  await run.spawn(etcdProcess(installed("etcd"), folder, ports));
  await run.spawn(apiServerProcess(kubernetes, files, ports, [...apiServerArgs, ...(audit ? auditArgs(files) : [])]));
  const admin = (method: string, path: string, body?: string, type?: string): Promise<Answer | undefined> =>
    askAsAdmin(files, server + path, { method, body, type });
  await run.until("ready API server", async () => (await admin("GET", "/readyz"))?.status === 200);
  await writeKubeconfigs(files, server);
  await run.spawn(controllerProcess(kubernetes, files, ports));
  await run.spawn(schedulerProcess(kubernetes, files, ports));
  await run.spawn(kwokProcess(installed("kwok"), files, ports));
  if (hasGatewayApi) await defineGatewayApi(run, (method, path, body) => admin(method, path, body, "application/yaml"));
  await create(run, "node", () => admin("POST", "/api/v1/nodes", JSON.stringify(node)));
  const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  await create(run, "rights of Sluice's user", () => admin("POST", bindings, JSON.stringify(bindingOf(groups))));
  await run.until("ready node", async () => isReady(await admin("GET", `/api/v1/nodes/${node.metadata.name}`)));
  // Pods are refused without it.
  const account = "/api/v1/namespaces/default/serviceaccounts/default";
  await run.until("service account", async () => (await admin("GET", account))?.status === 200);
  return files;
}

/** Whether the API server that a kubeconfig names answers. */
export async function planeAnswers(kubeconfig: string): Promise<boolean> {
  const { server, ca } = await readServer(kubeconfig);
  // This path needs no credentials.
  return (await ask(`${server}/readyz`, { ca }))?.status === 200;
}

async function choosePorts({ ports }: PartRun): Promise<ControlPlanePorts> {
  const [api = 0, etcd = 0, etcdPeer = 0, controllers = 0, scheduler = 0, kwok = 0] = await ports(6);
  return { api, etcd, etcdPeer, controllers, scheduler, kwok };
}

async function askAsAdmin(
  files: ControlPlaneFiles,
  url: string,
  { method, body, type = "application/json" }: { method: string; body?: string | undefined; type?: string | undefined },
): Promise<Answer | undefined> {
  const ca = await readFile(files.ca, "utf8").catch(() => undefined);
  if (ca === undefined) return undefined;
  const headers = { authorization: `Bearer ${files.tokenOf.admin}`, "content-type": type };
  return ask(url, { method, headers, ca, ...(body === undefined ? {} : { body }) });
}

/** Retries once if the server was not ready: 409 means that the first attempt was carried out. */
async function create({ until }: PartRun, what: string, post: () => Promise<Answer | undefined>): Promise<void> {
  await until(what, async () => [201, 409].includes((await post())?.status ?? 0));
}

function isReady(answer: Answer | undefined): boolean {
  const { success, data } = NodeStatus.safeParse(answer?.status === 200 ? JSON.parse(answer.text) : undefined);
  return success && data.status.conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

async function readServer(kubeconfig: string): Promise<{ readonly server: string; readonly ca: string }> {
  const { clusters } = Kubeconfig.parse(JSON.parse(await readFile(kubeconfig, "utf8")));
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  return { server, ca: Buffer.from(ca, "base64").toString("utf8") };
}
