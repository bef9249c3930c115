import { createServer } from "node:http";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { pushChart } from "../../../local/demo/push-chart.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { gitRepository, gitServer } from "../../doubles/git-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { helmHost } from "../recorded-flux/helm-host.ts";
import { pushFiles } from "../recorded-flux/push-files.ts";

const examples = join(import.meta.dirname, "../../../examples");
const fleet = join(examples, "fleet");

type Files = Readonly<Record<string, string>>;
export type Environment = "staging" | "production";

/** What stands outside of the cluster of `examples/fleet`: git, a Helm repository, a chat, and what a registry has. */
export interface FleetHosts {
  /** What a cluster gets before its first run: the Secrets, and what `flux bootstrap` writes. */
  readonly bootstrap: string;
  /** The texts that the chat was sent, oldest first. */
  readonly told: readonly string[];
  /** Commits what this makes of the files of the branch, by path. */
  commit(edit: (files: Files) => Files): Promise<void>;
  /** The subjects of the commits, newest first. */
  log(): Promise<readonly string[]>;
  pushImage(tag: string): Promise<void>;
}

/** Starts them with the example as the first commit. @param open disposes of them. @param registry `HOST:PORT` */
export async function fleetHosts(
  { registry, environment }: { readonly registry: string; readonly environment: Environment },
  open: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<FleetHosts> {
  const git = open.use(await gitRepository());
  await git.git("config", "http.receivepack", "true");
  const { url } = open.use(await gitServer(git));
  const charts = open.use(await helmHost());
  await publishEdge(charts);
  const podinfo = await filesIn(join(examples, "podinfo-helm/podinfo"));
  await pushChart(new Map(Object.entries(podinfo)), { host: registry, repository: "charts/podinfo" }, signal);
  const chat = await startChat(open);
  const here = (content: string): string =>
    content
      .replaceAll("http://127.0.0.1:3000/platform/fleet.git", url)
      .replaceAll("127.0.0.1:5000", registry)
      .replaceAll("127.0.0.1:8879", charts.address)
      .replaceAll("127.0.0.1:8080", chat.address);
  const files = Object.entries(await filesIn(join(fleet, "repository")));
  await git.commit(Object.fromEntries(files.map(([path, content]) => [path, here(content)])));
  const sync = await readFile(join(fleet, "repository/clusters", environment, "flux-system/gotk-sync.yaml"), "utf8");
  const present = async (): Promise<Files> => {
    const paths = (await git.git("ls-tree", "-r", "--name-only", "main")).split("\n");
    return Object.fromEntries(
      await Promise.all(paths.map(async (path) => [path, `${await git.git("show", `main:${path}`)}\n`] as const)),
    );
  };
  const http = httpClient({ network: homeNetwork });
  open.defer(() => http.close());
  return {
    bootstrap: here(`${await readFile(join(fleet, "bootstrap.yaml"), "utf8")}---\n${sync}`),
    told: chat.told,
    async commit(edit) {
      await git.commit(edit(await present()));
    },
    log: async () => (await git.git("log", "--format=%s", "main")).split("\n"),
    async pushImage(tag) {
      await pushFiles(`oci://${registry}/podinfo:${tag}`, { layer: tag }, http, signal);
    },
  };
}

async function publishEdge(charts: Awaited<ReturnType<typeof helmHost>>): Promise<void> {
  const files = Object.entries(await filesIn(join(fleet, "charts/edge")));
  const inFolder = Object.fromEntries(files.map(([path, content]) => [`edge/${path}`, content]));
  await charts.publish("1. /charts: charts", { "edge-1.0.0.tgz": inFolder });
  const entry = "apiVersion: v2\n      name: edge\n      urls:\n      - edge-1.0.0.tgz\n      version: 1.0.0\n";
  const index = `apiVersion: v1\nentries:\n  edge:\n    - ${entry}generated: "2026-01-01T00:00:00Z"\n`;
  await charts.publish("2. /charts/index.yaml", { "index.yaml": index });
}

/** What an incoming webhook of Slack is sent. */
const Message = z.object({ attachments: z.array(z.object({ fallback: z.string() })) });

/** A chat on loopback that keeps the texts it is sent. @param open disposes of it */
export async function startChat(open: AsyncDisposableStack) {
  const told: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { attachments } = Message.parse(JSON.parse(body));
      told.push(...attachments.map(({ fallback }) => fallback));
      response.end("ok");
    });
  });
  const port = await portOnLoopback(server);
  open.defer(() => closeServer(server));
  return { told, address: `127.0.0.1:${port}` };
}

/** Each file of a folder by its path in it. */
export async function filesIn(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = async (path: string) => [path.slice(folder.length + 1), await readFile(path, "utf8")] as const;
  return Object.fromEntries(await Promise.all(paths.toSorted().map(read)));
}

/** An edit that replaces a text in one file. Throws an error if the file does not have it. */
export function replaced(path: string, before: string, after: string): (files: Files) => Files {
  return (files) => {
    const content = files[path] ?? "";
    if (!content.includes(before)) throw new Error(`${path} does not have ${before}: ${content}`);
    return { ...files, [path]: content.replace(before, after) };
  };
}
