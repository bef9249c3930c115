import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { installCrds } from "../../lib/definitions/install-crds.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { connectUnderTest } from "../contract/cluster/connect-under-test.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { runCommand } from "../doubles/run-command.ts";
import { fluxInstallation } from "../e2e/flux-installation.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "./own-control-plane.ts";

const { signal } = new AbortController();
const Entry = z.looseObject({ userAgent: z.string().optional(), verb: z.string() });

describe.skipIf(!mayHaveOwnControlPlane())("sluice check --migration on a real control plane", () => {
  let folder = "";
  let plane: OwnControlPlane;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-migration-"));
    plane = await ownControlPlane();
    const admin = await connectUnderTest(plane.adminKubeconfig);
    await installCrds(admin.cluster, { clock: systemClock, log: silentLog }, signal);
    for (const object of fluxInstallation) {
      await admin.cluster.apply(object, { manager: "flux", force: true }, signal);
    }
    await admin.close();
  });
  afterAll(async () => {
    await plane[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test("says of a typical installation of Flux that everything can move, and the audit log has no write of it", async () => {
    const before = await audited(plane.audit);
    const env = { KUBECONFIG: plane.adminKubeconfig };
    const { code, err, out } = await runCommand(["check", "--migration", "-o", "json"], { env, folder });
    expect([code, err]).toEqual([0, expect.stringMatching(/✔ everything can move\n$/)]);
    expect(JSON.parse(out)).toMatchObject({ canMove: true, refused: [], unread: [], unreconciled: [] });
    const sent = (await audited(plane.audit)).slice(before.length).filter(({ userAgent }) => userAgent === "sluice");
    expect(sent.map(({ verb }) => verb)).toContain("list");
    expect(sent.filter(({ verb }) => !["get", "list"].includes(verb))).toEqual([]);
  });
});

async function audited(file: string): Promise<readonly z.infer<typeof Entry>[]> {
  const text = await readFile(file, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Entry.parse(JSON.parse(line)));
}
