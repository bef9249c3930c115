import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isJsonObject } from "../../lib/core/json.ts";
import type { Manifest } from "../../lib/core/manifest.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { type Answered, type CanaryGateway, startCanaryGateway } from "./canary-gateway.ts";
import { readManifests } from "./read-manifests.ts";
import { mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

const folder = join(import.meta.dirname, "../../examples/podinfo-canary");
const name = "podinfo";
const flagger = "flagger.app/v1beta1";
const requestEveryMs = 20;

/** The gateway of the story. The pods of 6.0.2 answer every other request with 500. */
export function startStoryGateway(signal: AbortSignal): Promise<CanaryGateway> {
  return startCanaryGateway(name, (image, count) => image === imageOf("6.0.2") && count % 2 === 1, signal);
}

/** The story of a team that releases by weights: `npm run demo -- canary`. A step takes the ten seconds that it takes anywhere. */
export function canaryScenes(gateway: CanaryGateway): readonly Scene[] {
  return [
    { title: "A Canary takes over podinfo 6.0.0", play: (stage) => initialise(stage, gateway) },
    {
      title: "6.0.1 is released while requests come in: about 80 s",
      play: (stage) => underLoad(stage, gateway, () => release(stage, gateway)),
    },
    {
      title: "6.0.2 is released, which fails every other request: about 40 s",
      play: (stage) => underLoad(stage, gateway, () => rollBack(stage, gateway)),
    },
  ];
}

async function initialise(stage: Stage, gateway: CanaryGateway): Promise<Report> {
  const at = Date.now();
  await apply(stage, await readFile(join(import.meta.dirname, "gateway-api/httproutes.json"), "utf8"));
  await apply(stage, await readFile(join(folder, "podinfo.yaml"), "utf8"));
  const other = await specOf(stage, "Service", "podinfo-different-name", "v1");
  await apply(stage, await readFile(join(folder, "canary.yaml"), "utf8"), (canary) => measured(canary, gateway));
  await untilStatus(stage, "phase", "Initialized");
  gateway.follow(stage.cluster);
  const selectors = await Promise.all(
    [name, `${name}-primary`, `${name}-canary`].map(async (service) => {
      const spec = await specOf(stage, "Service", service, "v1");
      return `${service} → ${JSON.stringify(spec["selector"])}`;
    }),
  );
  const untouched = await specOf(stage, "Service", "podinfo-different-name", "v1");
  mustBe("a Service of another name stays as it is", JSON.stringify(untouched) === JSON.stringify(other), untouched);
  const { replicas } = await specOf(stage, "Deployment", name, "apps/v1");
  mustBe("the target waits with 0 replicas", replicas === 0, JSON.stringify(replicas));
  return {
    hops: { initialized: Date.now() - at },
    facts: [...selectors, "podinfo-different-name is untouched; podinfo waits with 0 replicas for its next release"],
  };
}

async function release(stage: Stage, gateway: CanaryGateway): Promise<Report> {
  const at = Date.now();
  await setImage(stage, imageOf("6.0.1"));
  const moments: Record<string, number> = {};
  for (const weight of [10, 20, 30, 40, 50]) {
    await untilStatus(stage, "canaryWeight", weight);
    moments[`${weight} %`] = Date.now() - at;
  }
  await untilStatus(stage, "phase", "Succeeded");
  moments["succeeded"] = Date.now() - at;
  await untilAnswered(stage, gateway, imageOf("6.0.1"));
  const answers = since(gateway, at);
  const failed = answers.filter(({ status }) => status !== 200);
  mustBe("no request fails", failed.length === 0, failed.slice(0, 3));
  return { hops: moments, facts: [...byWeight(answers), `requests: ${answers.length}, failed: 0`] };
}

async function rollBack(stage: Stage, gateway: CanaryGateway): Promise<Report> {
  const at = Date.now();
  await setImage(stage, imageOf("6.0.2"));
  await untilStatus(stage, "canaryWeight", 10);
  await untilStatus(stage, "failedChecks", 2);
  await untilStatus(stage, "phase", "Failed");
  const failedAt = Date.now();
  await untilAnswered(stage, gateway, imageOf("6.0.1"));
  const answers = since(gateway, at);
  const late = answers.filter((one) => one.at > failedAt + 1_000 && one.image !== imageOf("6.0.1"));
  mustBe("6.0.1 serves alone after the rollback", late.length === 0, late.slice(0, 3));
  const wrong = answers.filter((one) => one.image === imageOf("6.0.1") && one.status !== 200);
  mustBe("no request to 6.0.1 fails", wrong.length === 0, wrong.slice(0, 3));
  const primary = JSON.stringify(await specOf(stage, "Deployment", `${name}-primary`, "apps/v1"));
  mustBe("the primary keeps 6.0.1", primary.includes(imageOf("6.0.1")), primary);
  const told = (await warnings(stage)).filter((text) => /^(?:Halt|Rolling back|Canary failed)/.test(text));
  mustBe("the failed checks are told", told.length >= 3, told);
  const failed = answers.filter(({ status }) => status !== 200).length;
  return {
    hops: { "rolled back": failedAt - at },
    facts: [...told, ...byWeight(answers), `requests: ${answers.length}, failed: ${failed}, all of them of 6.0.2`],
  };
}

/** Sends requests while a scene is played. */
async function underLoad(stage: Stage, gateway: CanaryGateway, play: () => Promise<Report>): Promise<Report> {
  const http = httpClient({ network: homeNetwork });
  const over = new AbortController();
  const signal = AbortSignal.any([stage.signal, over.signal]);
  const request = { method: "GET", url: gateway.url, timeoutMs: 10_000, maxBytes: 1_000 } as const;
  const load = (async () => {
    while (!signal.aborted) {
      await http.send(request, stage.signal);
      await sleep(requestEveryMs);
    }
  })();
  try {
    return await Promise.race([play(), load.then(() => Promise.reject(new Error("the requests have ended")))]);
  } finally {
    over.abort();
    await load.catch(() => undefined);
    http.close();
  }
}

function since({ answers }: CanaryGateway, at: number): readonly Answered[] {
  return answers.filter((one) => one.at >= at);
}

/** How many requests each version has answered, by the canary's weight in the route and what the primary ran. */
function byWeight(answers: readonly Answered[]): readonly string[] {
  const groups = Map.groupBy(answers, ({ primary, weight }) => `weight ${weight} %, primary ${versionOf(primary)}`);
  return [...groups].map(([title, some]) => {
    const counts = [...Map.groupBy(some, ({ image }) => image)].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const texts = counts.map(([image, own]) => {
      const failed = own.filter(({ status }) => status !== 200).length;
      return `${own.length} to ${versionOf(image)}${failed === 0 ? "" : ` (${failed} failed)`}`;
    });
    return `${title}: ${texts.join(", ")}`;
  });
}

function versionOf(image: string): string {
  return image.split(":")[1] ?? "no pod";
}

function imageOf(version: string): string {
  return `ghcr.io/stefanprodan/podinfo:${version}`;
}

async function apply(stage: Stage, text: string, change = (manifest: Manifest) => manifest): Promise<void> {
  for (const manifest of readManifests(text)) {
    await stage.cluster.apply(change(manifest), { manager: "kubectl", force: true }, stage.signal);
  }
}

const Canary = z.looseObject({ spec: z.looseObject({ analysis: z.looseObject({}) }) });

/** The example's Canary with a metric of the gateway, and fewer failed checks before it rolls back, so that the story ends sooner. */
function measured(manifest: Manifest, { url }: CanaryGateway): Manifest {
  const { spec } = Canary.parse(manifest);
  const metrics = [{ name: "request-success-rate", interval: "1m", thresholdRange: { min: 99 } }];
  const analysis = { ...spec.analysis, threshold: 2, metrics };
  return { ...manifest, spec: { ...spec, metricsServer: `${url}/metrics-server`, analysis } };
}

/** As `kubectl set image` does. */
async function setImage(stage: Stage, image: string): Promise<void> {
  const ref = { group: "apps", version: "v1", kind: "Deployment", namespace, name };
  const body = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: image }] as const;
  await stage.cluster.patch(ref, { type: "json", body }, { manager: "kubectl" }, stage.signal);
}

