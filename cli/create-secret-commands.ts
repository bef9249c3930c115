import { type Command, Option } from "commander";
import { createsWith, receiverTypes, withGitCredentials, withLogin } from "./create-options.ts";
import { commaSeparated } from "./listed-values.ts";
import type { Surroundings } from "./session.ts";

/** `create secret …`. */
export function addCreateSecretCommands(create: Command, surroundings: Surroundings): void {
  const secret = create.command("secret").description("create Secrets for sources, Receivers and Providers");
  addGit(secret, surroundings);
  addHelm(secret, surroundings);
  addOci(secret, surroundings);
  addTls(secret, surroundings);
  addProxy(secret, surroundings);
  addReceiver(secret, surroundings);
  addNotation(secret, surroundings);
  addGithubApp(secret, surroundings);
}

function addGit(secret: Command, surroundings: Surroundings): void {
  const git = withGitCredentials(
    secret
      .command("git [name]")
      .description("create a Secret for a git repository; over ssh with a new deploy key, which is printed"),
  );
  git
    .option("--bearer-token <token>", "token for HTTPS, in place of username and password")
    .option("--ca-crt-file <file>", "PEM file with the authority of the git host");
  createsWith(git, surroundings, async () => (await import("./create-git.ts")).createSecretGit);
}

function addHelm(secret: Command, surroundings: Surroundings): void {
  const helm = withLogin(
    withCertificates(secret.command("helm [name]").description("create a Secret for a HelmRepository")),
  );
  createsWith(helm, surroundings, async () => (await import("./create-secret-tls.ts")).createSecretHelm);
}

function addOci(secret: Command, surroundings: Surroundings): void {
  const oci = withLogin(
    secret
      .command("oci [name]")
      .description("create a Secret for a registry, which is an image pull secret too")
      .option("--url <url>", "registry, or a repository of it, without scheme: ghcr.io or ghcr.io/org/app"),
  );
  createsWith(oci, surroundings, async () => (await import("./create-secret-login.ts")).createSecretOci);
}

function addTls(secret: Command, surroundings: Surroundings): void {
  const tls = withCertificates(secret.command("tls [name]").description("create a Secret with certificates"));
  createsWith(tls, surroundings, async () => (await import("./create-secret-tls.ts")).createSecretTls);
}

function addProxy(secret: Command, surroundings: Surroundings): void {
  const proxy = withLogin(
    secret
      .command("proxy [name]")
      .description("create a Secret with the address of a proxy, and a login")
      .option("--address <url>", "address of the proxy: http, https or socks5"),
  );
  createsWith(proxy, surroundings, async () => (await import("./create-secret-login.ts")).createSecretProxy);
}

function addReceiver(secret: Command, surroundings: Surroundings): void {
  const receiver = secret
    .command("receiver [name]")
    .description("create the Secret of a Receiver of the same name; an annotation has the URL of its webhook")
    .addOption(new Option("--type <type>", "type of the Receiver").choices(receiverTypes))
    .option("--token <token>", "token that deliveries are checked with (default: a new one)")
    .option("--hostname <host>", "host of the webhooks, for the URL in the annotation")
    .option("--email-claim <email>", "service account that Google pushes as; required for type gcr")
    .option("--audience-claim <audience>", "audience of Google's tokens (default: the URL of the webhook)");
  createsWith(receiver, surroundings, async () => (await import("./create-receiver.ts")).createSecretReceiver);
}

function addNotation(secret: Command, surroundings: Surroundings): void {
  const notation = secret
    .command("notation [name]")
    .description("create a Secret that signatures of Notation are verified with")
    .option("--trust-policy-file <file>", "the trust policy, trustpolicy.json")
    .option(
      "--ca-cert-file <file>",
      "PEM file with an authority, ending with .crt or .pem; several by commas, or given several times",
      commaSeparated,
    );
  createsWith(notation, surroundings, async () => (await import("./create-secret-notation.ts")).createSecretNotation);
}

function addGithubApp(secret: Command, surroundings: Surroundings): void {
  const app = secret
    .command("githubapp [name]")
    .description("create a Secret with a GitHub App, for a GitRepository with provider github")
    .option("--app-id <id>", "id of the App")
    .option("--app-installation-owner <name>", "user or organization that has installed it")
    .option("--app-installation-id <id>", "id of the installation, in place of its owner")
    .option("--app-private-key <file>", "PEM file with the private key of the App")
    .option("--app-base-url <url>", "API of a GitHub Enterprise Server");
  createsWith(app, surroundings, async () => (await import("./create-secret-login.ts")).createSecretGithubApp);
}

function withCertificates(command: Command): Command {
  return command
    .option("--tls-crt-file <file>", "PEM file with a client certificate")
    .option("--tls-key-file <file>", "PEM file with its key")
    .option("--ca-crt-file <file>", "PEM file with the authority of the server");
}
