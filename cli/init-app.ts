import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import cdk from "../cdk.json" with { type: "json" };
import cdkPackage from "../infra/package.json" with { type: "json" };
import { shellWord } from "../local/own-installation.ts";
import { wantedMajor } from "./needs-node-24.ts";
import type { Surroundings } from "./session.ts";

export interface InitOptions {
  /** ARNs of EKS clusters. */
  readonly cluster?: readonly string[];
  /** ARNs of existing ECR repositories, or names of new ones. */
  readonly repository?: readonly string[];
  /** Who gets the alarms. */
  readonly email?: readonly string[];
}

interface Place {
  readonly account: string;
  readonly region: string;
}

interface NamedArn extends Place {
  readonly arn: string;
  readonly name: string;
}

interface NamedRepository extends NamedArn {
  /** The id of its construct, unique in the app. */
  readonly id: string;
}

const clusterArn = /^arn:aws[\w-]*:eks:([a-z0-9-]+):(\d{12}):cluster\/([A-Za-z0-9][\w-]{0,99})$/;
const repositoryArn = /^arn:aws[\w-]*:ecr:([a-z0-9-]+):(\d{12}):repository\/([a-z0-9][a-z0-9._/-]{1,255})$/;
const repositoryName = /^[a-z0-9][a-z0-9._/-]{1,255}$/;
const emailAddress = /^[^\s"@\\]+@[^\s"@\\]+$/;
/** A fresh clone of an empty repository is an empty folder. */
const ignoredNames = new Set([".git"]);

/** `init`: writes a CDK app with a Sluice into an empty folder. Asks nothing and reaches nothing. */
export async function initApp(
  folder: string,
  options: InitOptions,
  { terminal, cwd, env }: Pick<Surroundings, "terminal" | "cwd" | "env">,
): Promise<void> {
  const files = filesOf(options);
  const node = machineNode(env);
  if (Number(/^v(\d+)/.exec(node)?.[1]) < wantedMajor) {
    terminal.warning(
      `the app needs Node ${wantedMajor} or later, and the Node of this machine is ${node}: install Node ${wantedMajor} before npm install and npx cdk, which fail otherwise`,
    );
  }
  const path = resolve(cwd, folder);
  await mkdir(path, { recursive: true });
  const [present] = (await readdir(path)).filter((name) => !ignoredNames.has(name));
  if (present !== undefined) throw new Error(`${path} is not empty, it holds ${present}: choose an empty folder`);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(path, name), text, { flag: "wx" });
    terminal.success(`${join(folder, name)} written`);
  }
  const all = severalStacks(options) ? " --all" : "";
  terminal.waiting(
    `next: npm run cdk:pack -- ${shellWord(path)} in the checkout of Sluice, then cd ${shellWord(folder)}, npm install, npx cdk diff${all}, npx cdk deploy${all}`,
  );
}

/** Whether a cluster is not where the first one is: then its roles are in a stack of their own. */
function severalStacks({ cluster = [] }: InitOptions): boolean {
  return new Set(cluster.map((arn) => arn.split(":").slice(3, 5).join())).size > 1;
}

/**
 * The version of the Node that `node` is in a shell. We may run on another one, which npm has installed for us: then our launcher
 * says which it was started by, or npx does.
 */
function machineNode(env: Readonly<Record<string, string | undefined>>): string {
  const ofNpx = /\bnode\/(v\d+\.\d+\.\d+)/.exec(env["npm_config_user_agent"] ?? "")?.[1];
  return env["SLUICE_LAUNCHER_NODE"] ?? ofNpx ?? process.version;
}

/** The files of the app by name. Pure. Throws an error that names the option that is wrong. */
export function filesOf({ cluster = [], repository = [], email = [] }: InitOptions): Readonly<Record<string, string>> {
  const clusters = cluster.map((arn) =>
    parsed("--cluster", arn, clusterArn, "arn:aws:eks:<region>:<account>:cluster/<name>"),
  );
  refuseTwice(clusters);
  const wrong = email.find((address) => !emailAddress.test(address));
  if (wrong !== undefined) throw new Error(`--email ${JSON.stringify(wrong)} must be an email address`);
  const repositories = repository.map((text) =>
    repositoryName.test(text)
      ? text
      : parsed("--repository", text, repositoryArn, "a name, or arn:aws:ecr:<region>:<account>:repository/<name>"),
  );
  const place = clusters[0] ?? repositories.find((each) => typeof each !== "string");
  if (place === undefined && repositories.length > 0) {
    throw new Error(
      "--repository with a name needs --cluster: the new repository is created in the account and region of the first cluster",
    );
  }
  return {
    "package.json": json(packageOf(severalStacks({ cluster }))),
    "cdk.json": json(cdkOf()),
    "start.js": startOf(),
    "app.ts": appOf(
      place,
      clusters,
      named(
        repositories.map((each) =>
          typeof each === "string" ? { arn: "", name: each, account: "", region: "" } : each,
        ),
      ),
      email,
    ),
    // So that npm install already says which Node is needed.
    ".npmrc": "engine-strict=true\n",
    ".gitignore": "node_modules/\ncdk.out/\n",
  };
}

function parsed(option: string, arn: string, form: RegExp, words: string): NamedArn {
  const [, region, account, name] = form.exec(arn) ?? [];
  if (region === undefined || account === undefined || name === undefined) {
    throw new Error(`${option} ${JSON.stringify(arn)} must be ${words}`);
  }
  return { arn, region, account, name };
}

