import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Script } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { filesOf, initApp } from "../../../cli/init-app.ts";
import { terminal } from "../../../cli/terminal.ts";

const arn = (name: string, region = "eu-west-1") => `arn:aws:eks:${region}:123456789012:cluster/${name}`;
const repository = "arn:aws:ecr:eu-central-1:123456789012:repository/team/apps";

/** The statements of the app as a program, which fails to compile where they do not parse. */
function parse(app: string): Script {
  return new Script(stripTypeScriptTypes(app).replaceAll(/^import .*$/gm, ""));
}

describe("the app that sluice init writes", () => {
  test("has exact versions, runs without a compiler, and contains the given clusters, repositories and emails", () => {
    const files = filesOf({
      cluster: [arn("prod"), arn("test-a"), arn("prod", "us-east-1")],
      repository: [repository, "apps/new"],
      email: ["platform@example.com"],
    });
    expect(Object.keys(files)).toEqual(["package.json", "cdk.json", "start.js", "app.ts", ".npmrc", ".gitignore"]);
    const Package = z.object({
      dependencies: z.record(z.string(), z.string()),
      devDependencies: z.record(z.string(), z.string()),
    });
    const { dependencies, devDependencies } = Package.parse(JSON.parse(files["package.json"] ?? ""));
    expect(Object.keys({ ...dependencies, ...devDependencies }).toSorted()).toEqual([
      "@sluice/cdk",
      "aws-cdk",
      "aws-cdk-lib",
      "constructs",
    ]);
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^(file:sluice-cdk-)?\d+\.\d+\.\d+(\.tgz)?$/);
    expect(JSON.parse(files["cdk.json"] ?? "")).toMatchObject({ app: "node start.js" });
    const app = files["app.ts"] ?? "";
    expect(
      app,
    ).toBe(`import { Sluice, SluiceClusterRoles, SluiceObservability, SluiceRepository, sluiceOutputs } from "@sluice/cdk";
import { App, Stack } from "aws-cdk-lib";

const app = new App({ analyticsReporting: false });
const stack = new Stack(app, "Sluice", {
  env: { account: "123456789012", region: "eu-west-1" },
});
const sluice = new Sluice(stack, "Sluice");

// The ids of stack, Sluice, clusters and alarms are those of the stack of cdk.json, so that this app can take it over.
// namespaces: Sluice applies as the service accounts that Kustomizations name. clusterAdmin: with its own rights.
sluice.addCluster("eu-west-1-123456789012-prod", { clusterArn: "${arn("prod")}", rights: "namespaces" });
sluice.addCluster("eu-west-1-123456789012-test-a", { clusterArn: "${arn("test-a")}", rights: "namespaces" });

// In another account or region than the stack: a stack beside the cluster has the roles by which the functions enter it.
sluice.addCluster("us-east-1-123456789012-prod", {
  clusterArn: "${arn("prod", "us-east-1")}",
  rights: "namespaces",
  roles: new SluiceClusterRoles(
    new Stack(app, "SluiceRoles-us-east-1-123456789012-prod", { env: { account: "123456789012", region: "us-east-1" } }),
    "Roles",
    { clusterArn: "${arn("prod", "us-east-1")}", rights: "namespaces", sluice },
  ),
});

new SluiceRepository(stack, "Repository-TeamApps", {
  sluice,
  repositoryArn: "${repository}",
  clusters: ["${arn("prod")}", "${arn("test-a")}", "${arn("prod", "us-east-1")}"],
  namespaces: ["flux-system"],
});

new SluiceRepository(stack, "Repository-AppsNew", {
  sluice,
  newRepositoryName: "apps/new",
  clusters: ["${arn("prod")}", "${arn("test-a")}", "${arn("prod", "us-east-1")}"],
  namespaces: ["flux-system"],
});

const watch = new SluiceObservability(stack, "Watch", { sluice, emails: ["platform@example.com"] });
sluiceOutputs(stack, sluice, watch);
`);
    expect(parse(app)).toBeInstanceOf(Script);
  });

  test.each([
    ["nothing", {}],
    ["a cluster", { cluster: [arn("prod")] }],
    ["a repository", { repository: [repository] }],
  ])("can be parsed with %s given", (_, options) => {
    expect(parse(filesOf(options)["app.ts"] ?? "")).toBeInstanceOf(Script);
  });

  test.each([
    [{ cluster: ["prod"] }, '--cluster "prod" must be arn:aws:eks:<region>:<account>:cluster/<name>'],
    [{ cluster: [`${arn("prod")}"`] }, "must be arn:aws:eks"],
    [{ cluster: [arn("prod"), arn("prod")] }, `${arn("prod")} is given twice`],
    [{ cluster: [arn("prod")], repository: ["A b"] }, '--repository "A b" must be a name, or arn:aws:ecr:'],
    [{ repository: ["apps"] }, "--repository with a name needs --cluster"],
    [{ email: ['a@b"'] }, '--email "a@b\\"" must be an email address'],
  ])("is not written for %j", (options, words) => {
    expect(() => filesOf(options)).toThrow(words);
  });
});

