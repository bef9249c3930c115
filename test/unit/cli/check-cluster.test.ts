import { expect, test } from "vitest";
import { checkCluster } from "../../../cli/check-cluster.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { fakeSession } from "./fake-session.ts";

test("a cluster that does not serve the kinds fails the check, and nothing further is asked of it", async () => {
  const fake = fakeSession([]);
  const cluster = {
    ...noCluster,
    uid: async () => "cluster-1",
    resource: async () => undefined,
    get: async () => undefined,
  };
  const checking = checkCluster({ orphans: true, output: "table" }, { ...fake, cluster });
  await expect(checking).rejects.toThrow("check failed");
  expect(fake.output.err).toContain(
    "✗ kustomizations.kustomize.toolkit.fluxcd.io/v1 is not served: sluice local installs it\n",
  );
  expect(fake.output.err).toMatch(/► checking the owner of this cluster\n✔ none yet\n$/);
});
