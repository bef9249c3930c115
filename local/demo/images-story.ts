import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../lib/core/json.ts";
import { example, untilApplied } from "./actions.ts";
import type { GitHost } from "./git-host.ts";
import { connectRepository } from "./git-story.ts";
import {
  deliverHead,
  imageOf,
  pushImage,
  rolledOut,
  runningImage,
  untilCommitted,
  untilMessage,
} from "./image-actions.ts";
import { readManifests } from "./read-manifests.ts";
import { appName, mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

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
    { title: "An image whose containers end at once is pushed", play: (stage) => pushFailing(stage, host) },
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
  return await rolledOut(stage, host, { tag: "1.1.0", at });
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
  const report = await rolledOut(stage, host, { tag: "1.3.0", at });
  const spec = (await stage.get("Deployment", "oddy-test-deployment", "apps/v1"))?.["spec"];
  mustBe("both commits are there", isJsonObject(spec) && spec["replicas"] === 3, JSON.stringify(spec));
  return { ...report, facts: [...report.facts, "the other commit is kept: 3 replicas"] };
}

const kustomization = {
  ...{ group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" },
  ...{ namespace, name: appName },
};

/** The policy bars the digest of such an image, if it asks for that, and goes on to the one before. */
async function pushFailing(stage: Stage, host: GitHost): Promise<Report> {
  const metadata = { annotations: { "sluice.dev/bar-unhealthy": "true" } };
  const body = { metadata, spec: { digestReflectionPolicy: "IfNotPresent" } };
  const policy = { group: "image.toolkit.fluxcd.io", version: "v1", kind: "ImagePolicy", namespace, name: appName };
  await stage.cluster.patch(policy, { type: "merge", body }, { manager: "kubectl" }, stage.signal);
  await stage.cluster.patch(
    kustomization,
    { type: "merge", body: { spec: { wait: true } } },
    { manager: "kubectl" },
    stage.signal,
  );
  await untilCommitted(stage, host, "1.3.0@sha256");
  await host.push(async (folder) => {
    const file = join(folder, "deployment.yaml");
    const text = await readFile(file, "utf8");
    const simulated = "metadata:\n  annotations: { local.sluice.dev/simulate: fail-image=1.4.0 }";
    await writeFile(
      file,
      text.replace("metadata:", simulated).replace("spec:", "spec:\n  progressDeadlineSeconds: 10"),
    );
  });
  const sound = await deliverHead(stage, host);
  await untilApplied(stage, sound.revision, sound.at, "gitrepositories");
  const at = await pushImage(stage, "1.4.0");
  await untilCommitted(stage, host, "1.4.0@sha256");
  const known = (await host.log()).length;
  await deliverHead(stage, host);
  const isFailed = async () => ((await stage.ready()).includes("bars 1.4.0@sha256") ? stage.ready() : undefined);
  const failed = await until("the Deployment is not healthy", isFailed, () => stage.ready(), stage.signal);
  const barred = Date.now();
  const chosen = await untilMessage(stage, "ImagePolicy", "(barred: 1.4.0)");
  const report = await rolledOut(stage, host, { tag: "1.3.0@sha256", at: barred, known });
  const why = failed.split("\n").find((line) => line.includes("bars 1.4.0")) ?? "";
  return { hops: { barred: barred - at, ...report.hops }, facts: [why, chosen, ...report.facts] };
}
