import type { Command } from "commander";
import { kustomizations, ociRepositories, type Reconcilable } from "./reconcilable.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";

export function addReconcileCommands(root: Command, surroundings: Surroundings): void {
  const reconcile = root.command("reconcile").description("ask for a run now, and wait for its end");
  const source = reconcile.command("source").description("reconcile a source");
  addKind(source.command("oci [name]").description("reconcile an OCIRepository"), ociRepositories, surroundings);
  addKind(
    reconcile
      .command("kustomization [name]")
      .aliases(["ks", "kustomizations"])
      .description("reconcile a Kustomization")
      .option("--with-source", "reconcile its source first"),
    kustomizations,
    surroundings,
  );
}

function addKind(command: Command, kind: Reconcilable, surroundings: Surroundings): void {
  command.action(async (name: string | undefined) => {
    if (name === undefined) throw new Error(`${kind.kind} name is required`);
    const [{ reconcileObject }, { withCluster }] = await Promise.all([
      import("./reconcile-object.ts"),
      import("./settings.ts"),
    ]);
    const options = command.optsWithGlobals<GlobalOptions & { withSource?: boolean }>();
    await withCluster(options, surroundings, (session) =>
      reconcileObject(kind, name, options.withSource === true, session),
    );
  });
}
