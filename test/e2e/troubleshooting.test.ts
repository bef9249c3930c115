import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Manifest } from "../../lib/core/manifest.ts";
import { layerKubectl } from "../../local/layer.ts";
import { deadlineMs, withinDeadline } from "../deadline.ts";
import { portOf } from "../doubles/port-on-loopback.ts";
import { blocksToRun } from "../unit/documents/page-blocks.ts";
import { commandsOf } from "../unit/documents/shell-commands.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
/** A chat that takes what is sent to it, but for a channel that is gone. */
const chat = createServer((request, response) => {
  request.resume();
  response.writeHead(request.url === "/gone" ? 404 : 200).end();
});
const Objects = z.array(z.custom<Manifest>((value) => z.looseObject({ kind: z.string() }).safeParse(value).success));

/**
 * What a reader of the page has: an object of each kind that its commands name. Nothing listens at the addresses of the sources. The Alert
 * comes before what it tells of, since an event from before it is not sent.
 */
const objects = (registry: string, address: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: apps }
---
apiVersion: v1
kind: Secret
metadata: { name: token, namespace: apps }
stringData: { token: "0123456789abcdef" }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: web, namespace: apps }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit }
subjects: [{ kind: ServiceAccount, name: web, namespace: apps }]
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: { name: chat, namespace: apps }
spec: { type: generic, address: "${address}" }
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: { name: gone, namespace: apps }
spec: { type: generic, address: "${address}gone" }
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: { name: failures, namespace: apps }
spec: { providerRef: { name: gone }, eventSources: [{ kind: OCIRepository, name: "*" }] }
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: web, namespace: apps }
spec: { interval: 10m, url: "http://127.0.0.1:9/web.git" }
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: web, namespace: apps }
spec: { interval: 10m, prune: true, sourceRef: { kind: GitRepository, name: web } }
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: { name: web, namespace: apps }
spec: { interval: 10m, url: "oci://127.0.0.1:9/web", insecure: true }
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: { name: web, namespace: apps }
spec: { interval: 10m, chartRef: { kind: OCIRepository, name: web }, values: { replicas: 2 } }
---
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: { name: web, namespace: apps }
spec: { type: generic, secretRef: { name: token }, resources: [{ kind: GitRepository, name: web }] }
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: { name: web, namespace: apps }
spec: { interval: 10m, image: "${registry}/web", insecure: true }
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: { name: web, namespace: apps }
spec: { imageRepositoryRef: { name: web }, policy: { semver: { range: 1.x } } }
---
apiVersion: flagger.app/v1beta1
kind: Canary
metadata: { name: web, namespace: apps }
spec:
  targetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  service: { port: 80 }
  analysis: { interval: 1m, threshold: 2, iterations: 2 }
