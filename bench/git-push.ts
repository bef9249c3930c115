import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { configMap, untilApplied } from "../local/demo/actions.ts";
import { startGitHost } from "../local/demo/git-host.ts";
import { connectRepository, webhookOf } from "../local/demo/git-story.ts";
import { openStage } from "../local/demo/stage.ts";
import { type Figure, figure } from "./figure.ts";

const warmUps = 3;
const runs = 20;

/**
 * A push to a git host on loopback, told by a webhook as GitHub signs it, to a Sluice in a process of its own with the embedded cluster:
 * one commit that changes one object of five.
 */
export async function gitPush(): Promise<readonly Figure[]> {
  const signal = AbortSignal.timeout(300_000);
  await using host = await startGitHost(signal);
  await using stage = await openStage(undefined, signal);
  await connectRepository(stage, host);
  const webhook = await webhookOf(stage);
  const taken: Record<"accepted" | "written" | "seen", number[]> = { accepted: [], written: [], seen: [] };
  for (let run = -warmUps; run < runs; run++) {
    const changed = configMap("oddy-test-new").replace("the demo", `push ${run}`);
    const push = await host.push((folder) => writeFile(join(folder, "new.yaml"), changed));
    const sentAt = Date.now();
    const status = await host.deliver(webhook, push);
    if (status !== 200) throw new Error(`the webhook was answered with ${status}`);
    const acceptedMs = Date.now() - sentAt;
    const { "first write": written = Number.NaN, ready = Number.NaN } = await untilApplied(
      stage,
      push.revision,
      sentAt,
      "gitrepositories",
    );
    if (run < 0) continue;
    taken.accepted.push(acceptedMs);
    taken.written.push(written);
    taken.seen.push(ready - acceptedMs);
  }
  await stage.sluice().stop();
  return [
    figure("git push: webhook sent to its answer", "ms", taken.accepted, { of: "p95", atMost: 1_000 }),
    figure("git push: webhook sent to the first write", "ms", taken.written, { of: "p95", atMost: 800 }),
    figure("git push: webhook accepted to the Kustomization being Ready", "ms", taken.seen),
  ];
}
