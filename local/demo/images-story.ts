import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import { example, untilApplied } from "./actions.ts";
import type { GitHost } from "./git-host.ts";
import { connectRepository, webhookOf } from "./git-story.ts";
import { readManifests } from "./read-manifests.ts";
import { appName, mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

const repository = "oddy-test-image";
const images = "image.toolkit.fluxcd.io/v1";
const marker = `# {"$imagepolicy": "${namespace}:${appName}"}`;

/** The story of a team whose new images are committed to its repository: `npm run demo -- images`. */
export function imageScenes(host: GitHost): readonly Scene[] {
  return [
    { title: "A team names a policy in its manifests", play: (stage) => connect(stage, host) },
    { title: "An image is pushed", play: (stage) => pushNewer(stage, host) },
    {
      title: "An older image, a release candidate and the same image again are pushed",
      play: (stage) => pushOthers(stage, host),
    },
    { title: "An image is pushed just before a commit of another", play: (stage) => pushBesideCommit(stage, host) },
  ];
}

async function connect(stage: Stage, host: GitHost): Promise<Report> {
  await pushImage(stage, "1.0.0");
  await host.push(async (folder) => {
    const file = join(folder, "deployment.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace(/image: .*/, `image: ${imageOf(stage)}:1.0.0 ${marker}`));
  });
  const { hops } = await connectRepository(stage, host);
  const text = await readFile(join(example, "images.yaml"), "utf8");
  for (const manifest of readManifests(text.replace("127.0.0.1:5000/oddy-test-image", imageOf(stage)))) {
    await stage.cluster.apply(manifest, { manager: "kubectl", force: true }, stage.signal);
  }
  await untilMessage(stage, "ImageUpdateAutomation", "repository up-to-date");
  const chosen = await untilMessage(stage, "ImagePolicy", "resolved to 1.0.0");
  mustBe("nothing is committed while nothing changes", (await host.log()).length === 2, await host.log());
  return { hops, facts: [chosen, await runningImage(stage)] };
}

async function pushNewer(stage: Stage, host: GitHost): Promise<Report> {
  const at = await pushImage(stage, "1.1.0");
  return await rolledOut(stage, host, "1.1.0", at);
}

async function pushOthers(stage: Stage, host: GitHost): Promise<Report> {
  const before = await host.log();
  const at = Date.now();
  for (const tag of ["1.0.9", "1.2.0-rc.1", "1.1.0"]) await pushImage(stage, tag);
  const scanned = await untilMessage(stage, "ImageRepository", "found 4 tags");
  const chosen = await untilMessage(stage, "ImagePolicy", "resolved to 1.1.0");
  mustBe("nothing is committed", (await host.log()).length === before.length, await host.log());
  return { hops: { scanned: Date.now() - at }, facts: [scanned, chosen, "no commit"] };
}

async function pushBesideCommit(stage: Stage, host: GitHost): Promise<Report> {
  const at = await pushImage(stage, "1.3.0");
  await host.push(async (folder) => {
    const file = join(folder, "deployment.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("replicas: 2", "replicas: 3"));
  });
  const report = await rolledOut(stage, host, "1.3.0", at);
  const spec = (await stage.get("Deployment", "oddy-test-deployment", "apps/v1"))?.["spec"];
  mustBe("both commits are there", isJsonObject(spec) && spec["replicas"] === 3, JSON.stringify(spec));
  return { ...report, facts: [...report.facts, "the other commit is kept: 3 replicas"] };
}

/** Pushes an image to the registry, whose event is that of ECR. Answers when the push had ended. */
async function pushImage(stage: Stage, tag: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-demo-image-"));
  try {
    await writeFile(join(folder, "layer"), tag);
    return (await stage.push(folder, repository, "main@sha1:demo", tag)).at;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** From a pushed tag to the commit, its webhook, and the Deployment. */
async function rolledOut(stage: Stage, host: GitHost, tag: string, at: number): Promise<Report> {
  const commit = await until(
    `a commit names ${tag}`,
    async () => (await host.log()).find(({ message }) => message.includes(`to ${imageOf(stage)}:${tag}`)),
    async () => JSON.stringify(await host.log()),
    stage.signal,
  );
  const committed = Date.now();
  const push = { revision: `main@sha1:${(await host.log())[0]?.commit ?? ""}`, at: committed };
  const status = await host.deliver(await webhookOf(stage), push);
  mustBe("the delivery is taken", status === 200, `status ${status}`);
  const { ready = 0 } = await untilApplied(stage, push.revision, committed, "gitrepositories");
  const running = await runningImage(stage);
  mustBe(`the Deployment has ${tag}`, running.endsWith(`:${tag}`), running);
  const hops = { committed: committed - at, "rolled out": committed - at + ready };
  return { hops, facts: [`commit ${commit.commit.slice(0, 7)}: ${commit.message}`, running] };
}

function imageOf(stage: Stage): string {
  return `${stage.sluice().ready.registry}/${repository}`;
}

async function runningImage(stage: Stage): Promise<string> {
  const live = await stage.get("Deployment", "oddy-test-deployment", "apps/v1");
  const [, image = "none"] = /"image":"([^"]+)"/.exec(JSON.stringify(live?.["spec"] ?? {})) ?? [];
  return `Deployment/oddy-test-deployment: ${image}`;
}

/** Waits until the message of the Ready condition of the object has this part; answers the message. */
async function untilMessage(stage: Stage, kind: string, part: string): Promise<string> {
  const look = async (): Promise<string> => {
    const status = (await stage.get(kind, appName, images))?.["status"];
    const conditions = isJsonObject(status) && Array.isArray(status["conditions"]) ? status["conditions"] : [];
    const ready = conditions.find((one): one is JsonObject => isJsonObject(one) && one["type"] === "Ready");
    const message = ready?.["message"];
    return `${kind}: ${typeof message === "string" ? message : "no Ready condition"}`;
  };
  return until(
    `${kind}: ${part}`,
    async () => {
      const found = await look();
      return found.includes(part) ? found : undefined;
    },
    look,
    stage.signal,
  );
}
