// First: V8 must know before any thread starts.
import "./lib/engine/tier-up.ts";
import { existsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { tellClaims } from "./test/claims/tell-claims.ts";
import { testTimeoutMs, withinDeadline } from "./test/deadline.ts";
import { listSkipped } from "./test/report/list-skipped.ts";
import { LongFirst } from "./test/report/long-first.ts";

/**
 * What is skipped in part or whole where no real part is named, and what builds with Go, as the parts do: CI runs the other
 * files while the parts are installed. A file that is missing here is skipped there, which CI takes for a failure.
 */
const withRealParts = [
  "test/contract/{aws-*,cluster*,dynamodb*,prometheus,registry,throttled-cluster}.test.ts",
  "test/contract/state-outage.test.ts",
  "test/e2e/{admission,canary-traffic}/real.test.ts",
  "test/e2e/definitions/real.test.ts",
  "test/e2e/flow/{real,throttled,two-clusters,webhooks}.test.ts",
  "test/e2e/uninstall/real.test.ts",
  "test/e2e/lambda-bundles.test.ts",
  "test/e2e/pages/{aws,deploy,sops}.test.ts",
  "test/e2e/{local-on-real,several-clusters,whole-system}/*.test.ts",
  "test/interop/**/*.test.ts",
  "test/property/cluster-differential.test.ts",
  "test/real/**/*.test.ts",
];

/** The CDK is not installed by the tests' own command; CI installs it, and takes it for a failure where it is missing. */
const withCdk = existsSync(join(import.meta.dirname, "infra/node_modules/aws-cdk-lib")) || process.env["CI"] === "true";

/** The deep checks try each property more often. */
const setupFiles = process.env["SLUICE_PROPERTY_RUNS"] === undefined ? [] : ["test/property-runs.ts"];

export default defineConfig({
  test: {
    setupFiles,
    // Isolation costs about 320 ms a file on two cores; every test cleans up after itself instead.
    isolate: false,
    pool: "threads",
    // Many files wait for a process, a server or a deadline most of their time, so there is one more than can compute at once.
    maxWorkers: availableParallelism() + 1,
    reporters: [
      "default",
      listSkipped((text) => process.stdout.write(text)),
      tellClaims({
        tests: join(import.meta.dirname, "test"),
        document: join(import.meta.dirname, "docs/maintainers/conformance.md"),
        write: (text) => process.stdout.write(text),
        fail: () => {
          process.exitCode = 1;
        },
      }),
    ],
    sequence: { sequencer: LongFirst },
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    expect: { poll: withinDeadline },
    projects: [
      {
        extends: true,
        test: { name: "embedded", include: ["{test,packages/*/test}/**/*.test.ts"], exclude: withRealParts },
      },
      { extends: true, test: { name: "real", include: withRealParts } },
      {
        extends: true,
        test: {
          name: "infra",
          include: [withCdk ? "infra/test/**/*.test.ts" : "infra/test/installed.test.ts"],
          env: { TMPDIR: join(tmpdir(), `sluice-infra-tests-${process.pid}`) },
          globalSetup: withCdk ? ["infra/test/bundles.ts"] : [],
        },
      },
    ],
  },
});
