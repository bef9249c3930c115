import type { Command } from "commander";
import { kustomizations, ociRepositories, type Reconcilable } from "./reconcilable.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";

interface SuspendOptions extends GlobalOptions {
  readonly all?: boolean;
  readonly wait?: boolean;
}

export function addSuspendCommands(root: Command, surroundings: Surroundings): void {
  const suspend = root.command("suspend").description("leave objects as they are until they are resumed");
  const resume = root.command("resume").description("go on with suspended objects");
  for (const [parent, what] of [
    [suspend, "suspend"],
    [resume, "resume"],
  ] as const) {
    const source = parent.command("source").description(`${what} sources`);
    const oci = source.command("oci [names...]").description(`${what} OCIRepositories`);
    const kustomization = parent
      .command("kustomization [names...]")
      .aliases(["ks", "kustomizations"])
      .description(`${what} Kustomizations`);
    for (const [command, kind] of [
      [oci, ociRepositories],
      [kustomization, kustomizations],
    ] as const) {
      command.option("--all", `${what} all of the namespace`);
      if (what === "suspend") onSuspend(command, kind, surroundings);
      else onResume(command.option("--wait", "wait for each, not only for a single one"), kind, surroundings);
    }
  }
}

function onSuspend(command: Command, kind: Reconcilable, surroundings: Surroundings): void {
  command.action(async (names: readonly string[]) => {
    const [{ suspendObjects }, { withCluster }] = await Promise.all([
      import("./suspend-objects.ts"),
      import("./settings.ts"),
    ]);
    const options = command.optsWithGlobals<SuspendOptions>();
    await withCluster(options, surroundings, (session) => suspendObjects(kind, names, options.all === true, session));
  });
}

function onResume(command: Command, kind: Reconcilable, surroundings: Surroundings): void {
  command.action(async (names: readonly string[]) => {
    const [{ resumeObjects }, { withCluster }] = await Promise.all([
      import("./resume-objects.ts"),
      import("./settings.ts"),
    ]);
    const options = command.optsWithGlobals<SuspendOptions>();
    const { all = false, wait = false } = options;
    await withCluster(options, surroundings, (session) => resumeObjects(kind, names, { all, wait }, session));
  });
}
