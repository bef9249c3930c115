import { type Command, Option } from "commander";
import { createsWith } from "./create-options.ts";
import type { Surroundings } from "./session.ts";

/** `create image …`. */
export function addCreateImageCommands(create: Command, surroundings: Surroundings): void {
  const image = create.command("image").description("create objects of image automation");
  addImageRepository(image, surroundings);
  addImagePolicy(image, surroundings);
  addImageUpdate(image, surroundings);
}

function addImageRepository(image: Command, surroundings: Surroundings): void {
  const repository = image
    .command("repository [name]")
    .description("create an ImageRepository, which scans the tags of an image")
    .option("--image <image>", "repository to scan, without scheme and tag: ghcr.io/org/app")
    .option("--secret-ref <name>", "Secret with the login of the registry")
    .option("--cert-ref <name>", "Secret with certificates for the registry")
    .option("--scan-timeout <duration>", "how long a scan may take (default: the interval)")
    .option("--interval <duration>", "time between two scans", "1m");
  createsWith(repository, surroundings, async () => (await import("./create-image.ts")).createImageRepository);
}

function addImagePolicy(image: Command, surroundings: Surroundings): void {
  const policy = image
    .command("policy [name]")
    .description("create an ImagePolicy, which chooses a tag of an ImageRepository")
    .option("--image-ref <name>", "ImageRepository in the same namespace")
    .option("--select-semver <range>", "choose the highest version in this range")
    .option("--select-alpha <order>", "choose by the alphabet: asc takes the last tag, desc the first")
    .option("--select-numeric <order>", "choose by number: asc takes the greatest tag, desc the least")
    .option("--filter-regex <expression>", "choose among the tags that match this expression only")
    .option("--filter-extract <template>", "what of a tag is compared, for example $ts")
    .addOption(
      new Option("--reflect-digest <when>", "when the digest of the tag is looked up").choices([
        "Always",
        "IfNotPresent",
        "Never",
      ]),
    )
    .option("--interval <duration>", "time between two lookups of the digest, with --reflect-digest Always");
  createsWith(policy, surroundings, async () => (await import("./create-image.ts")).createImagePolicy);
}

function addImageUpdate(image: Command, surroundings: Surroundings): void {
  const update = image
    .command("update [name]")
    .description("create an ImageUpdateAutomation, which commits chosen images to git")
    .option("--git-repo-ref <name>", "GitRepository to commit to")
    .option("--git-repo-namespace <namespace>", "its namespace (default: that of the ImageUpdateAutomation)")
    .option("--git-repo-path <path>", "folder whose files are changed (default: the whole repository)")
    .option("--checkout-branch <branch>", "branch to change (default: that of the GitRepository)")
    .option("--push-branch <branch>", "branch to push to (default: the one that is changed)")
    .option("--commit-template <template>", "Go template of the commit's message")
    .option("--author-name <name>", "name of the commits' author")
    .option("--author-email <email>", "e-mail of the commits' author")
    .option("--signing-key-secret <name>", "Secret with the key that signs commits")
    .addOption(new Option("--signing-key-type <type>", "of this key (default: gpg)").choices(["gpg", "ssh"]))
    .option("--interval <duration>", "time between two runs", "1m");
  createsWith(update, surroundings, async () => (await import("./create-image.ts")).createImageUpdate);
}
