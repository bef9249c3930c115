import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { withinDeadline } from "../../deadline.ts";
import { hasProgram, terminals } from "../../doubles/terminal.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";

test.skipIf(!hasProgram("jq"))(
  "docs/logs.md: the log of sluice local is kept in a file, and jq lists its failed runs (jq is needed)",
  async () => {
    const [start = "", list = ""] = await blocksToRun("docs/logs.md", 4);
    const folder = await mkdtemp(join(tmpdir(), "sluice-logs-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const typed = await terminals(folder, {});
    onTestFinished(() => typed[Symbol.asyncDispose]());
    const screen = typed.open(folder, start);
    await vi.waitFor(() => expect(screen()).toContain('"ready":true'), withinDeadline);
    await typed.run(
      folder,
      `export KUBECONFIG=$PWD/.sluice/kubeconfig
kubectl apply -f - <<'YAML'
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: web, namespace: default }
spec: { interval: 10m, url: "http://127.0.0.1:9/web.git" }
YAML`,
    );
    await vi.waitFor(
      async () =>
        expect(await typed.run(folder, list)).toMatch(
          /^\["\d{4}-.*Z","reconcile failed","GitRepository","default","web","GitOperationFailed",".*connection refused.*"\]$/m,
        ),
      withinDeadline,
    );
  },
);
