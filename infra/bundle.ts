import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { build as esbuild, type Metafile, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");
const entryPattern = /^lambda-(.+)\.ts$/;

/** One function, ready to be shipped: everything in `folder`, and nothing else, goes to Lambda. */
export interface Bundle {
  readonly name: string;
  readonly folder: string;
  /** Absolute; exports `handler`. */
  readonly entry: string;
  /** Names in `folder`: the entry, and the chunks that it imports. All other chunks are loaded when a run needs them. */
  readonly startFiles: readonly string[];
}

/**
 * Makes one ESM bundle of every functions/lambda-*.ts, in a folder of its own below `into`. Threads are loaded by
 * the names of their files, so they lie beside the bundles of the functions that start them, with their modules. `plugins`: of esbuild, before our own.
 */
export async function bundleFunctions(into: string, plugins: readonly Plugin[] = []): Promise<readonly Bundle[]> {
  const files = (await readdir(join(root, "functions"))).filter((file) => entryPattern.test(file)).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(entryPattern, "$1");
      const folder = join(into, name);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      const options = { target: "node24", plugins: [...plugins, withoutSettingTexts] };
      const { startFiles } = await bundleProgram(join(root, "functions", file), "index", folder, options);
      return { name, folder, entry: join(folder, "index.mjs"), startFiles };
    }),
  );
}

/** How a program is bundled. */
export interface BundleOptions {
  /** The oldest Node that it runs on, as esbuild names it: `node24`. */
  readonly target: string;
  /** Plugins of esbuild that run before our own. */
  readonly plugins: readonly Plugin[];
  /** Name of a module in the folder that each file of the bundle imports before all else. */
  readonly first?: string;
}

/** A program that lies in a folder of its own. */
export interface BundledProgram {
  /** Files that went in, the threads' included, relative to the root of the repository. */
  readonly inputs: readonly string[];
  readonly startFiles: Bundle["startFiles"];
}

/**
 * Writes `<name>.mjs` and its chunks into `folder`, with the threads that it starts, each as a bundle of its own, and with what it
 * loads at run time.
 */
export async function bundleProgram(
  entry: string,
  name: string,
  folder: string,
  options: BundleOptions,
): Promise<BundledProgram> {
  const { inputs, startFiles } = await bundle(entry, name, folder, options);
  const started = threads.filter(({ starter }) => inputs.includes(starter));
  const ofThreads = await Promise.all(
    started.map(({ thread }) => bundle(join(root, thread), basename(thread, ".ts"), folder, options)),
  );
  await Promise.all(
    besides
      .filter(({ starter }) => inputs.includes(starter))
      .map(({ from, file }) => copyFile(join(root, from), join(folder, file))),
  );
  return { inputs: [...new Set([inputs, ...ofThreads.map((each) => each.inputs)].flat())], startFiles };
}

/** The files that start a thread, and the program of the thread. */
const threads = [
  { starter: "lib/manifests/thread/off-thread.ts", thread: "lib/manifests/thread/build-worker.ts" },
  { starter: "lib/sops/file/off-thread.ts", thread: "lib/sops/file/sops-thread.ts" },
  { starter: "lib/sources/git/decrypt-ssh-key.ts", thread: "lib/sources/git/ssh-key-thread.ts" },
  { starter: "lib/engine/module-threads.ts", thread: "lib/engine/module-thread.ts" },
  { starter: "lib/engine/wasm-helm.ts", thread: "lib/engine/helm-thread.ts" },
];

const openpgpFile = "openpgp.mjs";

/** The files that a bundle loads at run time from its own folder. */
const besides = [
  { starter: "lib/engine/wasm-engine.ts", from: "engine/kustomize.wasm.br", file: "kustomize.wasm.br" },
  { starter: "lib/engine/wasm-helm.ts", from: "engine/helm.wasm.br", file: "helm.wasm.br" },
  { starter: "lib/cel/wasm-cel.ts", from: "engine/cel.wasm.br", file: "cel.wasm.br" },
  {
    starter: "lib/sources/git/verify/pgp-signature.ts",
    from: "node_modules/openpgp/dist/node/openpgp.min.mjs",
    file: openpgpFile,
  },
  {
    starter: "packages/embedded-kubernetes/src/schema/type-names.ts",
    from: "packages/embedded-kubernetes/src/schema/types.json",
    file: "types.json",
  },
];

/** The name of a thread's program in the folder of its bundle. */
function mjs(thread: string): string {
  return `${basename(thread, ".ts")}.mjs`;
}

