import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { withinDeadline } from "../../deadline.ts";
import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { type Outcome, runCommand } from "../../doubles/run-command.ts";
import { type Terminals, terminals } from "../../doubles/terminal.ts";
import { commandsToRun } from "../../unit/documents/page-blocks.ts";
import { commandsOf } from "../../unit/documents/shell-commands.ts";
import { mergedKubeconfig } from "./merged-kubeconfig.ts";

const open = new AsyncDisposableStack();
let folder = "";
let typed: Terminals;

const Owner = z.record(z.string(), z.string());
const ownerText = await readFile(join(import.meta.dirname, "../../../docs/cluster-owner.md"), "utf8");
const [, readOwner = "", shownOwner = ""] = /^```console\n\$ (.+)\n(.+)\n```$/m.exec(ownerText) ?? [];
const run = (line: string): Promise<string> => typed.run(folder, line);
const owner = async () => Owner.parse(JSON.parse(await run(readOwner)));

/** Runs the one command of a line in this process, for what a process without a terminal refuses. */
function answering(line: string, confirm: (question: string) => Promise<boolean>): Promise<Outcome> {
  const [[, ...args] = []] = commandsOf(line);
  return runCommand(args, { env: {}, folder, confirm });
}

describe("the commands for operators, typed by the owner of two clusters", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-operator-"));
    open.defer(() => rm(folder, { recursive: true, force: true }));
    typed = open.use(await terminals(folder, {}));
    const [prod, staging] = [open.use(await embeddedCluster()), open.use(await embeddedCluster())];
    await writeFile(join(folder, "prod.yaml"), prod.server.kubeconfig());
    await writeFile(join(folder, "staging.yaml"), staging.server.kubeconfig());
    await mkdir(join(folder, ".kube"));
    const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    const merged = mergedKubeconfig([
      { context: "blue", cluster: arn, server: prod.server },
      { context: "green", cluster: "green", server: staging.server },
    ]);
    await writeFile(join(folder, ".kube/config"), merged);
  });
  afterAll(() => open.disposeAsync());

  test("docs/command-line.md: sluice local serves two clusters, called by their files or by their contexts", async () => {
    const [files = "", contexts = ""] = await commandsToRun("docs/command-line.md", 2);
    for (const [line, names] of [
      [files, ["prod.yaml", "staging.yaml"]],
      [contexts, ["blue", "green"]],
    ] as const) {
      const screen = typed.open(folder, line);
      await vi.waitFor(() => expect(screen()).toContain("Sluice is ready on 2 of 2 clusters."), withinDeadline);
      for (const name of names) expect(screen()).toMatch(new RegExp(`^  cluster   ${name}: kubectl `, "m"));
      await typed.closeAll();
    }
  });

  test("docs/cluster-owner.md: the claim has the fields of the page, and each command moves the cluster", async () => {
    const [toFolder = "", toAws = ""] = await commandsToRun("docs/cluster-owner.md", 2);
    expect(Object.keys(await owner())).toEqual(Object.keys(Owner.parse(JSON.parse(shownOwner))));
    await run("sluice take-over --installation 210987654321/eu-west-1/other");
    await run(toFolder.replace("FILE", "prod.yaml"));
    expect((await owner())["installation"]).toMatch(/^local-/);
    await run(toAws);
    expect((await owner())["installation"]).toBe("123456789012/eu-west-1/sluice");
  });

  test("docs/day-two.md: the cluster is paused, resumed, and at last free of Sluice", async () => {
    const [pause = "", resume = "", dryRun = "", uninstall = ""] = await commandsToRun("docs/day-two.md", 4);
    await run(pause);
    expect(await owner()).toMatchObject({ paused: "true", pausedBy: "incident 42" });
    await run(resume);
    expect(await owner()).not.toHaveProperty("paused");
    const kinds = "kubectl get crds -o name";
    expect(await run(dryRun)).toContain("delete CustomResourceDefinition/kustomizations.kustomize.toolkit.fluxcd.io");
    expect(await run(kinds)).toContain("kustomizations.kustomize.toolkit.fluxcd.io");
    const asked: string[] = [];
    const { code, err } = await answering(uninstall, async (question) => asked.push(question) > 0);
    expect({ code, err, asked }).toMatchObject({ code: 0, asked: [expect.stringContaining("Remove all this")] });
    expect(await run(kinds)).not.toContain("toolkit.fluxcd.io");
  });
});
