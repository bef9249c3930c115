import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import { untilApplied } from "./actions.ts";
import type { GitHost, GitPush } from "./git-host.ts";
import { webhookOf } from "./git-story.ts";
import { appName, mustBe, type Stage, until } from "./stage.ts";
import type { Report } from "./story.ts";

const repository = "oddy-test-image";
const images = "image.toolkit.fluxcd.io/v1";

/** Pushes an image to the registry, whose event is that of ECR. Answers when the push had ended. */
export async function pushImage(stage: Stage, tag: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-demo-image-"));
  try {
    await writeFile(join(folder, "layer"), tag);
    return (await stage.push(folder, repository, "main@sha1:demo", tag)).at;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** From a pushed tag to the commit, its webhook, and the Deployment. `known`: how many commits there were before. */
export async function rolledOut(
  stage: Stage,
  host: GitHost,
  { tag, at, known = 0 }: { readonly tag: string; readonly at: number; readonly known?: number },
): Promise<Report> {
  const commit = await untilCommitted(stage, host, tag, known);
  const committed = Date.now();
  const push = await deliverHead(stage, host);
  const { ready = 0 } = await untilApplied(stage, push.revision, committed, "gitrepositories");
  const running = await runningImage(stage);
  mustBe(`the Deployment has ${tag}`, running.includes(`:${tag}`), running);
  const hops = { committed: committed - at, "rolled out": committed - at + ready };
  return { hops, facts: [`commit ${commit.commit.slice(0, 7)}: ${commit.message}`, running] };
}

/** Waits until a commit sets this tag. @param known how many commits there were before */
export async function untilCommitted(stage: Stage, host: GitHost, tag: string, known = 0) {
  const isNew = async () => {
    const commits = await host.log();
    const added = commits.slice(0, commits.length - known);
    return added.find(({ message }) => message.includes(`to ${imageOf(stage)}:${tag}`));
  };
  const found = async () => JSON.stringify(await host.log());
  return until(`a commit names ${tag}`, isNew, found, stage.signal);
}

/** Sends the webhook of the newest commit. */
export async function deliverHead(stage: Stage, host: GitHost): Promise<GitPush> {
  const push = { revision: `main@sha1:${(await host.log())[0]?.commit ?? ""}`, at: Date.now() };
  const status = await host.deliver(await webhookOf(stage), push);
  mustBe("the delivery is taken", status === 200, `status ${status}`);
  return push;
}

export function imageOf(stage: Stage): string {
  return `${stage.sluice().ready.registry}/${repository}`;
}

export async function runningImage(stage: Stage): Promise<string> {
  const live = await stage.get("Deployment", "oddy-test-deployment", "apps/v1");
  const [, image = "none"] = /"image":"([^"]+)"/.exec(JSON.stringify(live?.["spec"] ?? {})) ?? [];
  return `Deployment/oddy-test-deployment: ${image}`;
}

/** Waits until the message of the Ready condition of the object has this part; answers the message. */
export async function untilMessage(stage: Stage, kind: string, part: string): Promise<string> {
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
