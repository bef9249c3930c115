import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { prod } from "./synthesise.ts";

const root = join(import.meta.dirname, "../..");
/** Which of infra/ the app is not made of. */
const leftOut = /\/(node_modules|bundles|cdk\.out|dist|test)(\/|$)/;

// In a copy of the repository, since the app writes its bundles, which other tests read.
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-cdk-"));
  for (const name of ["infra", "cli"]) {
    const filter = (path: string) => !leftOut.test(path.slice(root.length));
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
  for (const name of ["functions", "lib", "local", "engine", "node_modules", "package.json", "infra/node_modules"])
    symlinkSync(join(root, name), join(folder, name));
  writeContext({});
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeContext(values: object): void {
  const file = z
    .looseObject({ context: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(join(root, "cdk.json"), "utf8")));
  writeFileSync(join(folder, "cdk.json"), JSON.stringify({ ...file, context: { ...file.context, ...values } }));
}

/** What `npx cdk` runs, without credentials. */
function cdk(...args: readonly string[]) {
  return cdkIn(folder, ...args);
}

function cdkIn(cwd: string, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, AWS_EC2_METADATA_DISABLED: "true" };
  return spawnSync(process.execPath, [join(folder, "cli/cdk.js"), ...args], { cwd, env, encoding: "utf8" });
}

describe("npx cdk in the repository", () => {
  test("bootstraps before the installation is configured: it gets as far as credentials", () => {
    const { status, stderr } = cdk("bootstrap", "aws://123456789012/eu-west-1");
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("no credentials have been") });
    expect(stderr).not.toContain("clusters");
  });

  test("refuses a deployment until the installation is configured", () => {
    const { status, stderr } = cdk("deploy");
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining("✗ cdk deploy needs the installation, and the context names no clusters: write"),
    });
  });

  test("lists the stack from a folder below the root too, and says where it runs", () => {
    const { status, stdout, stderr } = cdkIn(join(folder, "cli"), "list");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "Sluice\n" });
    expect(stderr).toContain(`► running in ${folder}, where cdk.json is`);
  });

  test("synthesises the installation of cdk.json", () => {
    writeContext({ clusters: [{ arn: prod, rights: "namespaces" }] });
    expect(cdk("synth", "--quiet")).toMatchObject({ status: 0 });
    const template = readFileSync(join(folder, "cdk.out/Sluice.template.json"), "utf8");
    expect(template).toContain(prod);
  });
});
