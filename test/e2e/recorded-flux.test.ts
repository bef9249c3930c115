import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { equal } from "../../lib/core/equal.ts";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import type { VersionedRef } from "../../lib/core/object-ref.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { pushArtifact } from "../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../lib/sources/oci/registry-client.ts";
import { ownSluice } from "./recorded-flux/own-sluice.ts";
import {
  comparable,
  type RecordedStep,
  recordedInput,
  recordedPushes,
  recordedStep,
  withoutRequests,
} from "./recorded-flux.ts";

const { signal } = new AbortController();
const sluice = ownSluice(signal);

const About = z.object({ kind: z.string(), name: z.string() });

/** A recorded scenario, played again on Sluice. */
class Replay {
  readonly scenario: string;
  readonly namespace: string;
  #eventsTold = 0;
  #requests = 0;

  constructor(scenario: string) {
    this.scenario = scenario;
    this.namespace = `golden-${scenario}`;
  }

  async begin(): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.namespace } };
    await sluice().cluster.create(namespace, { manager: "bench" }, signal);
  }

  async push(name: string): Promise<void> {
    const files = (await recordedPushes(this.scenario))[name] ?? {};
    const path = await mkdtemp(join(sluice().folder, "push-"));
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text);
    }
    const [tag] = name.split(",");
    const url = `oci://${sluice().registry}/${this.namespace}:${tag ?? ""}`;
    const revision = "main@sha1:0000000000000000000000000000000000000000";
    const artifact = { url, path, source: "https://example.test/repo", revision };
    const access = { insecure: true, userAgent: "test" };
    await pushArtifact(
      artifact,
      ({ host }) => registryClients(sluice().http, systemClock)({ host, ...access }),
      signal,
    );
  }

  /** Applies what the recording applied, as it did; `change` tells what is different now. */
  async apply(kind: string, name: string, change: JsonObject = {}): Promise<void> {
    const written = (await recordedInput(this.scenario)).find(
      (object) => object.kind === kind && object.metadata.name === name,
    );
    if (written === undefined) throw new Error(`the recording has no ${kind}/${name}`);
    const spec = JSON.parse(
      JSON.stringify({ ...(isJsonObject(written["spec"]) ? written["spec"] : {}), ...change }).replaceAll(
        "127.0.0.1:15000",
        sluice().registry,
      ),
    );
    await sluice().cluster.apply({ ...written, spec }, { manager: "bench", force: true }, signal);
  }

  async applyAll(): Promise<void> {
    for (const { kind, metadata } of await recordedInput(this.scenario)) await this.apply(kind, metadata.name);
  }

  async request(kind: string, name: string): Promise<void> {
    const group = kind === "Kustomization" ? "kustomize.toolkit.fluxcd.io" : "source.toolkit.fluxcd.io";
    const value = `<requested-${++this.#requests}>`;
    const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } };
    const ref = { group, version: "v1", kind, namespace: this.namespace, name };
    await sluice().cluster.patch(ref, { type: "merge", body }, { manager: "unknown" }, signal);
  }

  /** What Flux showed after this step. `unasked`: without the traces of being asked for a run. */
  async recorded(step: string, { unasked = false } = {}): Promise<unknown> {
    const { objects, events } = await recordedStep(this.scenario, step);
    return unasked ? withoutRequests(comparable({ objects, events })) : comparable({ objects, events });
  }

  /** What Sluice shows: as soon as that is what Flux showed, at the latest when patience is over. */
  async shown(step: string, { patienceMs = 15_000, unasked = false } = {}): Promise<unknown> {
    const recorded = await recordedStep(this.scenario, step);
    const wanted = await this.recorded(step, { unasked });
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const present = comparable(await this.#present(recorded));
      const shown = unasked ? withoutRequests(present) : present;
      if (equal(shown, wanted) || Date.now() > deadline) {
        this.#eventsTold += recorded.events.length;
        return shown;
      }
      await systemClock.sleep(50, signal);
    }
  }

  async #present({ objects }: RecordedStep): Promise<RecordedStep> {
    const present = await Promise.all(objects.map((object) => this.#live(object)));
    const events = (
      await sluice().cluster.list({ group: "", version: "v1", kind: "Event", namespace: this.namespace }, signal)
    )
      .filter((event) => ["source-controller", "kustomize-controller"].includes(String(event["reportingComponent"])))
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .slice(this.#eventsTold)
      .map((event) => {
        const about = About.parse(event["involvedObject"]);
        const { annotations = {} } = event.metadata;
        return {
          object: `${about.kind}/${about.name}`,
          type: event["type"],
          reason: event["reason"],
          message: event["message"],
          source: event["reportingComponent"],
          ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
        };
      });
    return { objects: present, events };
  }

  async #live(recorded: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const kind = String(recorded["kind"]);
    const metadata = isJsonObject(recorded["metadata"]) ? recorded["metadata"] : {};
    const name = String(metadata["name"] ?? recorded["name"]);
    const group = kind === "Kustomization" ? "kustomize.toolkit.fluxcd.io" : "source.toolkit.fluxcd.io";
    const live = await sluice().cluster.get({ group, version: "v1", kind, namespace: this.namespace, name }, signal);
    return live === undefined ? recorded : { ...live };
  }

  async delete(kind: string, name: string): Promise<VersionedRef> {
    const ref = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind, namespace: this.namespace, name };
    await sluice().cluster.delete(ref, { propagation: "Background" }, signal);
    return ref;
  }
}