/** What a starter names by a URL from its own folder, which esbuild leaves as it is, and the name of that beside a bundle. */
const renamed = [
  ...threads.map(({ starter, thread }) => ({ starter, from: `"./${basename(thread)}"`, to: `"./${mjs(thread)}"` })),
  ...besides
    .filter(({ file }) => file.endsWith(".wasm.br"))
    .map(({ starter, from, file }) => ({ starter, from: `"../../${from}"`, to: `"./${file}"` })),
];

/** Threads and WebAssembly modules are in the folder of the bundle that starts them. */
const namedBesideBundle: Plugin = {
  name: "named-beside-bundle",
  setup(build) {
    for (const [starter, names] of Map.groupBy(renamed, (each) => each.starter)) {
      build.onLoad({ filter: new RegExp(`/${starter.replaceAll(".", "\\.")}$`) }, async ({ path }) => {
        let contents = await readFile(path, "utf8");
        for (const { from, to } of names) {
          if (!contents.includes(from)) throw new Error(`${path} names no ${from}: add here how it is shipped`);
          contents = contents.replace(from, to);
        }
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

/** What users read about settings is for docs/settings.md and the command line: each function would load it at its start. */
const withoutSettingTexts: Plugin = {
  name: "without-setting-texts",
  setup(build) {
    build.onLoad({ filter: /\/functions\/settings\/(?:canary-)?settings\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source.replaceAll(/(\bdescription:\s*)"(?:[^"\\]|\\.)*"/g, '$1""');
      if (contents === source) throw new Error(`${path} has no description of a setting: add here how it is left out`);
      return { contents, loader: "ts" };
    });
  },
};

/**
 * openpgp is LGPL: who runs a bundle may replace it. So it lies beside the bundle as it was published, and the bundle loads it by
 * this name, never a copy inside a chunk.
 */
const openpgpBesideBundle: Plugin = {
  name: "openpgp-beside-bundle",
  setup(build) {
    build.onResolve({ filter: /^openpgp$/ }, () => ({ path: `./${openpgpFile}`, external: true }));
  },
};

/**
 * ssh2 looks for native code that is never built here, and does without it; two of its files ask for `__dirname`, which an ES
 * module has not.
 */
const ssh2WithoutNativeCode: Plugin = {
  name: "ssh2-without-native-code",
  setup(build) {
    build.onResolve({ filter: /^cpu-features$|\.node$/ }, ({ path }) => ({ path, namespace: "native" }));
    build.onLoad({ filter: /.*/, namespace: "native" }, () => ({ contents: 'throw new Error("not built");' }));
    build.onLoad({ filter: /\/ssh2\/lib\/(?:agent|protocol\/crypto\/poly1305)\.js$/ }, async ({ path }) => ({
      contents: `var __dirname = "";${await readFile(path, "utf8")}`,
    }));
  },
};

/** Writes `<name>.mjs` and its chunks; answers the files that went in, and those that are loaded at the start. */
async function bundle(entry: string, name: string, folder: string, { target, plugins, first }: BundleOptions) {
  const { metafile } = await esbuild({
    entryPoints: [{ in: entry, out: name }],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    absWorkingDir: root,
    bundle: true,
    // A dynamic import is a file of its own. It lies beside the entry, so that `import.meta.url` names the same folder in it.
    splitting: true,
    chunkNames: "[name]-[hash]",
    platform: "node",
    target,
    format: "esm",
    // The modules of a package rather than its CommonJS, which comes as a whole: the AWS clients get half as large.
    mainFields: ["module", "main"],
    minify: true,
    // Errors are told with the names of functions and classes; a Failure's own name is a property.
    keepNames: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    plugins: [...plugins, namedBesideBundle, englishOnly, openpgpBesideBundle, ssh2WithoutNativeCode],
    // CommonJS inside an ES module asks for these.
    banner: {
      // Not esbuild's `inject`, which runs after the chunks that an entry imports.
      js: `${first === undefined ? "" : `import "./${first}"; `}import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
    },
  });
  return { inputs: Object.keys(metafile.inputs), startFiles: startFiles(metafile, `${name}.mjs`) };
}

/** The output with this name, and every output that it or one of those imports statically. */
function startFiles({ outputs }: Metafile, name: string): readonly string[] {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const found = new Set([name]);
  for (const each of found) {
    for (const { path, kind, external } of byName.get(each)?.imports ?? []) {
      if (kind === "import-statement" && external !== true) found.add(basename(path));
    }
  }
  return [...found];
}
