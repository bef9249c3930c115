import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { messageOf } from "../../lib/core/failure.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { lockFolder } from "../../local/folders.ts";
import { deadlineMs } from "../deadline.ts";

const execute = promisify(execFile);
const go = process.env["SLUICE_GO"] ?? "/usr/local/go/bin/go";
/** For a build from nothing on a busy machine. */
const patienceMs = 4 * deadlineMs;
/** Kept from run to run: a build from nothing takes minutes. */
const tools = join(import.meta.dirname, "../../.cache/interop");
/** Those of the real parts, so that shared packages, above all Go's own library, are compiled once. */
const buildFlags = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-dwarf=false"];
/** The engine's own code as a program for this machine, which reads folders of a disk. */
export const engineNative = join(tools, "engine-native");
export const crane = join(tools, "crane");
export const orasPush = join(tools, "oras-push");
/** Prints how Go reads patterns: `test/interop/dialects`. */
export const dialects = join(tools, "dialects");
/** Prints Flagger's hashes and the Go types that they are made from: `test/interop/canary-hash`, a module with the versions of Flagger's. */
export const canaryHash = join(tools, "canary-hash");
/** The real flux. */
export const flux = join(tools, "flux");
const fluxModule = "github.com/fluxcd/flux2/v2@v2.9.4";
/** The real sops, and age's maker of keys. */
export const [sops, ageKeygen] = [join(tools, "sops"), join(tools, "age-keygen")] as const;

/** Builds the clients once; if it cannot, answers the reason, and the tests are skipped. */
export async function buildClients(): Promise<string | undefined> {
  return once([crane, orasPush], () => build("./oras-push", "github.com/google/go-containerregistry/cmd/crane"));
}

/** Builds {@link engineNative}, each time, because the engine's code is the project's own; Go compiles only changed packages. */
export async function buildEngineNative(): Promise<string | undefined> {
  return once([], () => run(join(import.meta.dirname, "../../engine/native/build.sh"), [engineNative]));
}

/** Builds {@link dialects}, each time, because it is the project's own too. */
export async function buildDialects(): Promise<string | undefined> {
  return once([], () => build("./dialects"));
}

/** Builds {@link canaryHash}, each time, because it is the project's own too. */
export async function buildCanaryHash(): Promise<string | undefined> {
  return once([], () => run(go, ["build", "-C", "canary-hash", ...buildFlags, "-o", `${tools}/`, "."]));
}

/** Installs {@link sops} and {@link ageKeygen} once, in the releases that Flux's and our own fixtures are made with. */
export async function installSops(): Promise<string | undefined> {
  const modules = ["github.com/getsops/sops/v3/cmd/sops@v3.13.2", "filippo.io/age/cmd/age-keygen@v1.3.1"];
  return once([sops, ageKeygen], async () => {
    for (const module of modules) {
      const missing = await run(go, ["install", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", module], {
        GOBIN: tools,
      });
      if (missing !== undefined) return missing;
    }
    return undefined;
  });
}

/**
 * Builds {@link flux} once. Its module is copied because it cannot be built as it is: it lacks the manifests of Flux's controllers, which
 * only `flux install` needs.
 */
export async function buildFlux(): Promise<string | undefined> {
  return once([flux], async () => {
    const copy = await mkdtemp(join(tmpdir(), "sluice-flux-"));
    try {
      const { stdout } = await execute(go, ["mod", "download", "-json", fluxModule], {
        cwd: tmpdir(),
        timeout: patienceMs,
      });
      const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(stdout));
      // The files of a module cannot be written.
      await cp(Dir, copy, { recursive: true });
      await execute("chmod", ["-R", "u+w", copy]);
      await mkdir(join(copy, "cmd/flux/manifests"));
      await writeFile(join(copy, "cmd/flux/manifests/none.yaml"), "{}\n");
      return await run(go, ["build", "-C", copy, ...buildFlags, "-o", `${tools}/`, "./cmd/flux"]);
    } catch (error) {
      return notBuilt(error);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });
}

async function once(programs: readonly string[], make: () => Promise<string | undefined>): Promise<string | undefined> {
  const areBuilt = (): boolean => programs.length > 0 && programs.every((program) => existsSync(program));
  if (areBuilt()) return undefined;
  if (!existsSync(go)) return " (skipped: no Go; SLUICE_GO names its program)";
  await mkdir(tools, { recursive: true });
  // Several suites need them: the second waits for the build of the first.
  const lock = await lockFolder(tools, patienceMs, systemClock, AbortSignal.timeout(patienceMs));
  try {
    return areBuilt() ? undefined : await make();
  } finally {
    lock.release();
  }
}

function build(...packages: readonly string[]): Promise<string | undefined> {
  return run(go, ["build", ...buildFlags, "-o", `${tools}/`, ...packages]);
}

async function run(
  program: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const PATH = [dirname(go), process.env["PATH"]].join(delimiter);
  try {
    await execute(program, args, {
      cwd: import.meta.dirname,
      timeout: patienceMs,
      env: { ...process.env, ...more, PATH },
    });
    return undefined;
  } catch (error) {
    return notBuilt(error);
  }
}

function notBuilt(error: unknown): string {
  return ` (skipped: Go could not build them: ${messageOf(error).split("\n", 2).join(" ")})`;
}
