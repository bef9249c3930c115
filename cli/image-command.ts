import type { Command } from "commander";
import type { GlobalOptions, Surroundings } from "./session.ts";

interface BarOptions extends GlobalOptions {
  readonly reason: string;
  readonly by?: string;
}

export function addImageCommand(root: Command, surroundings: Surroundings): void {
  const image = root.command("image").description("bar images that ImagePolicies must not choose");
  const bar = image
    .command("bar <policy> <image>")
    .description("let an ImagePolicy pass over a tag, or over TAG@sha256:DIGEST while the tag has this digest")
    .requiredOption("--reason <text>", "why, for those who ask why the tag is not rolled out")
    .option("--by <name>", "who bars it (default: user@host)");
  bar.action(async (policy: string, barred: string) => {
    const [{ barImage }, { withCluster }, { author }] = await Promise.all([
      import("./bar-image.ts"),
      import("./session.ts"),
      import("./pause-cluster.ts"),
    ]);
    const options = bar.optsWithGlobals<BarOptions>();
    const why = `${options.by ?? author()}: ${options.reason}`;
    await withCluster(options, surroundings, (session) => barImage(policy, barred, why, session));
  });
  const unbar = image
    .command("unbar <policy> <image>")
    .description("let an ImagePolicy choose an image again; of a tag alone, with every digest");
  unbar.action(async (policy: string, barred: string) => {
    const [{ unbarImage }, { withCluster }] = await Promise.all([import("./bar-image.ts"), import("./session.ts")]);
    await withCluster(unbar.optsWithGlobals<GlobalOptions>(), surroundings, (session) =>
      unbarImage(policy, barred, session),
    );
  });
}

/** Questions about how the cluster came to be as it is. */
export function addWhyCommand(root: Command, surroundings: Surroundings): void {
  const why = root.command("why").description("explain how the cluster reached its present state");
  const image = why
    .command("image <policy>")
    .description("show which image an ImagePolicy has chosen, why, which commit has set it, and what has applied that");
  image.action(async (policy: string) => {
    const [{ whyImage }, { withCluster }] = await Promise.all([import("./why-image.ts"), import("./session.ts")]);
    await withCluster(image.optsWithGlobals<GlobalOptions>(), surroundings, (session) => whyImage(policy, session));
  });
  const canary = why
    .command("canary <name>")
    .description("show what has happened to a Canary and why, with its share of the traffic after each step");
  canary.action(async (name: string) => {
    const [{ whyCanary }, { withCluster }] = await Promise.all([import("./why-canary.ts"), import("./session.ts")]);
    await withCluster(canary.optsWithGlobals<GlobalOptions>(), surroundings, (session) => whyCanary(name, session));
  });
}
