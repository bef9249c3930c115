import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../lib/core/json.ts";
import type { Manifest } from "../../lib/core/manifest.ts";
import { configMap, countConfigMaps, example, isApply, isWrite, liveObjects, untilApplied } from "./actions.ts";
import type { GitHost } from "./git-host.ts";
import { managed } from "./objects.ts";
import { readManifests } from "./read-manifests.ts";
import { appName, mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

const shortIntervalMs = 5_000;
const receiver = { group: "notification.toolkit.fluxcd.io", version: "v1", kind: "Receiver", namespace, name: appName };
const source = { ...receiver, group: "source.toolkit.fluxcd.io", kind: "GitRepository" };

/** The story of a team that pushes to git: `npm run demo -- git`. */
export function gitScenes(host: GitHost): readonly Scene[] {
  return [
    { title: "A team connects its git repository", play: (stage) => connectRepository(stage, host) },
    { title: "git push, without the PodDisruptionBudget", play: (stage) => pushAnnounced(stage, host) },
    {
      title: "Deliveries with a wrong signature, and one that comes twice",
      play: (stage) => deliverOddly(stage, host),
    },
    { title: "git push, and the webhook is lost", play: (stage) => loseWebhook(stage, host) },
  ];
}

export async function connectRepository(stage: Stage, host: GitHost): Promise<Report> {
  const secret: Manifest & { readonly stringData: object } = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "webhook-token", namespace },
    stringData: { token: host.token },
  };
  const text = await readFile(join(example, "git.yaml"), "utf8");
  const at = Date.now();
  for (const manifest of [secret, ...readManifests(text.replace("http://127.0.0.1:8080/team/app.git", host.url))]) {
    await stage.cluster.apply(manifest, { manager: "kubectl", force: true }, stage.signal);
  }
  await until(
    "the first commit is applied",
    async () => (await stage.ready()).startsWith("True") || undefined,
    () => stage.ready(),
    stage.signal,
  );
  mustBe("all objects exist", (await liveObjects(stage, managed)).length === managed.length, "some are missing");
  return { hops: { ready: Date.now() - at }, facts: [await stage.ready(), `webhook ${await webhookOf(stage)}`] };
}

/** The URL of the Receiver, as `sluice get receivers` prints it. */
export async function webhookOf(stage: Stage): Promise<string> {
  const look = async (): Promise<string | undefined> => {
    const status = (await stage.cluster.get(receiver, stage.signal))?.["status"];
    const path = isJsonObject(status) ? status["webhookPath"] : undefined;
    return typeof path === "string" && path !== "" ? `${stage.sluice().ready.receiver}${path}` : undefined;
  };
  return until("the Receiver has a path", look, async () => "none", stage.signal);
}

async function pushAnnounced(stage: Stage, host: GitHost): Promise<Report> {
  const push = await host.push((folder) => rm(join(folder, "pdb.yaml")));
  const status = await host.deliver(await webhookOf(stage), push);
  const answered = Date.now() - push.at;
  mustBe("the delivery is taken", status === 200, `status ${status}`);
  const hops = await untilApplied(stage, push.revision, push.at, "gitrepositories");
  const deleted = `PodDisruptionBudget/${namespace}/oddy-test-pdb deleted`;
  mustBe("an event says what was pruned", (await stage.events()).includes(deleted), await stage.events());
  return { hops: { "delivery answered": answered, ...hops }, facts: [deleted, await stage.ready()] };
}

async function deliverOddly(stage: Stage, host: GitHost): Promise<Report> {
  const url = await webhookOf(stage);
  const { requests } = stage.sluice();
  const first = requests.length;
  const nothing = { revision: "main@sha1:0000000000000000000000000000000000000000", at: Date.now() };
  const wrong = await host.deliver(url, nothing, "guessed");
  mustBe("a wrong signature is refused", wrong === 400, `status ${wrong}`);
  const push = await host.push((folder) => writeFile(join(folder, "new.yaml"), configMap("oddy-test-new")));
  const answers = await Promise.all([host.deliver(url, push), host.deliver(url, push)]);
  mustBe("both deliveries are taken", answers.join() === "200,200", answers);
  const hops = await untilApplied(stage, push.revision, push.at, "gitrepositories");
  const created = requests.slice(first).filter((request) => isApply(request) && request.path.includes("oddy-test-new"));
  mustBe("the object is applied once", created.length === 1, created);
  return { hops, facts: ["wrong signature: 400", "the same delivery twice: one write"] };
}

async function loseWebhook(stage: Stage, host: GitHost): Promise<Report> {
  const body = { spec: { interval: `${shortIntervalMs / 1_000}s` } };
  await stage.cluster.patch(source, { type: "merge", body }, { manager: "kubectl" }, stage.signal);
  const push = await host.push((folder) => rm(join(folder, "new.yaml")));
  const hops = await untilApplied(stage, push.revision, push.at, "gitrepositories");
  mustBe("what was taken out is gone", (await countConfigMaps(stage)) === 0, "ConfigMap/oddy-test-new is still there");
  const missed = async () => stage.sluice().missed.find(({ at }) => at >= push.at);
  await until("the lost webhook is counted", missed, async () => "no event counts as missed", stage.signal);
  const before = stage.sluice().requests.length;
  const count = stage.sluice().missed.filter(({ at }) => at >= push.at).length;
  mustBe("it is counted once", count === 1, `${count} times`);
  const applied = stage
    .sluice()
    .requests.slice(before)
    .filter((one) => isWrite(one) && one.path.includes("configmaps"));
  mustBe("nothing else was written", applied.length === 0, applied);
  return {
    hops,
    facts: [`found by the interval of ${shortIntervalMs / 1_000} s, and converged`, `events missed: ${count}`],
  };
}
