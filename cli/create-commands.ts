import { type Command, Option } from "commander";
import type { AlertOptions, ProviderOptions } from "./create-alert.ts";
import type { BucketOptions } from "./create-bucket.ts";
import type { CreateOptions, SourceOptions } from "./create-git.ts";
import type { HelmOptions } from "./create-helm.ts";
import type { HelmReleaseOptions } from "./create-helm-release.ts";
import type { ImagePolicyOptions, ImageRepositoryOptions, ImageUpdateOptions } from "./create-image.ts";
import type { KustomizationOptions } from "./create-kustomization.ts";
import { commaSeparated, listed } from "./listed-values.ts";
import type { Surroundings } from "./session.ts";

export function addCreateCommands(root: Command, surroundings: Surroundings): void {
  const create = root.command("create").description("create objects, or print them with --export");
  const secret = create.command("secret").description("create Secrets that sources log in with");
  const forGit = withCredentials(
    secret
      .command("git [name]")
      .description("create a Secret for a git repository; over ssh with a new deploy key, which is printed"),
  );
  forGit
    .option("--bearer-token <token>", "token for HTTPS, in place of username and password")
    .option("--ca-crt-file <file>", "PEM file with the authority of the git host");
  common(forGit).action(async (name: string | undefined) => {
    const { createSecretGit } = await import("./create-git.ts");
    await createSecretGit(name, forGit.optsWithGlobals<CreateOptions>(), surroundings);
  });
  const source = create.command("source").description("create sources");
  addSourceGit(source, surroundings);
  addSourceBucket(source, surroundings);
  addSourceHelm(source, surroundings);
  addKustomization(create, surroundings);
  addHelmRelease(create, surroundings);
  addAlert(create, surroundings);
  addAlertProvider(create, surroundings);
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
  common(repository).action(async (name: string | undefined) => {
    const { createImageRepository } = await import("./create-image.ts");
    await createImageRepository(name, repository.optsWithGlobals<ImageRepositoryOptions>(), surroundings);
  });
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
  common(policy).action(async (name: string | undefined) => {
    const { createImagePolicy } = await import("./create-image.ts");
    await createImagePolicy(name, policy.optsWithGlobals<ImagePolicyOptions>(), surroundings);
  });
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
  common(update).action(async (name: string | undefined) => {
    const { createImageUpdate } = await import("./create-image.ts");
    await createImageUpdate(name, update.optsWithGlobals<ImageUpdateOptions>(), surroundings);
  });
}

function addKustomization(create: Command, surroundings: Surroundings): void {
  const kustomization = create
    .command("kustomization [name]")
    .alias("ks")
    .description("create or update a Kustomization, and wait until it is applied")
    .option(
      "--source <[kind/]name[.namespace]>",
      "source of the manifests: GitRepository (if no kind is given), OCIRepository, Bucket or ExternalArtifact",
    )
    .option("--path <path>", "folder in the source", "./")
    .option("--prune", "delete from the cluster what is no longer in the source")
    .option("--wait", "wait until all applied objects are healthy")
    .option(
      "--health-check <kind/name.namespace>",
      "workload that has to be healthy; can be given several times",
      commaSeparated,
    )
    .option("--health-check-timeout <duration>", "how long to wait for health", "2m")
    .option("--depends-on <[namespace/]name>", "Kustomizations that have to be ready first", commaSeparated)
    .option("--service-account <name>", "service account to apply as")
    .addOption(new Option("--decryption-provider <name>", "how to decrypt Secrets").choices(["sops"]))
    .option("--decryption-secret <name>", "Secret with the keys for it")
    .option("--target-namespace <namespace>", "namespace of all applied objects, in place of their own")
    .option("--kubeconfig-secret-ref <name>", "Secret with the kubeconfig of another cluster to apply to")
    .option("--retry-interval <duration>", "time until a failed run is tried again")
    .option("--interval <duration>", "time between two runs", "1m");
  common(kustomization).action(async (name: string | undefined) => {
    const { createKustomization } = await import("./create-kustomization.ts");
    await createKustomization(name, kustomization.optsWithGlobals<KustomizationOptions>(), surroundings);
  });
}

