import { join } from "node:path";
import { here } from "../folders.ts";
import type { Installation } from "../part.ts";
import type { Program } from "../versions.ts";

export interface GoProgram {
  readonly program: Program;
  /** The folder under `go/` whose go.mod and go.sum pin every module. Programs of one folder compile what they share once. */
  readonly module: string;
  readonly packages: readonly string[];
  /** A folder for several packages, else the name of the program. */
  readonly output: string;
  readonly ldflags?: string;
  /** Build tags, with commas between them. */
  readonly tags?: string;
  /** Go files of ours in that folder: they are part of the installation. */
  readonly ownSource?: readonly string[];
  /** Packages that are linked and never run: without optimisations they compile in a fraction of the time. */
  readonly neverRun?: readonly string[];
  readonly needsMegabytes: number;
}

/** Builds programs from the Go modules in go.sum. */
export function goProgram({
  program,
  module,
  packages,
  output,
  ldflags = "",
  tags = "",
  ownSource = [],
  neverRun = [],
  needsMegabytes,
}: GoProgram): Installation {
  const source = join("go", module);
  return {
    program,
    toolchain: "go",
    locks: ["go.mod", "go.sum", ...ownSource].map((name) => join(source, name)),
    needsMegabytes,
    async install(folder, { run }) {
      // -w leaves debug information out of a program, so it need not be compiled either.
      const compiler = ["all=-dwarf=false", ...neverRun.map((name) => `${name}=-dwarf=false -N -l`)];
      const gcflags = compiler.map((of) => `-gcflags=${of}`);
      const others = ["-mod=readonly", "-buildvcs=false", "-trimpath", `-tags=${tags}`];
      const flags = [...others, `-ldflags=-s -w ${ldflags}`, ...gcflags];
      // The modules of go.mod count, whatever the machine's own settings are. A compiler that collects garbage rarely needs less
      // processor time.
      const env = { GOFLAGS: "", GOWORK: "off", GOGC: "off", GOMEMLIMIT: "2GiB" };
      await run("go", ["build", ...flags, "-o", join(folder, output), ...packages], { cwd: join(here, source), env });
    },
  };
}
