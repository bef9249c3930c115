import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
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
 * Makes one ESM bundle of every functions/lambda-*.ts, in a folder of its own below `into`. Threads are loaded by
 * the names of their files, so they lie beside the bundles of the functions that start them, with the engine's module. `plugins`: of esbuild, before our own.
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
      const started = threads.filter(({ starter }) => inputs.includes(starter));
      await Promise.all(started.map(({ thread }) => bundle(join(root, thread), join(folder, mjs(thread)), plugins)));
      if (started.some(({ thread }) => thread.startsWith("lib/engine/"))) {
        await copyFile(join(root, "engine/kustomize.wasm.br"), join(folder, "kustomize.wasm.br"));
      }
      return { name, folder, entry: join(folder, "index.mjs") };
    }),
  );
}

/** The files that start a thread, and the program of the thread. */
const threads = [
  { starter: "lib/manifests/off-thread.ts", thread: "lib/manifests/build-worker.ts" },
  { starter: "lib/engine/wasm-engine.ts", thread: "lib/engine/engine-thread.ts" },
];

/** The name that the program of a thread has beside its bundle. */
function mjs(thread: string): string {
  return `${basename(thread, ".ts")}.mjs`;
}

/** A worker is named by a URL, which esbuild leaves as it is: here it gets the name that its bundle has. */
const threadBesideBundle: Plugin = {
  name: "thread-beside-bundle",
  setup(build) {
    for (const { starter, thread } of threads) {
      build.onLoad({ filter: new RegExp(`/${starter.replaceAll(".", "\\.")}$`) }, async ({ path }) => {
        const source = await readFile(path, "utf8");
        const contents = source.replace(`"./${basename(thread)}"`, `"./${mjs(thread)}"`);
        if (contents === source)
          throw new Error(`${path} names no ./${basename(thread)}: say here how its thread is shipped`);
        return { contents, loader: "ts" };
      });
    }
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
    plugins: [...plugins, threadBesideBundle, englishOnly],
    // CommonJS inside an ES module asks for these.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return Object.keys(metafile.inputs);
}
