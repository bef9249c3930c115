import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("flux-recorder/build-flux.ts", import.meta.url));

test("without Flux's modules for Go, nothing is built or fetched, and a message says so", () => {
  const empty = mkdtempSync(join(tmpdir(), "sluice-no-modules-"));
  try {
    const env = { ...process.env, GOMODCACHE: empty, GOFLAGS: "-modcacherw" };
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { env, encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
    expect(stderr).toMatch(/^Flux is not built: this machine does not have the modules of source-controller \(.+\)\n$/);
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
});
