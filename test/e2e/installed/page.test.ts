import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownVersion } from "../../../lib/core/own-version.ts";
import { copyFiles } from "../../faults/checkout.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";

const open = new DisposableStack();
let checkout = "";
const [install = "", inCheckout = "", uninstall = ""] = await blocksToRun("docs/install.md", 3);

/** Types a script in the checkout, on a machine whose npm installs into a folder of its own and has no network. */
async function run(script: string): Promise<string> {
  const prefix = join(checkout, "prefix");
  const npm = { npm_config_prefix: prefix, npm_config_offline: "true", npm_config_cache: join(checkout, "cache") };
  const path = [join(prefix, "bin"), join(checkout, "node"), process.env["PATH"] ?? ""].join(delimiter);
  const typed = ["-e", "-O", "expand_aliases", "-c", script];
  const env = { ...npm, PATH: path, HOME: checkout };
  return (await promisify(execFile)("bash", typed, { cwd: checkout, env })).stdout;
}

describe("the commands of docs/install.md, typed in a checkout", () => {
  beforeAll(async () => {
    checkout = open.use(copyFiles()).folder;
    // Packages that are a link count as installed.
    await symlink(join(import.meta.dirname, "../../../node_modules"), join(checkout, "node_modules"));
    await mkdir(join(checkout, "node"));
    await symlink(process.execPath, join(checkout, "node/node"));
  });
  afterAll(() => open.dispose());

  test("pack the command and install it, and the last one removes it again", async () => {
    expect((await run(install)).split("\n").slice(-2)).toEqual([`sluice: v${ownVersion}`, ""]);
    // The developer's own PATH comes last, and may have another sluice.
    const program = `"$npm_config_prefix/bin/sluice"`;
    expect(await run(`test -e ${program}\n${uninstall}\ntest ! -e ${program}\necho removed`)).toMatch(/\nremoved\n$/);
  });

  test("let the checkout's own command be called sluice", async () => {
    expect(await run(`${inCheckout}\nsluice version`)).toContain(`sluice: v${ownVersion}\n`);
  });
});
