import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkOrphans } from "../../../cli/check-orphans.ts";
import type { Session } from "../../../cli/session.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster, type ListQuery, type Resource } from "../../../lib/core/ports/cluster.ts";
import { stateInstallation } from "../../../local/own-installation.ts";
import { identityOf } from "../../../local/state-folder.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { fakeSession } from "./fake-session.ts";

const labels = { "kustomize.toolkit.fluxcd.io/name": "web", "kustomize.toolkit.fluxcd.io/namespace": "apps" };
const owner = { id: "123456789012/eu-west-1/sluice", where: undefined, version: "1", since: "now" };

function resource(kind: string, plural: string, group = "", verbs = ["get", "list"]): Resource {
  return { group, version: "v1", kind, plural, namespaced: true, verbs };
}

function object(kind: string, name: string, more: object = {}): LiveObject {
  return { apiVersion: "v1", kind, metadata: { name, namespace: "apps", uid: `${kind}-${name}`, labels }, ...more };
}

/** A cluster with one Kustomization of Flux, which lists `kept` in its status. */
function session(listMetadata: Cluster["listMetadata"], silentGroups: readonly string[] = []) {
  const fake = fakeSession([]);
  const queries: ListQuery[] = [];
  const resources = [
    resource("ConfigMap", "configmaps"),
    resource("Secret", "secrets"),
    resource("TokenReview", "tokenreviews", "authentication.k8s.io", ["create"]),
  ];
  const inventory = { entries: [{ id: "apps_kept__ConfigMap", v: "v1" }, { v: "v1" }, "nonsense"] };
  const cluster: Cluster = {
    ...noCluster,
    uid: async () => "cluster-1",
    served: async () => ({ resources, silentGroups }),
    list: async () => [object("Kustomization", "web", { status: { inventory } })],
    listMetadata: (query, signal) => (queries.push(query), listMetadata(query, signal)),
  };
  return { ...fake, cluster, queries } satisfies Session & { queries: ListQuery[] };
}

const check = (of: Session, isJson = false) => checkOrphans({ owner, state: undefined, isJson }, of);

test("sluice check --orphans lists only metadata of objects with owner labels, and an object in a status of Flux is not an orphan", async () => {
  const of = session(async ({ kind }) => (kind === "ConfigMap" ? [object(kind, "kept")] : []));
  expect(await check(of)).toMatchObject({ isClean: true });
  const groups = ["kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"];
  expect(of.queries).toEqual(
    groups.flatMap((group) =>
      ["ConfigMap", "Secret"].map((kind) => {
        return { group: "", version: "v1", kind, labelSelector: `${group}/name,${group}/namespace` };
      }),
    ),
  );
  expect(of.output.err).toContain("the inventories of 123456789012/eu-west-1/sluice cannot be read here");
  expect(of.output.err).toMatch(/✔ no orphans found\n$/);
});

test("fails if the state of the cluster's owner cannot be read", async () => {
  const parent = await mkdtemp(join(tmpdir(), "sluice-orphans-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(parent);
  onTestFinished(() => cwd.mockRestore());
  const folder = join(parent, ".sluice");
  await mkdir(folder);
  await writeFile(join(folder, "layout"), "1\n");
  await writeFile(join(folder, "installation-key"), "0".repeat(64));
  const { id } = stateInstallation(await identityOf(folder));
  const of = session(async () => []);
  await expect(checkOrphans({ owner: { ...owner, id }, state: undefined, isJson: false }, of)).rejects.toThrow(
    `${folder} cannot be read: `,
  );
});

test("sluice check --orphans names the kinds that cannot be listed, and fails because of them", async () => {
  const refused = new ApiError({
    code: 403,
    reason: "Forbidden",
    message: 'User "jane" cannot list resource "secrets"',
  });
  const of = session(
    ({ kind }) => (kind === "Secret" ? Promise.reject(refused) : Promise.resolve([])),
    ["metrics.k8s.io"],
  );
  expect(await check(of)).toMatchObject({ isClean: false });
  expect(of.output.err).toMatch(/✔ no orphans found among the kinds that could be listed\n$/);
  expect(of.output.err).toContain('⚠️ not listed: secrets (v1): User "jane" cannot list resource "secrets"\n');
  expect(of.output.err).toContain("⚠️ not listed: all kinds of metrics.k8s.io: its API server does not answer\n");
});

test("-o json has all findings in one document and prints no table", async () => {
  const of = session(async ({ kind }) => (kind === "ConfigMap" ? [object(kind, "lost")] : []));
  const { isClean, json } = await check(of, true);
  expect([isClean, of.output.out]).toEqual([false, ""]);
  expect(json).toEqual({
    inventoriesFrom: "status",
    orphans: [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "apps",
        name: "lost",
        uid: "ConfigMap-lost",
        owner: { namespace: "apps", name: "web" },
        reason: "its Kustomization does not list it",
        lastApplied: null,
      },
    ],
    claims: [],
    unreadKinds: [],
  });
});

test("throws an error that is not an answer of the API server", async () => {
  const of = session(() => Promise.reject(new TypeError("a bug")));
  await expect(check(of)).rejects.toThrow("a bug");
});
