import { expect, test } from "vitest";
import type { MigrationFacts } from "../../../../cli/migration/facts.ts";
import { migrationReport } from "../../../../cli/migration/report.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";

const hostile = "a\u009b2J\u202eb";
const escaped = String.raw`a\u009b2J\u202eb`;

const metadata = { name: "flux", namespace: "flux-system", uid: "1" };
const repository: LiveObject = {
  ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository", metadata },
  spec: { interval: "1m", url: `https://${hostile} c/fleet` },
};
const account: LiveObject = {
  ...{ apiVersion: "v1", kind: "ServiceAccount" },
  metadata: { ...metadata, annotations: { "eks.amazonaws.com/role-arn": hostile } },
};
const controller = { name: "source-controller", namespace: "flux-system", deployment: "source-controller" };

test("control characters in texts of the cluster are escaped in the needs, refused objects and unread parts of the report", async () => {
  const facts: MigrationFacts = {
    controllers: [{ ...controller, version: "v1", replicas: 1, serviceAccount: "flux", args: [] }],
    objects: [repository],
    accounts: new Map([["flux-system/flux", account]]),
    unread: [{ what: "alerts", fault: hostile }],
    ...{ configMaps: new Map(), definitions: [], unreconciled: [], operators: [] },
  };
  const { needs, refused, unread } = await migrationReport(facts);
  expect(needs).toContainEqual(
    expect.objectContaining({ what: "identities", text: expect.stringContaining(`its role ${escaped}:`) }),
  );
  expect(refused).toMatchObject([{ message: expect.stringContaining(escaped) }]);
  expect(unread).toEqual([{ what: "alerts", fault: escaped }]);
});