test.each([
  { clusters: [arn("prod"), arn("test")], all: "" },
  { clusters: [arn("prod"), arn("prod", "us-east-1")], all: " --all" },
])("the scripts of the app deploy every stack that it has: cdk deploy$all", ({ clusters, all }) => {
  const { scripts } = z
    .looseObject({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(filesOf({ cluster: clusters })["package.json"] ?? ""));
  expect(scripts).toEqual({ diff: `cdk diff${all}`, deploy: `cdk deploy${all}` });
});

test("the app says which Node it needs when an older one starts it", async () => {
  const start = filesOf({})["start.js"] ?? "";
  const told: string[] = [];
  const process = {
    version: "v20.20.2",
    versions: { node: "20.20.2" },
    exit: (code: number) => {
      throw new Error(`exit ${code}`);
    },
  };
  // The import comes after the check.
  const check = new Script(start.slice(0, start.indexOf("await import")));
  const console = { error: (text: string) => told.push(text) };
  expect(() => void check.runInNewContext({ process, console })).toThrow("exit 1");
  expect(told).toEqual([expect.stringContaining("needs Node 24 or later, this is v20.20.2: install Node 24")]);
});

describe("the folder of sluice init", () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), "sluice-init-"));
  });
  afterEach(() => rm(cwd, { recursive: true }));
  let told: string;
  const init = (folder: string, env: Readonly<Record<string, string>> = {}) => {
    told = "";
    const screen = terminal(
      () => {},
      (text) => (told += text),
    );
    return initApp(folder, { cluster: [arn("prod")] }, { terminal: screen, cwd, env });
  };

  test.each([
    ["our launcher", { SLUICE_LAUNCHER_NODE: "v20.20.2" }],
    ["npx", { npm_config_user_agent: "npm/11.19.1 node/v20.20.2 linux x64 workspaces/false" }],
  ])("is written with a hint about the Node it needs if %s was started by an older one", async (_, env) => {
    await init("app", env);
    expect(told.split("\n")[0]).toContain("the app needs Node 24 or later, and the Node of this machine is v20.20.2");
    await init("other");
    expect(told).not.toContain("the app needs Node 24");
  });

  test("is created, and may be a fresh clone", async () => {
    await mkdir(join(cwd, "clone", ".git"), { recursive: true });
    for (const folder of ["new/app", "clone"]) {
      await init(folder);
      expect((await readdir(join(cwd, folder))).filter((name) => name !== ".git").toSorted()).toEqual([
        ".gitignore",
        ".npmrc",
        "app.ts",
        "cdk.json",
        "package.json",
        "start.js",
      ]);
      expect(await readFile(join(cwd, folder, "app.ts"), "utf8")).toContain(arn("prod"));
    }
  });

  test("is refused if it has any content, which stays unchanged", async () => {
    await writeFile(join(cwd, "notes"), "mine");
    await expect(init(".")).rejects.toThrow(`${cwd} is not empty, it holds notes: choose an empty folder`);
    expect(await readdir(cwd)).toEqual(["notes"]);
  });
});
