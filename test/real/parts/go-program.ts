import { join } from "node:path";
import { here } from "../folders.ts";
import type { Installation } from "../part.ts";
import type { Program } from "../versions.ts";

export interface GoProgram {
  readonly program: Program;
  /** The folder under `go/` whose go.mod and go.sum pin every module. */
  readonly module: string;
  readonly packages: readonly string[];
  /** A folder for several packages, else the name of the program. */
  readonly output: string;
  readonly ldflags?: string;
  readonly needsMegabytes: number;
}

/** Builds programs from Go modules as go.sum has them. */
export function goProgram({
  program,
  module,
  packages,
  output,
  ldflags = "",
  needsMegabytes,
}: GoProgram): Installation {
  const source = join("go", module);
  return {
    program,
    toolchain: "go",
    locks: ["go.mod", "go.sum"].map((name) => join(source, name)),
    needsMegabytes,
    async install(folder, { run }) {
      const flags = ["-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", `-s -w ${ldflags}`];
      // Whatever the machine's own settings say of modules, those of go.mod count.
      const env = { GOFLAGS: "", GOWORK: "off" };
      await run("go", ["build", ...flags, "-o", join(folder, output), ...packages], { cwd: join(here, source), env });
    },
  };
}
