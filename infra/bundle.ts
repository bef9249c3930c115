import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build as esbuild, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");
const entryPattern = /^lambda-(.+)\.ts$/;

/** One function, ready to be shipped: everything in `folder`, and nothing else, goes to Lambda. */
export interface Bundle {
  readonly name: string;
  readonly folder: string;
  /** Absolute; exports `handler`. */
  readonly entry: string;
}

/**
 * Makes one ESM bundle of every functions/lambda-*.ts, in a folder of its own below `into`. The build's worker thread is loaded
 * by its file's name, so it lies beside the bundles of the functions that start it. `plugins`: of esbuild, before our own.
 */
export async function bundleFunctions(into: string, plugins: readonly Plugin[] = []): Promise<readonly Bundle[]> {
  const files = (await readdir(join(root, "functions"))).filter((file) => entryPattern.test(file)).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(entryPattern, "$1");
      const folder = join(into, name);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      const inputs = await bundle(join(root, "functions", file), join(folder, "index.mjs"), plugins);
      if (inputs.some((input) => input.endsWith("lib/manifests/off-thread.ts"))) {
        await bundle(join(root, "lib/manifests/build-worker.ts"), join(folder, "build-worker.mjs"), plugins);
      }
      return { name, folder, entry: join(folder, "index.mjs") };
    }),
  );
}

/** A worker is named by a URL, which esbuild leaves as it is: here it gets the name that its bundle has. */
const workerBesideBundle: Plugin = {
  name: "worker-beside-bundle",
  setup(build) {
    build.onLoad({ filter: /\/lib\/manifests\/off-thread\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source.replace('"./build-worker.ts"', '"./build-worker.mjs"');
      if (contents === source)
        throw new Error(`${path} names no ./build-worker.ts: say here how its worker is shipped`);
      return { contents, loader: "ts" };
    });
  },
};

/** zod hands out its messages in fifty languages through one object, so none could be left out: a third of a bundle. */
const englishOnly: Plugin = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** Answers the files that went in. */
async function bundle(entry: string, outfile: string, plugins: readonly Plugin[]): Promise<readonly string[]> {
  const { metafile } = await esbuild({
    entryPoints: [entry],
    outfile,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    minify: true,
    // Errors are told with the names of functions and classes; a Failure's own name is a property.
    keepNames: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    plugins: [...plugins, workerBesideBundle, englishOnly],
    // CommonJS inside an ES module asks for these.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return Object.keys(metafile.inputs);
}
