import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../lib/core/object-ref.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { ClusterUnderTest, StartCluster } from "./cluster-under-test.ts";

/**
 * A cluster for the tests of the describe block that calls this, with a namespace for each of them, and short words for
 * what they do in it. Leaves nothing behind but namespaces that go.
 */
export function workspace(start: StartCluster) {
  const { signal } = new AbortController();
  let under: ClusterUnderTest | undefined;
  let namespace = "";
  const others: ClusterUnderTest[] = [];
  const cluster = (): Cluster => started(under).cluster;

  const configMap = (name = "a", data: Record<string, string> = { k: "v" }, metadata = {}): Manifest => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, ...metadata },
    data,
  });
  const deployment = (image = "example.test/app:1", spec = {}): Manifest => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "app", namespace },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "app" } },
      template: {
        metadata: { labels: { app: "app" } },
        spec: { containers: [{ name: "app", image }] },
      },
      ...spec,
    },
  });
  const configMapRef = (name = "a"): VersionedRef => ({ group: "", version: "v1", kind: "ConfigMap", namespace, name });
  const configMaps = () => ({ group: "", version: "v1", kind: "ConfigMap", namespace });
  const apply = (manifest: Manifest, manager = "alpha", options = {}) =>
    cluster().apply(manifest, { manager, force: false, ...options }, signal);
  const create = (manifest: Manifest, options = {}) =>
    cluster().create(manifest, { manager: "alpha", ...options }, signal);
  const get = (ref: VersionedRef) => cluster().get(ref, signal);
  const remove = (ref: VersionedRef, options = {}) =>
    cluster().delete(ref, { propagation: "Background", ...options }, signal);

  beforeAll(async () => {
    under = await start();
  });
  afterAll(async () => {
    for (const other of others) await other.close();
    await under?.close();
  });
  beforeEach(async () => {
    namespace = `contract-${randomUUID().slice(0, 8)}`;
    await create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  });
  afterEach(async () => {
    await remove({ group: "", version: "v1", kind: "Namespace", namespace: "", name: namespace });
  });

  return {
    signal,
    configMap,
    deployment,
    configMapRef,
    configMaps,
    apply,
    create,
    get,
    remove,
    managersOf,
    connectAs(user: string, groups: readonly string[]): ClusterUnderTest {
      const other = started(under).connectAs(user, groups);
      others.push(other);
      return other;
    },
    get cluster() {
      return cluster();
    },
    get api() {
      return started(under).api;
    },
    /** The namespace of the test that runs. */
    get namespace() {
      return namespace;
    },
  };
}

function started(under: ClusterUnderTest | undefined): ClusterUnderTest {
  if (under === undefined) throw new Error("the cluster is there from beforeAll on");
  return under;
}

/** Who owns fields of an object, and by what. */
function managersOf(object: LiveObject | undefined): readonly string[] {
  return (object?.metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`).toSorted();
}
