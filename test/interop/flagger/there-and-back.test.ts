import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { configHash } from "../../../lib/canary/revision/config-hash.ts";
import { templateHash } from "../../../lib/canary/revision/template-hash.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { type BothSides, bothSides, flaggerHasLooked, missing, namespace, waiting } from "./both-sides.ts";

const released = [
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "", version: "v1", kind: "Service" },
  { group: "", version: "v1", kind: "ConfigMap" },
] as const;

describe.skipIf(missing !== undefined)(
  `Flagger itself, on its own control plane, and Sluice${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    const open = new AsyncDisposableStack();
    let sides: BothSides;
    beforeAll(async () => {
      sides = await bothSides(open);
    });
    afterAll(() => open.disposeAsync());

    const untilReleased = async (tag: string): Promise<void> => {
      await vi.waitFor(async () => {
        const primary = await sides.get("apps", "v1", "Deployment", "web-primary");
        expect(JSON.stringify(primary["spec"])).toContain(`"image":"web:${tag}"`);
        expect(await sides.status("web")).toMatchObject({ phase: "Succeeded" });
      }, waiting);
    };

    test("a Canary moves to Sluice and back: neither starts a run for a revision that the other promoted, and each releases the next", async () => {
      await sides.apply(settings("blue"));
      await sides.apply(deployment("1"));
      await sides.apply(canary);
      {
        await using _flagger = await sides.flagger();
        await vi.waitFor(
          async () => expect(await sides.status("web")).toMatchObject({ phase: "Initialized" }),
          waiting,
        );
        await sides.apply(deployment("2"));
        await untilReleased("2");
      }
      const byFlagger = await sides.present("web", ...released);

      const over = await sides.sluice();
      await vi.waitUntil(() => over.ends.some(({ key }) => key.kind === "Canary"), waiting);
      expect(await sides.present("web", ...released)).toEqual(byFlagger);
      await sides.apply(settings("green"));
      await sides.apply(deployment("3"));
      await untilReleased("3");
      const bySluice = await sides.present("web", ...released);
      expect(await over.stop()).toBe(0);
      const target = await sides.get("apps", "v1", "Deployment", "web");
      expect(bySluice.status).toMatchObject({
        lastAppliedSpec: templateHash(templateOf(target)),
        lastPromotedSpec: templateHash(templateOf(target)),
        trackedConfigs: { "configmap/settings": configHash({ color: "green" }) },
      });

      const since = await sides.audit.end();
      await using _flagger = await sides.flagger();
      await flaggerHasLooked("web", since, sides);
      expect(await sides.present("web", ...released)).toEqual(bySluice);
      await sides.apply(deployment("4"));
      await untilReleased("4");
    });

    test("a run in progress continues where the other side has stopped, and does not start again", async () => {
      const seen: number[] = [];
      const until = (iterations: number) =>
        vi.waitUntil(async () => {
          const { iterations: now = 0, phase } = await sides.status("web");
          if (phase === "Progressing") seen.push(now);
          return phase === "Progressing" && now >= iterations;
        }, waiting);
      await sides.apply({ ...canary, spec: { ...canarySpec, skipAnalysis: false } });
      await sides.apply(deployment("5"));
      {
        await using _flagger = await sides.flagger();
        await until(1);
      }
      const over = await sides.sluice();
      await until(2);
      expect(await over.stop()).toBe(0);
      await using _flagger = await sides.flagger();
      await untilReleased("5");
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });
  },
);

function templateOf(live: LiveObject): JsonObject {
  return z.object({ template: z.custom<JsonObject>() }).parse(live["spec"]).template;
}

const canarySpec = {
  provider: "kubernetes",
  targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  service: { port: 80 },
  skipAnalysis: true,
  analysis: { interval: "10s", threshold: 1, iterations: 3 },
};

const canary: Manifest = {
  apiVersion: "flagger.app/v1beta1",
  kind: "Canary",
  metadata: { name: "web", namespace },
  spec: canarySpec,
};

function settings(color: string): Manifest {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace }, data: { color } };
}

/** With quantities and a probe, whose Go types are the hard ones to hash. */
function deployment(tag: string): Manifest {
  const labels = { app: "web" };
  const container = {
    name: "web",
    image: `web:${tag}`,
    ports: [{ containerPort: 80 }],
    envFrom: [{ configMapRef: { name: "settings" } }],
    resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { memory: "0.5Gi" } },
    readinessProbe: { httpGet: { path: "/", port: 80 } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}