function addHelmRelease(create: Command, surroundings: Surroundings): void {
  const release = create
    .command("helmrelease [name]")
    .alias("hr")
    .description("create or update a HelmRelease, and wait until its release is installed")
    .option("--release-name <name>", "name of the release (default: [TARGET-NAMESPACE-]NAME)")
    .option("--source <kind/name[.namespace]>", "source of the chart: HelmRepository, GitRepository or Bucket")
    .option("--chart <chart>", "name of the chart, or its path in the source")
    .option("--chart-version <range>", "version or range of versions of a chart of a HelmRepository")
    .option("--chart-ref <kind/name[.namespace]>", "OCIRepository or HelmChart that has the chart, in place of --chart")
    .option("--chart-interval <duration>", "time between two looks for a new version of the chart")
    .option("--depends-on <[namespace/]name>", "HelmReleases that have to be ready first", commaSeparated)
    .option("--target-namespace <namespace>", "namespace of the release (default: that of the HelmRelease)")
    .option("--storage-namespace <namespace>", "namespace of the release's Secrets (default: the target namespace)")
    .option("--create-target-namespace", "create the target namespace if it does not exist")
    .option("--service-account <name>", "service account to apply as")
    .addOption(
      new Option(
        "--reconcile-strategy <strategy>",
        "what makes a new chart: its version, or any revision of its source",
      )
        .choices(["ChartVersion", "Revision"])
        .default("ChartVersion"),
    )
    .option("--values <file>", "file with values; can be given several times, later ones win", commaSeparated)
    .option(
      "--values-from <kind/name>",
      "Secret or ConfigMap with values at values.yaml; can be given several times",
      commaSeparated,
    )
    .addOption(
      new Option("--crds <policy>", "what an upgrade does with the chart's definitions").choices([
        "Skip",
        "Create",
        "CreateReplace",
      ]),
    )
    .option("--kubeconfig-secret-ref <name>", "Secret with the kubeconfig of another cluster to install in")
    .option("--interval <duration>", "time between two runs", "1m");
  common(release).action(async (name: string | undefined) => {
    const { createHelmRelease } = await import("./create-helm-release.ts");
    await createHelmRelease(name, release.optsWithGlobals<HelmReleaseOptions>(), surroundings);
  });
}

function addAlert(create: Command, surroundings: Surroundings): void {
  const alert = create
    .command("alert [name]")
    .description("create an Alert, which sends events of objects to a Provider")
    .option("--provider-ref <name>", "Provider that gets the events, in the same namespace")
    .option("--event-severity <severity>", "events that count: info for all, or error")
    .option(
      "--event-source <kind/name>",
      "object whose events are sent, as KIND/NAME or KIND/NAME.NAMESPACE, * for every name; several by commas, or given several times",
      commaSeparated,
    );
  common(alert).action(async (name: string | undefined) => {
    const { createAlert } = await import("./create-alert.ts");
    await createAlert(name, alert.optsWithGlobals<AlertOptions>(), surroundings);
  });
}

function addAlertProvider(create: Command, surroundings: Surroundings): void {
  const provider = create
    .command("alert-provider [name]")
    .description("create a Provider, which says where Alerts send events to")
    .option("--type <type>", "what the events are sent to: slack, msteams, github, generic, …")
    .option("--channel <name>", "channel of a chat")
    .option("--username <name>", "user name that is shown in a chat")
    .option("--address <address>", "URL of the webhook or of the git repository")
    .option("--secret-ref <name>", "Secret with the login, the address or headers");
  common(provider).action(async (name: string | undefined) => {
    const { createProvider } = await import("./create-alert.ts");
    await createProvider(name, provider.optsWithGlobals<ProviderOptions>(), surroundings);
  });
}

