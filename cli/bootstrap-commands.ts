import { type Command, Option } from "commander";
import { type BootstrapGitOptions, type BootstrapHostOptions, foreignOptions } from "./bootstrap-options.ts";
import { commaSeparated } from "./listed-values.ts";
import type { Surroundings } from "./session.ts";

/** The commands that have a cluster follow a git repository. */
export function addBootstrapCommands(root: Command, surroundings: Surroundings): void {
  const bootstrap = root
    .command("bootstrap")
    .description("have the cluster follow a git repository: write its manifests there, and apply them");
  addBootstrapGit(bootstrap, surroundings);
  for (const which of ["github", "gitlab"] as const) addBootstrapOnHost(bootstrap, which, surroundings);
}

function addBootstrapGit(bootstrap: Command, surroundings: Surroundings): void {
  const git = common(bootstrap.command("git").description("follow a repository of any git server"));
  git
    .option("--url <url>", "repository: ssh://git@HOST/PATH or https://HOST/PATH")
    .option("-u, --username <name>", "user name for HTTPS, or of the URL for ssh", "git")
    .option(
      "-p, --password <password>",
      "password or token for HTTPS (default: $GIT_PASSWORD); for ssh the passphrase of --private-key-file",
    )
    .option("--with-bearer-token", "send the password as a bearer token")
    .option("--private-key-file <file>", "private key for ssh that may write, in place of a new one")
    .option("--ssh-signing-reuse-private-key", "sign the commit by the key of --private-key-file")
    .option("-s, --silent", "do not ask whether the deploy key has been added");
  git.action(async () => {
    const { bootstrapGit } = await import("./bootstrap-git.ts");
    await bootstrapGit(git.optsWithGlobals<BootstrapGitOptions>(), surroundings);
  });
}

function addBootstrapOnHost(bootstrap: Command, which: "github" | "gitlab", surroundings: Surroundings): void {
  const [name, variable] = which === "github" ? ["GitHub", "GITHUB_TOKEN"] : ["GitLab", "GITLAB_TOKEN"];
  const command = common(
    bootstrap
      .command(which)
      .description(`follow a repository on ${name}, which is made if it does not exist; needs a token in ${variable}`),
  );
  command
    .option("--owner <name>", "user, organization or group that owns the repository")
    .option("--repository <name>", "name of the repository")
    .option("--personal", "the owner is a user")
    .option("--private", "make the repository private", true)
    .option("--no-private", "make the repository public")
    .option("--hostname <host>", `host of ${name}`, `${which}.com`)
    .option("--reconcile", "give a repository that exists these settings, too")
    .option("--read-write-key", "let the deploy key write, too")
    .option(
      "--team <team[:access]>",
      "team that gets access (default access: maintain); can be given several times",
      commaSeparated,
    );
  if (which === "gitlab") command.option("--visibility <visibility>", "private or public, in place of --private");
  command.action(async () => {
    const { bootstrapOnHost } = await import("./bootstrap-on-host.ts");
    await bootstrapOnHost(which, command.optsWithGlobals<BootstrapHostOptions>(), surroundings);
  });
}

function common(command: Command): Command {
  command
    .option("--branch <branch>", "branch to follow, and to write to", "main")
    .option("--path <path>", "folder of this cluster in the repository (default: its root)")
    .option("--interval <duration>", "time between two looks at the repository", "1m")
    .option("--secret-name <name>", "Secret that the cluster logs in with (default: as the namespace)")
    .option("--token-auth", "have the cluster log in with the token over HTTPS, in place of a deploy key")
    .addOption(
      new Option("--ssh-key-algorithm <algorithm>", "of a new deploy key")
        .choices(["ecdsa", "ed25519", "rsa"])
        .default("ed25519"),
    )
    .option("--ssh-rsa-bits <bits>", "length of a new key of RSA", "2048")
    .addOption(
      new Option("--ssh-ecdsa-curve <curve>", "curve of a new key of ECDSA")
        .choices(["p256", "p384", "p521"])
        .default("p384"),
    )
    .option("--ssh-hostname <host[:port]>", "host for ssh, if it is another one than for HTTPS")
    .option("--ca-file <file>", "PEM file with the authority of the git host")
    .option("--allow-insecure-http", "allow plain HTTP, by which the password is sent unencrypted")
    .option("--author-name <name>", "author of the commit", "Sluice")
    .option("--author-email <email>", "email address of the author", "")
    .option("--commit-message-appendix <text>", "text after the message of the commit, for example [skip ci]", "")
    .option("--gpg-key-ring <file>", "armored PGP key that signs the commit")
    .option("--gpg-passphrase <passphrase>", "passphrase of it")
    .option("--ssh-signing-key-file <file>", "ssh key that signs the commit")
    .option("--ssh-signing-password <passphrase>", "passphrase of it")
    .option("--recurse-submodules", "take the content of submodules, too")
    .option("--sparse-checkout <folders>", "folders to take, in place of everything", commaSeparated)
    .option("--webhook-url <url>", "address of the receiver, before the path (default: that of the installation)")
    .option("--no-webhook", "set up no webhook at the host")
    .option("--force", "take the folder of another cluster");
  for (const { flags } of foreignOptions) command.addOption(new Option(flags).hideHelp());
  return command;
}
