import { type Command, Option } from "commander";
import { createsWith, reconcileStrategy, withGitCredentials, withLogin } from "./create-options.ts";
import { commaSeparated } from "./listed-values.ts";
import type { Surroundings } from "./session.ts";

/** `create source …`. */
export function addCreateSourceCommands(create: Command, surroundings: Surroundings): void {
  const source = create.command("source").description("create sources");
  addSourceGit(source, surroundings);
  addSourceOci(source, surroundings);
  addSourceBucket(source, surroundings);
  addSourceHelm(source, surroundings);
  addSourceChart(source, surroundings);
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
  createsWith(bucket, surroundings, async () => (await import("./create-bucket.ts")).createSourceBucket);
}

function addSourceHelm(source: Command, surroundings: Surroundings): void {
  const helm = withLogin(
    source
      .command("helm [name]")
      .description("create a HelmRepository, and the Secret that it logs in with")
      .option("--url <url>", "repository: https://HOST/PATH, or oci://HOST/PATH for a registry"),
  )
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
  createsWith(helm, surroundings, async () => (await import("./create-helm.ts")).createSourceHelm);
}

function addSourceGit(source: Command, surroundings: Surroundings): void {
  const git = withGitCredentials(
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
  createsWith(git, surroundings, async () => (await import("./create-git.ts")).createSourceGit);
}

function addSourceOci(source: Command, surroundings: Surroundings): void {
  const oci = source
    .command("oci [name]")
    .description("create an OCIRepository")
    .addOption(
      new Option("--provider <name>", "how to log in to the registry")
        .choices(["generic", "aws", "azure", "gcp"])
        .default("generic"),
    )
    .option("--url <url>", "repository: oci://HOST/PATH, without tag")
    .option("--tag <tag>", "tag to follow")
    .option("--tag-semver <range>", "range of versions; the highest tag in it is chosen")
    .option("--digest <digest>", "artifact to take, sha256:…; counts before range and tag")
    .option("--secret-ref <name>", "Secret with the login of the registry, of type kubernetes.io/dockerconfigjson")
    .option("--proxy-secret-ref <name>", "Secret with the address of a proxy")
    .option("--service-account <name>", "service account whose image pull secrets are the login")
    .option("--cert-ref <name>", "Secret with certificates for the registry")
    .option("--ignore-paths <patterns>", "patterns of files to leave out", commaSeparated)
    .option("--insecure", "ask the registry by plain HTTP")
    .option("--layer-selector <media-type:operation>", "layer to take, and whether to extract or copy it")
    .option("--interval <duration>", "time between two looks at the registry", "1m")
    .option("--fetch-timeout <duration>", "how long a download may take");
  createsWith(
    withVerification(oci),
    surroundings,
    async () => (await import("./create-source-oci.ts")).createSourceOci,
  );
}

function addSourceChart(source: Command, surroundings: Surroundings): void {
  const chart = source
    .command("chart [name]")
    .description("create a HelmChart")
    .option("--source <kind/name>", "HelmRepository, GitRepository or Bucket with the chart")
    .option("--chart <chart>", "name of the chart, or its path in a GitRepository or Bucket")
    .option("--chart-version <range>", "version or range of versions, of a chart of a HelmRepository")
    .addOption(reconcileStrategy())
    .option("--interval <duration>", "time between two looks at the source", "1m");
  createsWith(
    withVerification(chart),
    surroundings,
    async () => (await import("./create-source-oci.ts")).createSourceChart,
  );
}

function withVerification(command: Command): Command {
  return command
    .addOption(new Option("--verify-provider <name>", "verify signatures").choices(["cosign"]))
    .option("--verify-secret-ref <name>", "Secret with the public keys of the signatures")
    .option("--verify-subject <expression>", "who has signed without a key, as a regular expression")
    .option("--verify-issuer <expression>", "who has vouched for that signer, as a regular expression");
}