function refuseTwice(all: readonly NamedArn[]): void {
  const twice = all.find(
    ({ arn, name }, index) => all.findIndex((each) => each.arn === arn && each.name === name) < index,
  );
  if (twice !== undefined) throw new Error(`${twice.arn === "" ? twice.name : twice.arn} is given twice`);
}

/** Two repositories may have the same name in two regions. */
function named(all: readonly NamedArn[]): readonly NamedRepository[] {
  refuseTwice(all);
  const seen = new Map<string, number>();
  return all.map((each) => {
    const base = each.name
      .split(/[^A-Za-z0-9]+/)
      .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
      .join("");
    const count = (seen.get(base) ?? 0) + 1;
    seen.set(base, count);
    return { ...each, id: count === 1 ? base : `${base}-${count}` };
  });
}

/** As ours, with the same feature flags, and without the installation, which such an app has in its code. */
function cdkOf(): object {
  const { output, versionReporting, notices, context } = cdk;
  const flags = Object.entries(context).filter(([name]) => name === "cli-telemetry" || name.startsWith("@aws-cdk"));
  return { app: "node start.js", output, versionReporting, notices, context: Object.fromEntries(flags) };
}

/** An older Node than the app needs would only say that app.ts has an unknown extension. */
function startOf(): string {
  return `// Plain JavaScript, so that an older Node can say what is missing.
if (Number(process.versions.node.split(".")[0]) < ${wantedMajor}) {
  console.error(\`✗ this app needs Node ${wantedMajor} or later, this is \${process.version}: install Node ${wantedMajor} and put it first on the PATH\`);
  process.exit(1);
}
await import("./app.ts");
`;
}

function packageOf(isSeveral: boolean): object {
  const { name, version, devDependencies } = cdkPackage;
  return {
    name: "sluice-app",
    private: true,
    type: "module",
    engines: { node: `>=${wantedMajor}` },
    scripts: isSeveral
      ? { diff: "cdk diff --all", deploy: "cdk deploy --all" }
      : { diff: "cdk diff", deploy: "cdk deploy" },
    dependencies: {
      // Not in npm's registry: `npm run cdk:pack` of a checkout of Sluice writes it.
      [name]: `file:sluice-cdk-${version}.tgz`,
      "aws-cdk-lib": devDependencies["aws-cdk-lib"],
      constructs: devDependencies.constructs,
    },
    devDependencies: { "aws-cdk": devDependencies["aws-cdk"] },
  };
}

function appOf(
  place: Place | undefined,
  clusters: readonly NamedArn[],
  repositories: readonly NamedRepository[],
  emails: readonly string[],
): string {
  const env = place === undefined ? "" : `, {\n  env: { account: "${place.account}", region: "${place.region}" },\n}`;
  const isHere = ({ account, region }: Place) => account === place?.account && region === place.region;
  const imports = [
    ...["Sluice", ...(clusters.every(isHere) ? [] : ["SluiceClusterRoles"]), "SluiceObservability"],
    ...(repositories.length > 0 ? ["SluiceRepository"] : []),
  ];
  const added = clusters.map((cluster) => (isHere(cluster) ? addedHere(cluster) : addedThere(cluster)));
  const arns = clusters.map(({ arn }) => `"${arn}"`).join(", ");
  const followed = repositories.map(({ id, arn, name }) => {
    const which = arn === "" ? `newRepositoryName: "${name}"` : `repositoryArn: "${arn}"`;
    return `new SluiceRepository(stack, "Repository-${id}", {\n  sluice,\n  ${which},\n  clusters: [${arns}],\n  namespaces: ["flux-system"],\n});\n`;
  });
  const told = emails.map((address) => `"${address}"`).join(", ");
  return `import { ${imports.join(", ")}, sluiceOutputs } from "${cdkPackage.name}";
import { App, Stack } from "aws-cdk-lib";

const app = new App({ analyticsReporting: false });
const stack = new Stack(app, "Sluice"${env});
const sluice = new Sluice(stack, "Sluice");

// The ids of stack, Sluice, clusters and alarms are those of the stack of cdk.json, so that this app can take it over.
// namespaces: Sluice applies as the service accounts that Kustomizations name. clusterAdmin: with its own rights.
${clusters.length === 0 ? exampleOfClusters : added.join("")}${followed.length === 0 ? "" : `\n${followed.join("\n")}`}
const watch = new SluiceObservability(stack, "Watch", { sluice, emails: [${told}] });
sluiceOutputs(stack, sluice, watch);
`;
}

function addedHere({ account, arn, name, region }: NamedArn): string {
  return `sluice.addCluster("${region}-${account}-${name}", { clusterArn: "${arn}", rights: "namespaces" });\n`;
}

/** EKS makes access entries beside the cluster, and describes it only to its own account. */
function addedThere({ account, arn, name, region }: NamedArn): string {
  const id = `${region}-${account}-${name}`;
  return `
// In another account or region than the stack: a stack beside the cluster has the roles by which the functions enter it.
sluice.addCluster("${id}", {
  clusterArn: "${arn}",
  rights: "namespaces",
  roles: new SluiceClusterRoles(
    new Stack(app, "SluiceRoles-${id}", { env: { account: "${account}", region: "${region}" } }),
    "Roles",
    { clusterArn: "${arn}", rights: "namespaces", sluice },
  ),
});
`;
}

const exampleOfClusters = `// sluice.addCluster("Prod", { clusterArn: "arn:aws:eks:<region>:<account>:cluster/prod", rights: "namespaces" });
// new SluiceRepository(stack, "Apps", { sluice, newRepositoryName: "apps", clusters: ["<the cluster's ARN>"], namespaces: ["flux-system"] });
`;

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
