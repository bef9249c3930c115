import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { readManifests } from "../../../local/demo/read-manifests.ts";
import { startRegistry } from "../../../local/registry/start-registry.ts";
import { withinDeadline } from "../../deadline.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Terminals, terminals } from "../../doubles/terminal.ts";
import { blocksToRun, statementsOf } from "../../unit/documents/page-blocks.ts";
import { mergedKubeconfig } from "../pages/merged-kubeconfig.ts";
import { type FleetHosts, fleetHosts } from "./fleet-hosts.ts";
import { readyTexts } from "./fluxs-objects.ts";

const { signal } = new AbortController();
const waiting = { ...withinDeadline, interval: 250 };
const guide = "docs/moving-from-flux.md";
const page = await readFile(join(import.meta.dirname, "../../..", guide), "utf8");
const [stopsFlux = "", keepsDefinitions = ""] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(
  ([, yaml = ""]) => yaml,
);
const [look = "", stop = "", stopFlagger = "", start = "", check = "", release = "", pause = "", ...restart] =
  await blocksToRun("docs/moving-from-flux.md", 9);
const [lookOnItsPage = ""] = await blocksToRun("docs/check-migration.md", 1);

const bootstrapped = "clusters/production/flux-system";
const stopped = stop.match(/[a-z-]+-(?:controller|watcher)\b/g) ?? [];
const Scaled = z.object({ replicas: z.number() });
const Report = z.object({ settings: z.record(z.string(), z.unknown()) });

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
  "the guide to move from Flux, typed on a cluster that flux has bootstrapped",
  () => {
    const open = new AsyncDisposableStack();
    let folder = "";
    let typed: Terminals;
    let hosts: FleetHosts;
    let cluster: EmbeddedCluster["cluster"];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "sluice-guide-"));
      open.defer(() => rm(folder, { recursive: true, force: true }));
      const embedded = open.use(await embeddedCluster());
      ({ cluster } = embedded);
      typed = open.use(await terminals(folder, {}));
      const registry = await startRegistry({
        folder: join(folder, "registry"),
        port: 0,
        log: silentLog,
        onPush: () => {},
      });
      open.defer(() => registry.close());
      hosts = await fleetHosts({ registry: registry.address, environment: "production" }, open, signal);
      await mkdir(join(folder, ".kube"));
      const prod = { context: "prod", cluster: "prod", server: embedded.server };
      await writeFile(join(folder, ".kube/config"), mergedKubeconfig([prod]));
      const flagger = { apiVersion: "v1", kind: "Namespace", metadata: { name: "flagger-system" } };
      const theirs = [
        ...components,
        flagger,
        controller("flagger-system", "flagger"),
        ...readManifests(hosts.bootstrap),
      ];
      for (const manifest of theirs) await cluster.apply(manifest, { manager: "flux", force: true }, signal);
    });
    afterAll(() => open.disposeAsync());

    const run = (line: string): Promise<string> => typed.run(folder, line);
    const replicas = async (): Promise<Readonly<Record<string, unknown>>> => {
      const found = await cluster.list({ group: "apps", version: "v1", kind: "Deployment" }, signal);
      const controllers = found.filter(({ metadata: { labels } }) => labels?.["app.kubernetes.io/part-of"] === "flux");
      return Object.fromEntries(controllers.map((one) => [one.metadata.name, Scaled.parse(one["spec"]).replicas]));
    };
    const allWith = (count: number) => Object.fromEntries([...stopped, "flagger"].map((name) => [name, count]));
    const untilReady = () =>
      vi.waitFor(async () => {
        const texts = Object.entries(await readyTexts(cluster, signal));
        expect(texts.filter(([, text]) => !text.startsWith("True"))).toEqual([]);
        expect(texts).toHaveLength(11);
      }, waiting);
    const startSluice = async () => {
      const screen = typed.open(folder, start);
      await vi.waitFor(() => expect(screen()).toContain("Sluice is ready."), withinDeadline);
    };

    test.each([
      [guide, look],
      ["docs/check-migration.md", lookOnItsPage],
    ])("the first command of %s says that everything can move, and which controllers to stop", async (_page, first) => {
      const printed = await run(`(${first.trimEnd()}\n) 2>&1`);
      expect(printed).toContain("\n✔ everything can move\n");
      for (const name of stopped) expect(printed).toContain(`Deployment/flux-system/${name}`);
    });

    test("its commands stop all controllers, and Sluice starts with the settings of the report", async () => {
      const { settings } = Report.parse(JSON.parse(await run(look.replace("\n", " -o json\n"))));
      await writeFile(join(folder, "settings.json"), JSON.stringify(settings));
      await run(stop + stopFlagger);
      expect(stopped).toHaveLength(7);
      expect(await replicas()).toEqual(allWith(0));
      await hosts.commit((files) => ({
        ...files,
        [`${bootstrapped}/gotk-components.yaml`]: components.map((one) => JSON.stringify(one)).join("\n---\n"),
        [`${bootstrapped}/kustomization.yaml`]: stopsFlux,
      }));
      await startSluice();
      await untilReady();
    });

    test("its checks after the move find nothing amiss", async () => {
      const shown = await Promise.all(
        statementsOf(check).map((line) => run(`(${line}\n) 2>&1 || echo "ended with $?"`)),
      );
      expect(shown).toEqual([
        expect.stringMatching(/✔ [^]*(?<!ended with \d\n)$/),
        expect.stringMatching(/\tTrue +\tApplied revision: main@sha1:/),
        "✗ no objects found in any namespace\nended with 1\n",
      ]);
    });

    test("its way back gives up the cluster, starts all controllers and lists the addresses of all artifacts", async () => {
      await typed.closeAll();
      await run(release);
      await run(pause);
      const [first = "", second = ""] = restart;
      expect(await run(first)).toContain("http://sluice.invalid/");
      await run(second);
      expect(await replicas()).toEqual(allWith(1));
      const owner = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
      expect(await cluster.get(owner, signal)).toBeUndefined();
    });

    test("moving again, its patch in the repository stops the controllers that flux bootstrap has committed", async () => {
      await startSluice();
      await run("sluice reconcile kustomization flux-system");
      expect(await replicas()).toEqual({ ...allWith(0), flagger: 1 });
    });

    test("with its other patch the controllers can be removed from the repository, and definitions and namespace stay", async () => {
      const reconcile = "sluice reconcile kustomization flux-system --with-source";
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
      await run(reconcile);
      expect((await cluster.get(definition, signal))?.metadata.annotations).toMatchObject({
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
      });
      await hosts.commit(({ [`${bootstrapped}/gotk-components.yaml`]: _gone, ...files }) => ({
        ...files,
        [path]: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - gotk-sync.yaml\n",
      }));
      await run(reconcile);
      expect(Object.keys(await replicas())).toEqual(["flagger"]);
      expect(await cluster.get(definition, signal)).toBeDefined();
      await untilReady();
    });
  },
);
