import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cutText } from "../../lib/core/cut-text.ts";
import type { Manifest } from "../../lib/core/manifest.ts";
import { configMap, example } from "./actions.ts";
import type { NotifyHosts } from "./notify-hosts.ts";
import { readManifests } from "./read-manifests.ts";
import { appName, mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

const alerts = join(import.meta.dirname, "../../examples/notify/alerts.yaml");
const source = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", namespace, name: appName };

/** The story of a team that gets messages about failures and about its commits: `npm run demo -- notify`. */
export function notifyScenes(hosts: NotifyHosts, token: string): readonly Scene[] {
  return [
    { title: "A commit is applied, and the git host shows it", play: (stage) => connect(stage, hosts, token) },
    { title: "A commit with an invalid object", play: (stage) => pushInvalid(stage, hosts) },
    { title: "The registry cannot be reached", play: (stage) => loseRegistry(stage, hosts) },
    { title: "The chat is gone when something fails", play: (stage) => loseChat(stage, hosts) },
  ];
}

async function connect(stage: Stage, hosts: NotifyHosts, token: string): Promise<Report> {
  const secret: Manifest = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "git-host-token", namespace },
    stringData: { token },
  };
  const told = (await readFile(alerts, "utf8")).replaceAll("http://127.0.0.1:8080", hosts.url);
  const followed = (await readFile(join(example, "source.yaml"), "utf8")).replace(
    "oci://127.0.0.1:5000/oddy-test",
    urlOf(stage),
  );
  const { commit } = await pushCommit(stage);
  const at = Date.now();
  for (const manifest of [secret, ...readManifests(told), ...readManifests(followed)]) {
    await stage.cluster.apply(manifest, { manager: "kubectl", force: true }, stage.signal);
  }
  const fact = await untilStatus(stage, hosts, commit, "success");
  return { hops: { "status set": Date.now() - at }, facts: [fact, await stage.ready()] };
}

async function pushInvalid(stage: Stage, hosts: NotifyHosts): Promise<Report> {
  const { commit, at } = await pushCommit(stage, (folder) =>
    writeFile(join(folder, "invalid.yaml"), configMap("Not_A_Name")),
  );
  const fact = await untilStatus(stage, hosts, commit, "failure");
  const said = await untilSaid(stage, hosts, `kustomization/${appName}.${namespace}`, "Not_A_Name");
  const hops = { told: Date.now() - at };
  const next = await pushCommit(stage);
  return { hops, facts: [fact, said, await untilStatus(stage, hosts, next.commit, "success")] };
}

/** The source is led to a port where nothing listens, and back. */
async function loseRegistry(stage: Stage, hosts: NotifyHosts): Promise<Report> {
  const lead = (url: string) =>
    stage.cluster.patch(source, { type: "merge", body: { spec: { url } } }, { manager: "kubectl" }, stage.signal);
  const about = `ocirepository/${appName}.${namespace}`;
  const at = Date.now();
  await lead("oci://127.0.0.1:1/oddy-test");
  const said = await untilSaid(stage, hosts, about, "connection refused");
  const hops = { told: Date.now() - at };
  await lead(urlOf(stage));
  const { commit } = await pushCommit(stage);
  const fact = await untilStatus(stage, hosts, commit, "success");
  const count = hosts.messages.filter((one) => one.about === about).length;
  mustBe("the outage is told once", count === 1, hosts.messages);
  return { hops, facts: [said, "told once, however often it was tried", fact] };
}

async function loseChat(stage: Stage, hosts: NotifyHosts): Promise<Report> {
  hosts.closeChat(true);
  const { commit, at } = await pushCommit(stage, (folder) =>
    writeFile(join(folder, "invalid.yaml"), configMap("Still_No_Name")),
  );
  const fault = async () => (await warningsOf(stage, "failures")).find((message) => message.includes("404"));
  const warning = await until(
    "the Alert says that the chat did not take it",
    fault,
    async () => (await warningsOf(stage, "failures")).join(),
    stage.signal,
  );
  const hops = { told: Date.now() - at };
  const fact = await untilStatus(stage, hosts, commit, "failure");
  const page = await (await fetch(`${stage.sluice().ready.receiver}/notifications`)).text();
  mustBe("the page of sluice local shows it", page.includes("Still_No_Name") && page.includes("404"), page);
  return { hops, facts: [`Alert/${namespace}/failures: ${warning}`, fact, "and /notifications shows both"] };
}

function urlOf(stage: Stage): string {
  return `oci://${stage.sluice().ready.registry}/${appName}`;
}

/** Pushes the example as a build of a new commit. */
async function pushCommit(stage: Stage, edit: (folder: string) => Promise<unknown> = async () => undefined) {
  const commit = randomBytes(20).toString("hex");
  const folder = await mkdtemp(join(tmpdir(), "sluice-demo-commit-"));
  try {
    await cp(join(example, "manifests"), folder, { recursive: true });
    // Each commit changes something.
    await writeFile(join(folder, "commit.yaml"), configMap(`commit-${commit.slice(0, 8)}`));
    await edit(folder);
    return { commit, ...(await stage.push(folder, appName, `main@sha1:${commit}`)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilStatus(stage: Stage, hosts: NotifyHosts, commit: string, state: string): Promise<string> {
  const found = await until(
    `the git host shows ${state} for the commit`,
    async () => hosts.statuses.find((one) => one.commit === commit && one.state === state),
    async () => JSON.stringify(hosts.statuses),
    stage.signal,
  );
  return `commit ${commit.slice(0, 8)}: ${state}, ${found.description} (${found.context})`;
}

async function untilSaid(stage: Stage, hosts: NotifyHosts, about: string, part: string): Promise<string> {
  const { text } = await until(
    `the chat says ${part} of ${about}`,
    async () => hosts.messages.find((one) => one.about === about && one.text.includes(part)),
    async () => JSON.stringify(hosts.messages),
    stage.signal,
  );
  return `chat: ${about}: ${cutText(text.split("\n", 1).join(""), maxShownBytes)}`;
}

const maxShownBytes = 160;

async function warningsOf({ cluster, signal }: Stage, alert: string): Promise<readonly string[]> {
  const fieldSelector = `involvedObject.kind=Alert,involvedObject.name=${alert}`;
  const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
  return found.map(({ message }) => String(message));
}
