import type { Command } from "commander";
import type { PushOptions } from "./push-artifact.ts";
import type { Surroundings } from "./settings.ts";

export function addPushCommand(root: Command, surroundings: Surroundings): void {
  const push = root.command("push").description("push to a registry");
  const artifact = push
    .command("artifact [url]")
    .description("pack a folder and push it to oci://HOST/REPOSITORY:TAG; the same input has the same digest")
    .option("-f, --path <path>", "folder or file to push, - for what comes on standard input")
    .option("--source <url>", "where the content comes from, for example the git URL")
    .option("--revision <revision>", "what it is there, for example main@sha1:<commit>")
    .option("--creds <user:password>", "credentials for the registry; those of docker login by default")
    .option("-a, --annotations <key=value>", "annotation of the artifact, can be given several times", listed)
    .option("--ignore-paths <patterns>", "patterns of files to leave out, in place of the default ones", commaSeparated)
    .option("--add-ignore-paths <patterns>", "patterns of files to leave out too", commaSeparated)
    .option("--resolve-symlinks", "pack what symbolic links point to; else they are left out")
    .option("--insecure-registry", "allow plain HTTP")
    .option("--insecure", "the same as --insecure-registry")
    .option("--reproducible", "accepted for the sake of scripts: every artifact is")
    .option("-o, --output <format>", "print the result as json or yaml");
  artifact.action(async (url: string | undefined) => {
    const { pushArtifact } = await import("./push-artifact.ts");
    await pushArtifact(url, artifact.optsWithGlobals<PushOptions>(), surroundings);
  });
}

function listed(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function commaSeparated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(",")];
}
