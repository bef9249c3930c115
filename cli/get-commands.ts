import type { Command } from "commander";
import type { GetOptions } from "./get-objects.ts";
import { kustomizations, ociRepositories, type Reconcilable } from "./reconcilable.ts";
import type { GlobalOptions, Surroundings } from "./settings.ts";

export function addGetCommands(root: Command, surroundings: Surroundings): void {
  const get = root.command("get").description("list objects and how they are doing");
  const sources = get.command("sources").alias("source").description("list sources");
  addKind(sources.command("oci [name]").description("list OCIRepositories"), ociRepositories, surroundings);
  addKind(
    get
      .command("kustomizations [name]")
      .aliases(["ks", "kustomization"])
      .description("list Kustomizations")
      .option("--show-source", "show the source of each"),
    kustomizations,
    surroundings,
  );
}

function addKind(command: Command, kind: Reconcilable, surroundings: Surroundings): void {
  command
    .option("-A, --all-namespaces", "of all namespaces")
    .option("--no-header", "leave out the header")
    .option("-w, --watch", "go on showing what changes")
    .option("--status-selector <type=status>", "only those with this condition, for example ready=false")
    .option("-l, --label-selector <selector>", "only those with these labels")
    .action(async (name: string | undefined) => {
      const [{ getObjects }, { withCluster }] = await Promise.all([
        import("./get-objects.ts"),
        import("./settings.ts"),
      ]);
      const options = command.optsWithGlobals<GetOptions & GlobalOptions>();
      await withCluster(options, surroundings, (session) => getObjects(kind, name, options, session));
    });
}