function addSourceBucket(source: Command, surroundings: Surroundings): void {
  const bucket = source
    .command("bucket [name]")
    .description("create a Bucket, and the Secret that it logs in with")
    .addOption(
      new Option("--provider <name>", "API of the bucket")
        .choices(["generic", "aws", "azure", "gcp"])
        .default("generic"),
    )
    .option("--bucket-name <name>", "name of the bucket")
    .option("--endpoint <host>", "host of the S3 API, or the URL of an Azure storage account")
    .option("--access-key <id>", "access key")
    .option("--secret-key <key>", "secret key")
    .option("--region <region>", "region of the bucket")
    .option("--prefix <prefix>", "what the keys of the objects to take begin with")
    .option("--insecure", "ask the endpoint by plain HTTP")
    .option("--secret-ref <name>", "Secret that exists, in place of a new one")
    .option("--proxy-secret-ref <name>", "Secret with the address of a proxy")
    .option("--ignore-paths <patterns>", "patterns of objects to leave out", commaSeparated)
    .option("--interval <duration>", "time between two looks at the bucket", "1m");
  common(bucket).action(async (name: string | undefined) => {
    const { createSourceBucket } = await import("./create-bucket.ts");
    await createSourceBucket(name, bucket.optsWithGlobals<BucketOptions>(), surroundings);
  });
}

function addSourceHelm(source: Command, surroundings: Surroundings): void {
  const helm = source
    .command("helm [name]")
    .description("create a HelmRepository, and the Secret that it logs in with")
    .option("--url <url>", "repository: https://HOST/PATH, or oci://HOST/PATH for a registry")
    .option("-u, --username <name>", "user name")
    .option("-p, --password <password>", "password")
    .option("--ca-file <file>", "PEM file with the authority of the server")
    .option("--cert-file <file>", "PEM file with a client certificate")
    .option("--key-file <file>", "PEM file with its key")
    .option("--secret-ref <name>", "Secret that exists, in place of a new one")
    .option("--pass-credentials", "send the credentials to all hosts that the index names")
    .addOption(
      new Option("--oci-provider <name>", "how to log in to a registry").choices(["generic", "aws", "azure", "gcp"]),
    )
    .option("--interval <duration>", "time between two looks at the index", "1m")
    .option("--fetch-timeout <duration>", "how long the download of the index may take");
  common(helm).action(async (name: string | undefined) => {
    const { createSourceHelm } = await import("./create-helm.ts");
    await createSourceHelm(name, helm.optsWithGlobals<HelmOptions>(), surroundings);
  });
}

function addSourceGit(source: Command, surroundings: Surroundings): void {
  const git = withCredentials(
    source.command("git [name]").description("create a GitRepository, and the Secret that it logs in with"),
  );
  git
    .option("--branch <branch>", "branch to follow")
    .option("--tag <tag>", "tag to take")
    .option("--tag-semver <range>", "range of versions; the highest tag in it is chosen")
    .option("--ref-name <name>", "full name of a reference, for example refs/pull/420/head")
    .option("--commit <commit>", "commit to take")
    .option("--secret-ref <name>", "Secret that exists, in place of a new one")
    .option("--proxy-secret-ref <name>", "Secret with the address of a proxy")
    .addOption(new Option("--provider <name>", "how to log in").choices(["generic", "aws", "azure", "github"]))
    .option("--recurse-submodules", "take the content of submodules, too")
    .option("--ignore-paths <patterns>", "patterns of files to leave out", commaSeparated)
    .option("--sparse-checkout-paths <folders>", "folders to take, in place of everything", commaSeparated)
    .option("--interval <duration>", "time between two looks at the repository", "1m")
    .option("--fetch-timeout <duration>", "how long one git operation may take")
    .option("-s, --silent", "do not ask whether the deploy key has been added");
  common(git).action(async (name: string | undefined) => {
    const { createSourceGit } = await import("./create-git.ts");
    await createSourceGit(name, git.optsWithGlobals<SourceOptions>(), surroundings);
  });
}

function withCredentials(command: Command): Command {
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

function common(command: Command): Command {
  return command
    .option("--export", "print the object as YAML, and create nothing")
    .option("--label <key=value>", "label of the object; can be given several times", listed);
}
