import { expect, test } from "vitest";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Treatment, unreliableProxy } from "../../doubles/unreliable-proxy.ts";
import { canary } from "../canary.ts";
import { configMap } from "./sample-manifests.ts";
import { type World, world } from "./world.ts";

const { signal } = new AbortController();
const base64 = Buffer.from(canary).toString("base64");
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };

/** A story on an embedded API server that has others before it, such as webhooks, answer in its place. */
async function worldBehind(
  treat: (request: { readonly url: string; readonly method: string }) => Treatment,
  ending: AsyncDisposableStack,
): Promise<World> {
  const { server, kubeconfig } = ending.use(await embeddedCluster({ definitions: false }));
  const proxy = ending.use(await unreliableProxy(server.url, (_count, url, method) => treat({ url, method })));
  const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: "/" });
  const cluster = connect({ ...config, server: new URL(proxy.url) }, { clock: systemClock, env: {} });
  ending.defer(() => cluster.close());
  await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  return world(cluster, "denied");
}

const status = (code: number, reason: string, message: string): Treatment => ({
  status: code,
  text: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }),
});
const isSecret = (url: string): boolean => url.includes("/secrets/s");
const hidden = "(the rest is not shown, as it may quote the Secret)";

test.each<{ name: string; answer: Treatment; says: string }>([
  {
    name: "a webhook",
    answer: status(400, "", `admission webhook "policy.example.com" denied the request: ${canary} is too short`),
    says: `dry-run failed: admission webhook "policy.example.com" denied the request: ${hidden}`,
  },
  {
    name: "a policy",
    answer: status(
      422,
      "Invalid",
      `secrets "s" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding 'b' denied request: ${base64} is no good`,
    ),
    says: `ValidatingAdmissionPolicy 'p.example.com' with binding 'b' denied request: ${hidden}`,
  },
  {
    name: "a webhook that does not answer",
    answer: status(
      500,
      "InternalError",
      `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: an error on the server ("${base64}")`,
    ),
    says: `failed calling webhook "w.example.com": ${hidden}`,
  },
  { name: "a proxy that quotes the request", answer: { status: 400, text: `<p>${canary}</p>` }, says: hidden },
  {
    name: "a validation that quotes a value",
    answer: status(422, "Invalid", `Secret "s" is invalid: data[a]: Invalid value: "${canary}": field is immutable`),
    says: 'data[a]: Invalid value: "*****": field is immutable',
  },
])("a message of $name about a Secret is shown without its values", async ({ answer, says }) => {
  await using ending = new AsyncDisposableStack();
  const denied = await worldBehind(
    ({ url, method }) => (isSecret(url) && method === "PATCH" ? answer : "forward"),
    ending,
  );
  await denied.publish("v1", [secret, configMap("a")]);
  await denied.kustomization("app");
  await denied.run("app");
  expect(await denied.ready("app")).toContain(`False ReconciliationFailed: Secret/denied/s dry-run failed`);
  expect(await denied.ready("app")).toContain(says);
  expect(await denied.leaks()).toEqual([]);
});

const refusal = status(400, "", `admission webhook "policy.example.com" denied the request: ${canary}`);

test("a message when the Secret is applied after its dry run is shown in the same way", async () => {
  await using ending = new AsyncDisposableStack();
  const denied = await worldBehind(
    ({ url, method }) => (isSecret(url) && method === "PATCH" && !url.includes("dryRun=All") ? refusal : "forward"),
    ending,
  );
  await denied.publish("v1", [secret]);
  await denied.kustomization("app");
  await denied.run("app");
  expect(await denied.ready("app")).toContain('Secret/denied/s apply failed: admission webhook "policy.example.com"');
  expect(await denied.leaks()).toEqual([]);
});

test("a message when the Secret is pruned or deleted with its Kustomization is shown in the same way", async () => {
  await using ending = new AsyncDisposableStack();
  const denied = await worldBehind(
    ({ url, method }) => (isSecret(url) && method === "DELETE" ? refusal : "forward"),
    ending,
  );
  await denied.publish("v1", [secret, configMap("a")]);
  await denied.kustomization("app");
  await denied.run("app");
  await denied.publish("v2", [configMap("a")]);
  await denied.run("app");
  expect(await denied.ready("app")).toMatch(/^False PruneFailed: .*admission webhook "policy\.example\.com"/s);
  await denied.remove("app");
  await denied.run("app");
  expect(await denied.leaks()).toEqual([]);
});

test("an answer about a Secret that is cut off is not quoted", async () => {
  await using ending = new AsyncDisposableStack();
  const denied = await worldBehind(
    ({ url, method }) =>
      isSecret(url) && method === "PATCH"
        ? { status: 200, text: `{"kind":"Secret","data":{"a":"${base64}` }
        : "forward",
    ending,
  );
  await denied.publish("v1", [secret]);
  await denied.kustomization("app");
  const end = await denied.run("app").then(({ outcome }) => outcome, String);
  expect(end).not.toContain(base64);
  expect(await denied.leaks()).toEqual([]);
});

test("a shown value would be detected", async () => {
  await using ending = new AsyncDisposableStack();
  const told = await worldBehind(() => "forward", ending);
  // Not a Secret, so the API server's message about its label is shown whole.
  await told.publish("v1", [{ ...configMap("a"), metadata: { name: "a", labels: { a: `${canary} %` } } }]);
  await told.kustomization("app");
  await told.run("app");
  expect(await told.leaks()).toEqual(
    expect.arrayContaining(["Kustomization/app has the canary", expect.stringMatching(/^Event\/.* has the canary$/)]),
  );
});
