import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import manifest from "../package.json" with { type: "json" };
import { bundleProgram } from "./bundle.ts";
import { npmPackages } from "./notice/third-party.ts";

const root = join(import.meta.dirname, "..");
const target = "node20.19";
const first = "newer-node.mjs";

/** The name of the command's package, which is in no registry yet. The scope keeps it apart from packages of the same word. */
export const cliPackage = "@sluice-gitops/cli";

/** `npm run cli:pack` puts the package there. */
const buildFolder = join(root, "build");

/**
 * Packs the command with all that it runs on into one file, which `npm install -g` installs without a download. Answers its path:
 * `<into>/sluice-cli-<version>.tgz`.
 *
 * @throws Error if something is bundled that NOTICE does not name, or npm fails
 */
export async function packCli(into: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-cli-"));
  try {
    await writePackage(folder);
    return await pack(folder, into);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function writePackage(folder: string): Promise<void> {
  const dist = join(folder, "dist");
  await mkdir(dist);
  const { inputs } = await bundleProgram(join(root, "cli/main.ts"), "main", dist, {
    target,
    plugins: [sqliteWhereNodeHasIt],
    first,
  });
  refuseUnnamed(inputs);
  await build({
    entryPoints: [join(root, "cli/newer-node.ts")],
    outfile: join(dist, first),
    format: "esm",
    minify: true,
    target,
  });
  await copyFile(join(root, "cli/installed.js"), join(dist, "sluice.js"));
  for (const name of ["LICENSE", "NOTICE"]) await copyFile(join(root, name), join(folder, name));
  await writeFile(join(folder, "README.md"), readme);
  await writeFile(join(folder, "package.json"), `${JSON.stringify(packageJson, undefined, 2)}\n`);
}

const packageJson = {
  name: cliPackage,
  version: manifest.version,
  description: manifest.description,
  license: manifest.license,
  type: "module",
  bin: { sluice: "dist/sluice.js" },
  engines: { node: ">=20.19" },
};

const readme = `# The command line of Sluice

${manifest.description}. \`sluice --help\` lists the commands, \`sluice completion --help\` says how to complete them in a shell.
`;

/** What is shipped is named in NOTICE, which lists the packages that package-lock.json does not call development's. */
function refuseUnnamed(inputs: readonly string[]): void {
  const named = new Set(npmPackages(root).map(({ name }) => name));
  const shipped = inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const unnamed = shipped.filter((name) => name !== undefined && !named.has(name) && !name.startsWith("@sluice/"));
  if (unnamed.length > 0) throw new Error(`NOTICE does not name ${[...new Set(unnamed)].join(", ")}`);
}

/** Node 20 has no `node:sqlite`: a file that imports it must load all the same, for commands that open no database. */
const sqliteWhereNodeHasIt: Plugin = {
  name: "sqlite-where-node-has-it",
  setup(build) {
    build.onResolve({ filter: /^node:sqlite$/ }, () => ({ path: join(root, "cli/sqlite.ts") }));
  },
};

async function pack(folder: string, into: string): Promise<string> {
  await mkdir(into, { recursive: true });
  const { status, stdout, stderr, error } = spawnSync("npm", ["pack", "--silent", "--pack-destination", into], {
    cwd: folder,
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`npm pack has failed: ${stderr}`);
  const file = join(into, `sluice-cli-${manifest.version}.tgz`);
  await rename(join(into, stdout.trim()), file);
  return file;
}

if (import.meta.main) {
  const file = await packCli(buildFolder);
  process.stdout.write(`${file}\n\nInstall it: npm install -g ${file}\n`);
}
