import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { bundleSize } from "./bundle-size.ts";
import { advancingCanaries } from "./canaries.ts";
import { canariesOnServer, canaryPeer } from "./canary-peer.ts";
import { coldStart } from "./cold-start.ts";
import { cosignVerification } from "./cosign-verification.ts";
import { demoTime } from "./demo-time.ts";
import { dependencyHop } from "./dependency-hop.ts";
import { dynamodbCapacity } from "./dynamodb-capacity.ts";
import { engineBuild } from "./engine-build.ts";
import { eventBurst } from "./event-burst.ts";
import { isOver } from "./figure.ts";
import { fluxPeer } from "./flux-peer.ts";
import { fourObjects } from "./four-objects.ts";
import { gitFetch } from "./git-fetch.ts";
import { gitPush } from "./git-push.ts";
import { halfCoreStart } from "./half-core-start.ts";
import { helmIndex } from "./helm-index.ts";
import { helmPeer } from "./helm-peer.ts";
import { helmRender } from "./helm-render.ts";
import { hundredKustomizations } from "./hundred-kustomizations.ts";
import { idle } from "./idle.ts";
import { imagePeer } from "./image-peer.ts";
import { largeBucket } from "./large-bucket.ts";
import { notificationPeer } from "./notification-peer.ts";
import { notifications } from "./notifications.ts";
import { realRequests } from "./real-requests.ts";
import { sopsDecryption } from "./sops-decryption.ts";
import { sourcePeer } from "./source-peer.ts";
import { twoThousandObjects } from "./two-thousand-objects.ts";
import { unchangedRequests } from "./unchanged-requests.ts";
import { unchangedSource } from "./unchanged-source.ts";
import { wakeUp } from "./wake-up.ts";
import { webhookDeliveries } from "./webhook-deliveries.ts";

/**
 * `npm run bench [-- NAME… [--canaries COUNT]]`: one JSON line per figure; exit code 1 if one is over its limit. A bench that releases
 * Canaries on a real API server does so with 200, or with COUNT.
 */
const benches = {
  fourObjects,
  engineBuild,
  dependencyHop,
  twoThousandObjects,
  idle,
  demoTime,
  bundleSize,
  dynamodbCapacity,
  realRequests,
  unchangedRequests,
  coldStart,
  halfCoreStart,
  wakeUp,
  gitFetch,
  gitPush,
  fluxPeer,
  hundredKustomizations,
  eventBurst,
  webhookDeliveries,
  sopsDecryption,
  unchangedSource,
  helmIndex,
  helmPeer,
  helmRender,
  imagePeer,
  notifications,
  notificationPeer,
  sourcePeer,
  largeBucket,
  cosignVerification,
  canaries: () => advancingCanaries(200),
  thousandCanaries: () => advancingCanaries(1_000),
  canaryPeer,
  canariesOnServer,
} as const;
const { values, positionals: wanted } = parseArgs({
  options: { canaries: { type: "string", default: "200" } },
  allowPositionals: true,
});
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  process.stderr.write(`no bench named ${unknown.join(", ")}: there are ${Object.keys(benches).join(", ")}\n`);
  process.exit(2);
}
process.stdout.write(`${JSON.stringify({ machine: cpus()[0]?.model, cores: cpus().length, node: process.version })}\n`);
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const line of await bench(Number(values.canaries))) {
    const broken = isOver(line);
    process.stdout.write(`${JSON.stringify({ ...line, ...(broken ? { over: true } : {}) })}\n`);
    if (broken) process.exitCode = 1;
  }
}
process.exit();