`;

let world: CliWorld;
let kubectl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => chat.listen(0, "127.0.0.1", resolve));
  [world, kubectl] = await Promise.all([cliWorld(), layerKubectl(() => {})]);
  for (const object of Objects.parse(loadAll(objects(world.registry, `http://127.0.0.1:${portOf(chat)}/`)))) {
    await world.cluster.apply(object, { manager: "kubectl", force: true }, signal);
  }
  const file = join(world.folder, "web.yaml");
  const pushed = ["push", "artifact", `oci://${world.registry}/web:1.0.0`, "-f", file];
  await writeFile(file, "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web }\n");
  for (const args of [
    [...pushed, "--source", "local", "--revision", "v1"],
    ["reconcile", "image", "repository", "web", "-n", "apps"],
    ["reconcile", "image", "policy", "web", "-n", "apps"],
  ]) {
    const { code, err } = await world.sh(...args);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`);
  }
});
afterAll(async () => {
  await world.close();
  chat.close();
});

const commands = (await blocksToRun("docs/troubleshooting.md", 11)).flatMap(commandsOf);

/** What a reader of the page sees with {@link objects}, in the words of the page or of Flux. */
const shown: Readonly<Record<string, RegExp>> = {
  "sluice get all -A":
    /\tgitrepository\/web\t.*\tFalse\tfailed to checkout[^]*\tkustomization\/web\t.*\tFalse\tSource artifact/,
  "sluice events -A --types Warning": /\tWarning\tGitOperationFailed *\tGitRepository\/web *\t/,
  "sluice check": /rights of this identity\n✔ [^]*owner of this cluster\n✔ local-\w+ at [^]*✔ All checks passed\n$/,
  "sluice get sources all -A": /^apps *\tgitrepository\/web\t.*\tFalse\tfailed to checkout/m,
  "sluice events -n apps --for GitRepository/web": /\tWarning\tGitOperationFailed *\tGitRepository\/web *\t/,
  "sluice get kustomizations web -n apps": /^web \t.*\tFalse\tSource artifact not found/m,
  "sluice events -n apps --for Kustomization/web": /\tWarning\tGitOperationFailed *\tGitRepository\/web *\t/,
  "kubectl -n apps get kustomization web -o yaml": /^ +reason: ArtifactFailed$/m,
  "sluice get receivers -n apps": /^web .*\tTrue *\tReceiver initialized for path: http:\/\/127\.0\.0\.1:\d+\/hook\//m,
  "sluice events -n apps --for Receiver/web": /\tNormal\tSucceeded\tReceiver\/web\t/,
  "sluice check --orphans": /► looking for orphans\n[^]*✔ no orphans found\n/,
  "kubectl -n apps get rolebindings -o wide": /^web +ClusterRole\/edit .* apps\/web\b/m,
  "sluice get helmreleases web -n apps": /^web \t.*\tFalse\tOCIRepository 'apps\/web' is not ready: /m,
  "sluice events -n apps --for HelmRelease/web": /\tWarning\tOCIArtifactPullFailed *\tOCIRepository\/web *\t/,
  "sluice get values web -n apps": /^replicas\tinline\t2 /m,
  "sluice get images all -n apps": /^imagerepository\/web\t.*\tTrue [^]*^imagepolicy\/web\t.*\t1\.0\.0\tTrue /m,
  "sluice why image web -n apps":
    /^seen *\t[^]*^chosen *\t.*:1\.0\.0 by semver 1\.x[^]*^committed\t.*no ImageUpdateAutomation/m,
  "sluice get canaries -n apps": /^web \tInitializing\t/m,
  "sluice why canary web -n apps": /\terror\tdeployment web\.apps get query error: [^]*\tnow *\tInitializing: /,
  "kubectl -n apps events --for alert/failures": / Warning +NotificationDispatchFailed +Alert\/failures /,
  "sluice notify test chat -n apps": /: answered 200\n✔ test event sent\n$/,
  "kubectl -n kube-system get configmap sluice-owner -o yaml": /^ +installation: local-\w+$/m,
};

interface Printed {
  readonly code: number;
  /** What it prints on both streams. */
  readonly text: string;
}

/** Runs a command of the page. Throws an error if its program is neither ours nor kubectl, or kubectl fails. */
async function run([program = "", ...args]: readonly string[]): Promise<Printed> {
  if (program === "sluice") {
    const { code, out, err } = await world.sh(...args);
    return { code, text: out + err };
  }
  if (program !== "kubectl") throw new Error(`not known here: ${program}`);
  const env = { KUBECONFIG: world.kubeconfig, PATH: process.env["PATH"] ?? "", HOME: world.folder };
  const { stdout, stderr } = await promisify(execFile)(kubectl, args, { env, timeout: deadlineMs });
  return { code: 0, text: stdout + stderr };
}

test.each([...new Map(commands.map((words) => [words.join(" "), words]))])(
  "the command of the page about troubleshooting prints for the prepared objects what this test lists: %s",
  async (line, words) => {
    const pattern = shown[line];
    if (pattern === undefined) throw new Error(`this test does not say what ${line} shows`);
    await vi.waitFor(async () => {
      expect(await run(words)).toEqual({ code: 0, text: expect.stringMatching(pattern) });
    }, withinDeadline);
  },
);
