import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startRegistry } from "../../local/registry/start-registry.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { terminals } from "../doubles/terminal.ts";
import { blocksToRun } from "../unit/documents/page-blocks.ts";
import { buildClients, crane } from "./build-clients.ts";

const shop = join(import.meta.dirname, "../../examples/shop");
const ecr = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";
const missing = await buildClients();

test.skipIf(missing !== undefined)(
  `the commands of examples/shop push staging from a git checkout, and give production the same artifact${missing ?? ""}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-shop-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const typed = await terminals(folder, { crane });
    onTestFinished(() => typed[Symbol.asyncDispose]());
    const stored = { folder: join(folder, "registry"), port: 0, log: silentLog };
    const registry = await startRegistry({ ...stored, onPush: () => undefined });
    onTestFinished(() => registry.close());
    const work = join(folder, "shop");
    await cp(shop, work, { recursive: true });
    const git =
      "git init --quiet && git remote add origin https://git.example/shop && git add . && git commit --quiet -m one";
    await typed.run(work, git);

    const [push = "", tag = ""] = await blocksToRun("examples/shop/README.md", 2);
    await typed.run(work, push.replace(ecr, registry.address));
    await typed.run(work, tag.replace(ecr, registry.address));

    const manifest = (name: string) => typed.run(work, `crane manifest ${registry.address}/shop:${name}`);
    expect(await manifest("production")).toBe(await manifest("staging"));
    expect(await manifest("production")).toContain('"org.opencontainers.image.source":"https://git.example/shop"');
  },
);