async function replay(scenario: string): Promise<Replay> {
  const played = new Replay(scenario);
  await played.begin();
  return played;
}

describe("what Flux wrote in recorded runs, Sluice writes too", () => {
  test("seed-prune", async () => {
    const scene = await replay("seed-prune");
    await scene.push("latest, push 1");
    await scene.applyAll();
    expect(await scene.shown("01-create")).toEqual(await scene.recorded("01-create"));
    await scene.push("latest, push 2");
    await scene.request("OCIRepository", "web");
    expect(await scene.shown("02-remove-pdb")).toEqual(await scene.recorded("02-remove-pdb"));
    await scene.request("Kustomization", "web");
    expect(await scene.shown("03-no-op")).toEqual(await scene.recorded("03-no-op"));
    const { namespace } = scene;
    const service = { group: "", version: "v1", kind: "Service", namespace, name: "web" };
    const ports = [{ port: 80, protocol: "TCP", targetPort: 9999 }];
    const body = { metadata: { labels: { "by-hand": "yes" } }, spec: { ports } };
    await sluice().cluster.patch(service, { type: "merge", body }, { manager: "kubectl-edit" }, signal);
    const hpa = { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", namespace, name: "web" };
    await sluice().cluster.delete(hpa, { propagation: "Background" }, signal);
    await scene.request("Kustomization", "web");
    expect(await scene.shown("04-drift-corrected")).toEqual(await scene.recorded("04-drift-corrected"));
    const ref = await scene.delete("Kustomization", "web");
    await expect.poll(() => sluice().cluster.get(ref, signal), { timeout: 10_000 }).toBeUndefined();
    expect(await scene.shown("05-delete-kustomization")).toEqual(await scene.recorded("05-delete-kustomization"));
  });

  test("build-bad-yaml", async () => {
    const scene = await replay("build-bad-yaml");
    await scene.push("latest, push 1");
    await scene.applyAll();
    expect(await scene.shown("01-failed")).toEqual(await scene.recorded("01-failed"));
  });

  test("dry-run-invalid-value", async () => {
    const scene = await replay("dry-run-invalid-value");
    await scene.push("latest, push 1");
    await scene.applyAll();
    expect(await scene.shown("01-failed")).toEqual(await scene.recorded("01-failed"));
  });

  test("depends-on", async () => {
    const scene = await replay("depends-on");
    await scene.push("latest, push 1");
    await scene.apply("OCIRepository", "app");
    await scene.apply("Kustomization", "app");
    expect(await scene.shown("01-missing")).toEqual(await scene.recorded("01-missing"));
    await scene.apply("Kustomization", "base", { path: "./bad" });
    await scene.request("Kustomization", "app");
    expect(await scene.shown("02-not-ready")).toEqual(await scene.recorded("02-not-ready"));
    await scene.apply("Kustomization", "base", { path: "./base" });
    // Flux was asked to look again; Sluice looks as soon as the dependency is ready, and being asked would be one run more.
    expect(await scene.shown("03-ready", { unasked: true })).toEqual(
      await scene.recorded("03-ready", { unasked: true }),
    );
  });

  test("prune-false", async () => {
    const scene = await replay("prune-false");
    await scene.push("latest, push 1");
    await scene.applyAll();
    const configMap = { group: "", version: "v1", kind: "ConfigMap", namespace: scene.namespace, name: "b" };
    await expect.poll(() => sluice().cluster.get(configMap, signal), { timeout: 10_000 }).toBeDefined();
    await scene.push("latest, push 2");
    expect(await scene.shown("01-b-removed-from-source")).toEqual(await scene.recorded("01-b-removed-from-source"));
    const ref = await scene.delete("Kustomization", "app");
    await expect.poll(() => sluice().cluster.get(ref, signal), { timeout: 10_000 }).toBeUndefined();
    expect(await scene.shown("02-delete-kustomization")).toEqual(await scene.recorded("02-delete-kustomization"));
  });

  test("suspend-resume", async () => {
    const scene = await replay("suspend-resume");
    await scene.push("latest, push 1");
    await scene.applyAll();
    expect(await scene.shown("01-running")).toEqual(await scene.recorded("01-running"));
    await scene.apply("Kustomization", "app", { suspend: true });
    await scene.push("latest, push 2");
    await scene.request("OCIRepository", "app");
    await scene.request("Kustomization", "app");
    expect(await scene.shown("02-suspended")).toEqual(await scene.recorded("02-suspended"));
    await scene.apply("Kustomization", "app", { suspend: false });
    expect(await scene.shown("03-resumed")).toEqual(await scene.recorded("03-resumed"));
    await scene.apply("OCIRepository", "app", { suspend: true });
    await scene.request("OCIRepository", "app");
    expect(await scene.shown("04-source-suspended")).toEqual(await scene.recorded("04-source-suspended"));
  });

  test("health-check-timeout", { timeout: 60_000 }, async () => {
    const scene = await replay("health-check-timeout");
    await scene.push("latest, push 1");
    await scene.applyAll();
    expect(await scene.shown("01-waiting")).toEqual(await scene.recorded("01-waiting"));
    expect(await scene.shown("02-timeout", { patienceMs: 45_000 })).toEqual(await scene.recorded("02-timeout"));
    await scene.push("latest, push 2");
    expect(await scene.shown("03-recovered")).toEqual(await scene.recorded("03-recovered"));
  });
});
