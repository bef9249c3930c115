import { type Command, Option } from "commander";
import { commaSeparated } from "./listed-values.ts";

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

/** The options of every word of `create`; called behind those of the word itself. */
export function withCreateOptions(command: Command): Command {
  // A flag of every word of flux, also of those that make nothing with an interval.
  if (!command.options.some(({ long }) => long === "--interval")) {
    command.addOption(new Option("--interval <duration>", "changes nothing").hideHelp());
  }
  return command
    .option("--export", "print the object as YAML, and create nothing")
    .option("--label <key=value>", "label of the object; several by commas, or given several times", commaSeparated);
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
