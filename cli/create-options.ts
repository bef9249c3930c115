import { type Command, Option, type OptionValues } from "commander";
import { commaSeparated } from "./listed-values.ts";
import type { Surroundings } from "./session.ts";

// Options that several words of `create` share.

/** The types that flux knows: a `generic-oidc` Receiver needs fields that no option has. */
export const receiverTypes = [
  "generic",
  "generic-hmac",
  "github",
  "gitlab",
  "bitbucket",
  "harbor",
  "dockerhub",
  "quay",
  "gcr",
  "nexus",
  "acr",
  "cdevents",
] as const;

/** Creates the object from its name and the options. */
type Creator<Options> = (name: string | undefined, options: Options, surroundings: Surroundings) => Promise<void>;

/**
 * Completes a word of `create`, once it has its own options: adds those that every word has, and runs the creator.
 *
 * @param load imports the creator, so that a command loads only the module it runs
 */
export function createsWith<Options extends OptionValues>(
  command: Command,
  surroundings: Surroundings,
  load: () => Promise<Creator<Options>>,
): void {
  // A flag of every word of flux, also of those that make nothing with an interval.
  if (!command.options.some(({ long }) => long === "--interval")) {
    command.addOption(new Option("--interval <duration>", "changes nothing").hideHelp());
  }
  command
    .option("--export", "print the object as YAML, and create nothing")
    .option("--label <key=value>", "label of the object; several by commas, or given several times", commaSeparated)
    .action(async (name: string | undefined) => {
      const create = await load();
      await create(name, command.optsWithGlobals<Options>(), surroundings);
    });
}

/** A login by user name and password. */
export function withLogin(command: Command): Command {
  return command.option("-u, --username <name>", "user name").option("-p, --password <password>", "password");
}

/** What makes a new version of a chart that a HelmChart or HelmRelease names. */
export function reconcileStrategy(): Option {
  return new Option(
    "--reconcile-strategy <strategy>",
    "what makes a new chart: its version, or any revision of its source",
  )
    .choices(["ChartVersion", "Revision"])
    .default("ChartVersion");
}

/** How to log in to a git host. */
export function withGitCredentials(command: Command): Command {
  return command
    .option("--url <url>", "repository: ssh://git@HOST/PATH or https://HOST/PATH")
    .option("-u, --username <name>", "user name for HTTPS")
    .option("-p, --password <password>", "password or token for HTTPS; for ssh the passphrase of --private-key-file")
    .option("--private-key-file <file>", "private key for ssh, in place of a new one")
    .addOption(
      new Option("--ssh-key-algorithm <algorithm>", "of a new key")
        .choices(["ecdsa", "ed25519", "rsa"])
        .default("ecdsa"),
    )
    .option("--ssh-rsa-bits <bits>", "length of a new key of RSA", "2048")
    .addOption(
      new Option("--ssh-ecdsa-curve <curve>", "curve of a new key of ECDSA")
        .choices(["p256", "p384", "p521"])
        .default("p384"),
    )
    .option("--ca-file <file>", "PEM file with the authority of the git host");
}
