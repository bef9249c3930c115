import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesOf } from "../../cli/init-app.ts";

const infra = join(import.meta.dirname, "..");
const bin = join(infra, "../node_modules/.bin");

const app = `
import { App, Stack } from "aws-cdk-lib";
import { Sluice, SluiceRepository } from "@sluice/cdk";

const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const app = new App({ outdir: "cdk.out" });
const stack = new Stack(app, "Mine", { env: { account: "123456789012", region: "eu-west-1" } });
const sluice = new Sluice(stack, "Sluice", { logLevel: "debug" });
sluice.serveCluster({ arn });
new SluiceRepository(stack, "Apps", { sluice, newRepositoryName: "apps", clusters: [arn], namespaces: ["apps"] });
app.synth();
`;

function run(folder: string, command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

// It installs the CDK a second time, which takes a minute.
describe.skipIf(process.env["CI"] !== "true")("the package, installed into an empty folder (with CI=true)", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-package-"));
    run(infra, process.execPath, "build.ts", "--keep-bundles");
    run(infra, "npm", "pack", "--ignore-scripts", "--pack-destination", folder);
    const [file = ""] = readdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
    const quiet = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(folder, "npm", "install", ...quiet, `./${file}`, "aws-cdk-lib@2.276.0", "constructs@10.8.1");
    writeFileSync(join(folder, "app.ts"), app);
  });

  test("works for the app that sluice init writes: installed by its package.json, that app synthesises", () => {
    const own = join(folder, "own");
    mkdirSync(own);
    const cluster = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    for (const [name, text] of Object.entries(filesOf({ cluster: [cluster], repository: ["apps"] })))
      writeFileSync(join(own, name), text);
    run(infra, "npm", "pack", "--ignore-scripts", "--pack-destination", own);
    const quiet = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(own, "npm", "install", ...quiet);
    run(own, join(own, "node_modules/.bin/cdk"), "synth", "--quiet");
    expect(readFileSync(join(own, "cdk.out/Sluice.template.json"), "utf8")).toContain('"SluiceTable"');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("synthesises with the code of every function, and contains the definitions", () => {
    run(folder, process.execPath, "app.ts");
    const template = readFileSync(join(folder, "cdk.out/Mine.template.json"), "utf8");
    expect(template).toContain('"SluiceTable"');
    const assets = readdirSync(join(folder, "cdk.out")).filter((name) => name.startsWith("asset."));
    const code = assets.filter((name) => existsSync(join(folder, "cdk.out", name, "index.mjs")));
    expect(code.length).toBeGreaterThanOrEqual(3);
    expect(readdirSync(join(folder, "node_modules/@sluice/cdk/crds")).length).toBeGreaterThan(1);
  });

  test("has types: the app compiles, and does not with a wrong property", () => {
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--skipLibCheck", "app.ts"];
    expect(run(folder, join(bin, "tsc"), ...options)).toBe("");
    writeFileSync(join(folder, "app.ts"), app.replace('"debug"', '"loud"'));
    expect(() => run(folder, join(bin, "tsc"), ...options)).toThrow("TS2322");
  });

  test("contains only what it needs: no sources, no tests, no packages", () => {
    const listed = readdirSync(join(folder, "node_modules/@sluice/cdk")).toSorted();
    expect(listed).toEqual(["bundles", "crds", "dist", "package.json"]);
  });
});
