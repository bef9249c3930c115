import { expect, test } from "vitest";
import { checkCluster } from "../../../cli/check-cluster.ts";
import { judgeVersion } from "../../../cli/check-version.ts";
import type { Session } from "../../../cli/session.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { ApiError, type Cluster, type KindQuery } from "../../../lib/core/ports/cluster.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { fakeSession } from "./fake-session.ts";

/** As of a server without reviews. */
const unanswered = () =>
  Promise.reject(
    new ApiError({ code: 404, reason: "NoMatch", message: 'no matches for kind "SelfSubjectAccessReview"' }),
  );

test.each([
  ["v1.35.4", "1.35.4", "tested"],
  ["v1.33.0", "1.33.0", "tested"],
  ["v1.33.1-eks-1234567", "1.33.1-eks-1234567", "tested"],
  ["v1.36.0-alpha.1+k3s", "1.36.0-alpha.1+k3s", "tested"],
  ["v1.37.0", "1.37.0", "newer"],
  ["v2.0.0", "2.0.0", "newer"],
  ["v1.32.9-gke.100", "1.32.9-gke.100", "older"],
  ["v0.99.0", "0.99.0", "older"],
  ["latest", "latest", "unknown"],
  ["", "", "unknown"],
])("Kubernetes %s is parsed as %s and judged %s", (text, version, verdict) => {
  expect(judgeVersion(text)).toEqual({ version, verdict });
});

const served = {
  ...noCluster,
  list: async () => [],
  uid: async () => "cluster-1",
  resource: async ({ group, kind }: KindQuery) => ({
    group,
    version: "v1",
    kind,
    plural: "",
    namespaced: true,
    verbs: [],
  }),
  get: async () => undefined,
  served: async () => ({ resources: [], silentGroups: [] }),
};

test.each([
  ["v1.37.0", "⚠️ Kubernetes 1.37.0 is newer than 1.33 to 1.36", true],
  ["v1.30.0", "✗ Kubernetes 1.30.0 is not among 1.33 to 1.36", false],
])("a cluster of version %s is reported: %s", async (version, words, isPassed) => {
  const fake = fakeSession([]);
  const session = { ...fake, cluster: served, serverVersion: async () => version };
  const checking = checkCluster(declaredKinds, { output: "table" }, session).then(
    () => true,
    () => false,
  );
  expect(await checking).toBe(isPassed);
  expect(fake.output.err).toContain(words);
});

test("rights that this identity lacks are named and do not fail the check, because Sluice may have another identity", async () => {
  const fake = fakeSession([]);
  const isAllowed: Session["isAllowed"] = async ({ verb, name }) => !(verb === "patch" && name === "sluice-owner");
  await checkCluster(declaredKinds, { output: "table" }, { ...fake, cluster: served, isAllowed });
  expect(fake.output.err).toContain(
    "⚠️ may not patch configmaps sluice-owner in kube-system: Sluice needs it where it runs with",
  );
  expect(fake.output.err.match(/may not/g)).toHaveLength(1);
});

test.each([
  ["Sluice 0.3.0", "sluice", { "sluice/version": "0.3.0" }],
  ["Sluice", "sluice", {}],
  ["others", "kustomize-controller", {}],
])("a definition is reported as installed by %s", async (installer, manager, annotations) => {
  const fake = fakeSession([]);
  const get: Cluster["get"] = async ({ kind, name }) =>
    kind === "CustomResourceDefinition"
      ? {
          apiVersion: "v1",
          kind,
          metadata: { name, uid: "", annotations, managedFields: [{ manager, operation: "Apply", apiVersion: "v1" }] },
        }
      : undefined;
  await checkCluster(declaredKinds, { output: "table" }, { ...fake, cluster: { ...served, get } });
  expect(fake.output.err).toContain(`✔ kustomizations.kustomize.toolkit.fluxcd.io/v1, installed by ${installer}\n`);
});

test("a server that does not report the caller's rights does not fail the check", async () => {
  const fake = fakeSession([]);
  await checkCluster(declaredKinds, { output: "table" }, { ...fake, cluster: served, isAllowed: unanswered });
  expect(fake.output.err).toContain("⚠️ not known: the server does not say (no matches for kind");
});

test("a cluster that does not serve the kinds fails the check, which then searches no orphans", async () => {
  const fake = fakeSession([]);
  const cluster = {
    ...noCluster,
    list: async () => [],
    uid: async () => "cluster-1",
    resource: async () => undefined,
    get: async () => undefined,
    served: async () => ({ resources: [], silentGroups: [] }),
  };
  const checking = checkCluster(declaredKinds, { orphans: true, output: "table" }, { ...fake, cluster });
  await expect(checking).rejects.toThrow("check failed");
  expect(fake.output.err).toContain(
    "✗ kustomizations.kustomize.toolkit.fluxcd.io/v1 is not served: sluice local or a deployment in AWS installs it\n",
  );
  expect(fake.output.err).toMatch(/► checking the owner of this cluster\n✔ none yet\n$/);
});