async function specOf(stage: Stage, kind: string, object: string, apiVersion: string) {
  const spec = (await stage.get(kind, object, apiVersion))?.["spec"];
  return isJsonObject(spec) ? spec : {};
}

async function untilStatus(stage: Stage, field: string, wanted: string | number): Promise<void> {
  const look = async () => {
    const status = (await stage.get("Canary", name, flagger))?.["status"];
    return isJsonObject(status) ? status : {};
  };
  const isThere = async () => (await look())[field] === wanted || undefined;
  await until(`status.${field} is ${wanted}`, isThere, async () => JSON.stringify(await look()), stage.signal);
}

/** Until the gateway's answers are of this version alone. */
async function untilAnswered(stage: Stage, gateway: CanaryGateway, image: string): Promise<void> {
  const last = () => gateway.answers.slice(-20);
  const isAlone = async () => last().every((one) => one.image === image) || undefined;
  await until(`${image} answers alone`, isAlone, async () => JSON.stringify(last()), stage.signal);
}

async function warnings({ cluster, signal }: Stage): Promise<readonly string[]> {
  const fieldSelector = `involvedObject.kind=Canary,involvedObject.name=${name},type=Warning`;
  const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
  return found
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ message, count }) =>
      typeof count === "number" && count > 1 ? `${String(message)} (${count} times)` : String(message),
    );
}
