import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { readManifests } from "../../../local/demo/read-manifests.ts";
import { layerKubectl } from "../../../local/layer.ts";
import { withinDeadline } from "../../deadline.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type FleetHosts, fleetHosts } from "./fleet-hosts.ts";
import { readyTexts } from "./fluxs-objects.ts";

const run = promisify(execFile);
const { signal } = new AbortController();
const waiting = { ...withinDeadline, interval: 250 };
const page = await readFile(join(import.meta.dirname, "../../../docs/moving-from-flux.md"), "utf8");
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);
const [stopsFlux = "", keepsDefinitions = ""] = blocks("yaml");
const commands = blocks("sh")
  .flatMap((block) => block.split("\n"))
  .map((line) => line.replace(/ +#.*$/, ""));

const bootstrapped = "clusters/production/flux-system";
const stopped = (commands.find((line) => line.includes("source-watcher") && line.endsWith("--replicas=0")) ?? "")
  .split(" ")
  .filter((word) => /-(controller|watcher)$/.test(word));

/** What `gotk-components.yaml` has: a namespace, a definition, and the controllers with one replica each. */
const components: readonly Manifest[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "flux-system" } },
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  },
  ...stopped.map((name) => controller("flux-system", name)),
];

function controller(namespace: string, name: string): Manifest {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: { "app.kubernetes.io/part-of": "flux" } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "manager", image: `${name}:v1` }] } },
    },
  };
}

describe.skipIf(gitPrograms === undefined)(
  "the guide to move from Flux, on a cluster that flux has bootstrapped",
  () => {
    const open = new AsyncDisposableStack();
    let world: CliWorld;
    let hosts: FleetHosts;
    let kubectl: string;

    beforeAll(async () => {
      kubectl = await layerKubectl(() => {});
      world = await cliWorld();
      open.defer(() => world.close());
      hosts = await fleetHosts({ registry: world.registry, environment: "production" }, open, signal);
      const gotk = components.map((one) => JSON.stringify(one)).join("\n---\n");
      await hosts.commit((files) => ({
        ...files,
        [`${bootstrapped}/gotk-components.yaml`]: gotk,
        [`${bootstrapped}/kustomization.yaml`]: stopsFlux,
      }));
      const flagger = { apiVersion: "v1", kind: "Namespace", metadata: { name: "flagger-system" } };
      await apply([...components, flagger, controller("flagger-system", "flagger")]);
    });
    afterAll(() => open.disposeAsync());
    const apply = async (manifests: readonly Manifest[]): Promise<void> => {
      for (const manifest of manifests) {
        await world.cluster.apply(manifest, { manager: "flux", force: true }, signal);
      }
    };

    const replicas = async (): Promise<Readonly<Record<string, unknown>>> => {
      const found = await world.cluster.list({ group: "apps", version: "v1", kind: "Deployment" }, signal);
      const controllers = found.filter(({ metadata: { labels } }) => labels?.["app.kubernetes.io/part-of"] === "flux");
      return Object.fromEntries(
        controllers.map(({ metadata: { name }, spec }) => [
          name,
          spec !== null && typeof spec === "object" && "replicas" in spec ? spec.replicas : undefined,
        ]),
      );
    };
    const runCommand = (line: string) => {
      const words = (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ""));
      const env = { KUBECONFIG: world.kubeconfig, PATH: process.env["PATH"] ?? "", HOME: tmpdir() };
      return run(kubectl, words.slice(1), { env });
    };
    const untilReady = () =>
      vi.waitFor(async () => {
        const texts = Object.entries(await readyTexts(world.cluster, signal));
        expect(texts.filter(([, text]) => !text.startsWith("True"))).toEqual([]);
        expect(texts).toHaveLength(11);
      }, waiting);
    const allWith = (count: number) => Object.fromEntries([...stopped, "flagger"].map((name) => [name, count]));

    test("its commands stop all controllers and start them again", async () => {
      const scaling = commands.filter((line) => line.startsWith("kubectl") && line.includes(" scale "));
      for (const line of scaling.filter((one) => one.endsWith("=0"))) await runCommand(line);
      expect(await replicas()).toEqual(allWith(0));
      for (const line of scaling.filter((one) => one.endsWith("=1"))) await runCommand(line);
      expect(await replicas()).toEqual(allWith(1));
    });

    describe("with the repository", () => {
      beforeAll(() => apply(readManifests(hosts.bootstrap)));

      test("its first command says that everything can move, and which controllers to stop", async () => {
        await untilReady();
        const { code, err } = await world.sh("check", "--migration");
        expect(err).toContain("\n✔ everything can move\n");
        expect(code).toBe(0);
        for (const name of stopped) expect(err).toContain(`Deployment/flux-system/${name}`);
      });

      test("its checks after the move find nothing amiss", async () => {
        await untilReady();
        const checks = commands.filter((line) => /^sluice (?:check$|get )/.test(line));
        const codes: Record<string, number> = {};
        for (const line of checks) codes[line] = (await world.sh(...line.split(" ").slice(1))).code;
        const unready = "sluice get all -A --status-selector ready=false";
        expect(codes).toEqual({ "sluice check": 0, "sluice get kustomizations -A": 0, [unready]: 1 });
        expect((await world.sh(...unready.split(" ").slice(1))).err).toBe("✗ no objects found in any namespace\n");
      });

      test("its command lists the addresses of all artifacts", async () => {
        await untilReady();
        const line = commands.find((one) => one.includes("artifact.url")) ?? "";
        const { stdout } = await runCommand(line);
        expect(stdout).toContain("http://sluice.invalid/");
      });

      test("with its patch in the repository the controllers that flux bootstrap has committed stay stopped", async () => {
        await untilReady();
        await vi.waitFor(
          async () => expect(await replicas()).toMatchObject({ "source-controller": 0, "helm-controller": 0 }),
          waiting,
        );
      });

      test("with its other patch the controllers can be removed from the repository, and definitions and namespace stay", async () => {
        const path = `${bootstrapped}/kustomization.yaml`;
        await hosts.commit((files) => ({
          ...files,
          [path]: `${files[path]}${keepsDefinitions.replace("patches:\n", "")}`,
        }));
        const definition = {
          group: "apiextensions.k8s.io",
          version: "v1",
          kind: "CustomResourceDefinition",
          namespace: "",
          name: "things.example.com",
        };
        expect((await world.sh("reconcile", "kustomization", "flux-system", "--with-source")).code).toBe(0);
        expect((await world.cluster.get(definition, signal))?.metadata.annotations).toMatchObject({
          "kustomize.toolkit.fluxcd.io/prune": "disabled",
        });
        await hosts.commit(({ [`${bootstrapped}/gotk-components.yaml`]: _gone, ...files }) => ({
          ...files,
          [path]: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - gotk-sync.yaml\n",
        }));
        expect((await world.sh("reconcile", "kustomization", "flux-system", "--with-source")).code).toBe(0);
        expect(Object.keys(await replicas())).toEqual(["flagger"]);
        expect(await world.cluster.get(definition, signal)).toBeDefined();
        await untilReady();
      });
    });
  },
);
