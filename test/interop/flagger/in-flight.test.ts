import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { CanaryStatus } from "../../../lib/api/canary.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { LoggedEnd } from "../../../local/sluice-process.ts";
import { type BothSides, bothSides, flaggerHasLooked, missing, namespace, waiting } from "./both-sides.ts";

const { signal } = new AbortController();
const name = "shop";
const changed = [
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "", version: "v1", kind: "Service" },
  { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute" },
] as const;
/** What a run tells, in either order; how long pods take to become ready is told too, and differs. */
const isOfRun = /^(?:New revision|Starting|Advance|Halt|Copying|Routing|Promotion|Rolling|Canary failed)/;

/** Whether a side has done its part of a run: by what it has told, and the status. */
type IsOver = (told: readonly string[], status: CanaryStatus) => boolean;
type Side = "flagger" | "sluice";

interface Running {
  /** What it has told of the Canary since its start. */
  readonly texts: () => Promise<readonly string[]>;
  /** Resolves once it has looked at the Canary. */
  readonly hasLooked: () => Promise<unknown>;
  readonly end: () => Promise<void>;
}

describe.skipIf(missing !== undefined)(
  `a run with weights and a metric that Flagger and Sluice continue in turn${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    const open = new AsyncDisposableStack();
    let sides: BothSides;
    let prometheus: Prometheus;
    const told: string[] = [];
    const weights: string[] = [];

    beforeAll(async () => {
      sides = await bothSides(open);
      prometheus = await startPrometheus(open);
      const routes = join(import.meta.dirname, "../../../local/demo/gateway-api/httproutes.json");
      await sides.apply(Definition.parse(JSON.parse(await readFile(routes, "utf8"))));
      await sides.apply(deployment("1"));
      await sides.apply(canaryOf(prometheus.address));
      await turn("flagger", (_, { phase }) => phase === "Initialized");
    });
    afterAll(() => open.disposeAsync());

    /** One side runs until its part is over, and ends. Keeps what it has told, and each pair of weights that the route had. */
    async function turn(side: Side, isOver: IsOver): Promise<void> {
      const running = await startSide(side);
      let texts: readonly string[] = [];
      await vi.waitUntil(async () => {
        const [status, pair] = [await sides.status(name), await weightsOf()];
        if (pair !== undefined && pair !== weights.at(-1)) weights.push(pair);
        texts = (await running.texts()).filter((text) => isOfRun.test(text));
        return isOver(texts, status);
      }, waiting);
      await running.end();
      const last = await weightsOf();
      if (last !== undefined && last !== weights.at(-1)) weights.push(last);
      told.push(...texts);
    }

    async function startSide(side: Side): Promise<Running> {
      if (side === "flagger") {
        const before = (await sides.flaggerLog()).length;
        const since = await sides.audit.end();
        const flagger = await sides.flagger();
        return {
          texts: async () => (await sides.flaggerLog()).slice(before).split("\n").flatMap(textOfLine),
          hasLooked: () => flaggerHasLooked(name, since, sides),
          end: async () => await flagger[Symbol.asyncDispose](),
        };
      }
      const before = (await events()).map(({ metadata }) => metadata.uid);
      const sluice = await sides.sluice();
      const isNew = ({ metadata }: AnEvent): boolean => !before.includes(metadata.uid);
      const isOfCanary = ({ key }: LoggedEnd): boolean => key.kind === "Canary" && key.name === name;
      return {
        texts: async () => (await events()).filter(isNew).map(({ message }) => message),
        hasLooked: () => vi.waitUntil(() => sluice.ends.some(isOfCanary), waiting),
        end: async () => {
          expect(await sluice.stop()).toBe(0);
        },
      };
    }

    async function events() {
      const live = await sides.cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      const all = live.map((one) => AnEvent.parse(one)).filter(({ involvedObject }) => involvedObject.name === name);
      return all.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    }

    async function weightsOf(): Promise<string | undefined> {
      const ref = { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute", namespace, name };
      const route = await sides.cluster.get(ref, signal);
      if (route === undefined) return undefined;
      const [rule] = Route.parse(route).spec.rules;
      const weightOf = (backend: string) => rule.backendRefs.find((one) => one.name === backend)?.weight ?? 0;
      return `${weightOf(`${name}-primary`)}/${weightOf(`${name}-canary`)}`;
    }

    async function release(tag: string): Promise<void> {
      told.length = 0;
      weights.length = 0;
      await sides.apply(deployment(tag));
    }

    /** A side looks at a run that is over, and changes and tells nothing. */
    async function rests(side: Side): Promise<void> {
      const kept = await present();
      const running = await startSide(side);
      await running.hasLooked();
      const texts = await running.texts();
      await running.end();
      expect(await present()).toEqual(kept);
      expect(texts.filter((text) => isOfRun.test(text))).toEqual([]);
    }

    /** Without a time that Flagger writes at each look at a Canary that has failed. */
    async function present() {
      const { status, objects } = await sides.present(name, ...changed);
      return { status: { ...status, lastTransitionTime: "" }, objects };
    }

    const advanced =
      (weight: number): IsOver =>
      (texts) =>
        texts.includes(`Advance ${name}.${namespace} canary weight ${weight}`);
    const promoting: IsOver = (_, { phase }) => phase === "Promoting";
    const succeeded: IsOver = (texts) => texts.some((text) => text.startsWith("Promotion completed!"));
    const halted: IsOver = (texts, { failedChecks }) => texts.length > 0 && (failedChecks ?? 0) >= 1;
    const failed: IsOver = (_, { phase }) => phase === "Failed";

    test.each([
      { tag: "2", order: ["flagger", "sluice", "flagger", "sluice"], next: "flagger" },
      { tag: "3", order: ["sluice", "flagger", "sluice", "flagger"], next: "sluice" },
    ] as const)(
      "$order.0 starts a run, and each side takes the next step: no step twice, no new run",
      async (story) => {
        const [first, second, third, fourth] = story.order;
        await release(story.tag);
        await turn(first, advanced(30));
        await turn(second, advanced(60));
        await turn(third, promoting);
        await turn(fourth, succeeded);
        expect(told).toEqual([
          "New revision detected! Scaling up shop.default",
          "Starting canary analysis for shop.default",
          "Advance shop.default canary weight 30",
          "Advance shop.default canary weight 60",
          "Copying shop.default template spec to shop-primary.default",
          "Routing all traffic to primary",
          "Promotion completed! Scaling down shop.default",
        ]);
        expect(weights).toEqual(["100/0", "70/30", "40/60", "100/0"]);
        const primary = await sides.get("apps", "v1", "Deployment", "shop-primary");
        expect(JSON.stringify(primary["spec"])).toContain(`"image":"shop:${story.tag}"`);
        await rests(story.next);
      },
    );

    test.each([
      { tag: "4", first: "flagger", second: "sluice" },
      { tag: "5", first: "sluice", second: "flagger" },
    ] as const)(
      "after a failed check with $first, $second continues its count and rolls back; $first does not retry",
      async (story) => {
        await release(story.tag);
        await turn(story.first, advanced(30));
        prometheus.answer = "50";
        await turn(story.first, halted);
        await turn(story.second, failed);
        prometheus.answer = "100";
        expect(told).toEqual([
          "New revision detected! Scaling up shop.default",
          "Starting canary analysis for shop.default",
          "Advance shop.default canary weight 30",
          "Halt shop.default advancement success rate 50.00% < 99%",
          "Halt shop.default advancement success rate 50.00% < 99%",
          "Rolling back shop.default failed checks threshold reached 2",
          "Canary failed! Scaling down shop.default",
        ]);
        expect(weights).toEqual(["100/0", "70/30", "100/0"]);
        await rests(story.first);
      },
    );
  },
);

const Definition = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

type AnEvent = z.infer<typeof AnEvent>;
const AnEvent = z.object({
  metadata: z.object({ uid: z.string(), resourceVersion: z.string() }),
  involvedObject: z.object({ name: z.string() }),
  message: z.string(),
});

const Backend = z.object({ name: z.string(), weight: z.number().exactOptional() });
const Rule = z.object({ backendRefs: z.array(Backend) });
const Route = z.object({ spec: z.object({ rules: z.tuple([Rule], Rule) }) });

const LogLine = z.object({ msg: z.string(), canary: z.literal(`${name}.${namespace}`) });

/** What Flagger tells of the Canary in this line of its log; it has every event, and is written before the event. */
function textOfLine(line: string): readonly string[] {
  if (!line.startsWith("{") || !line.endsWith("}")) return [];
  const { data } = LogLine.safeParse(JSON.parse(line));
  return data === undefined ? [] : [data.msg];
}

interface Prometheus {
  readonly address: string;
  /** To each query but that by which Flagger sees that it is there. */
  answer: string;
}

async function startPrometheus(open: AsyncDisposableStack): Promise<Prometheus> {
  const server = createServer(({ url = "" }, response) => {
    const value = url.includes("vector%281%29") ? "1" : prometheus.answer;
    const result = [{ metric: {}, value: [Date.now() / 1_000, value] }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.defer(() => void server.close());
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const prometheus: Prometheus = { address: `http://127.0.0.1:${port}`, answer: "100" };
  return prometheus;
}

function canaryOf(metricsServer: string): Manifest {
  const spec: JsonObject = {
    provider: "gatewayapi:v1",
    metricsServer,
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    service: { port: 80, gatewayRefs: [{ name: "gateway", namespace: "gateway" }] },
    analysis: {
      interval: "10s",
      threshold: 2,
      maxWeight: 60,
      stepWeight: 30,
      metrics: [{ name: "request-success-rate", interval: "1m", thresholdRange: { min: 99 } }],
    },
  };
  return { apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata: { name, namespace }, spec };
}

function deployment(tag: string): Manifest {
  const labels = { app: name };
  const containers = [{ name, image: `${name}:${tag}`, ports: [{ containerPort: 80 }] }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}
