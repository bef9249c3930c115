import { type Command, Option } from "commander";
import { addCreateImageCommands } from "./create-image-commands.ts";
import { createsWith, receiverTypes, reconcileStrategy } from "./create-options.ts";
import { addCreateSecretCommands } from "./create-secret-commands.ts";
import { addCreateSourceCommands } from "./create-source-commands.ts";
import { commaSeparated } from "./listed-values.ts";
import type { Surroundings } from "./session.ts";

/** `create …`. */
export function addCreateCommands(root: Command, surroundings: Surroundings): void {
  const create = root.command("create").description("create objects, or print them with --export");
  addCreateSecretCommands(create, surroundings);
  addCreateSourceCommands(create, surroundings);
  addKustomization(create, surroundings);
  addHelmRelease(create, surroundings);
  addAlert(create, surroundings);
  addAlertProvider(create, surroundings);
  addReceiver(create, surroundings);
  addTenant(create, surroundings);
  addCreateImageCommands(create, surroundings);
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
  createsWith(kustomization, surroundings, async () => (await import("./create-kustomization.ts")).createKustomization);
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
    .addOption(reconcileStrategy())
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
  createsWith(release, surroundings, async () => (await import("./create-helm-release.ts")).createHelmRelease);
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
  createsWith(alert, surroundings, async () => (await import("./create-alert.ts")).createAlert);
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
  createsWith(provider, surroundings, async () => (await import("./create-alert.ts")).createProvider);
}

function addReceiver(create: Command, surroundings: Surroundings): void {
  const receiver = create
    .command("receiver [name]")
    .description("create a Receiver, whose webhook has objects reconciled")
    .addOption(new Option("--type <type>", "who calls the webhook").choices(receiverTypes))
    .option("--secret-ref <name>", "Secret with the token of the webhook")
    .option("--event <event>", "event that counts; several by commas, or given several times", commaSeparated)
    .option(
      "--resource <kind/name>",
      "object that is reconciled; several by commas, or given several times",
      commaSeparated,
    );
  createsWith(receiver, surroundings, async () => (await import("./create-receiver.ts")).createReceiver);
}

function addTenant(create: Command, surroundings: Surroundings): void {
  const tenant = create
    .command("tenant [name]")
    .description("create the namespaces of a team, each with a service account and a role")
    .option(
      "--with-namespace <namespace>",
      "namespace of the tenant; several by commas, or given several times",
      commaSeparated,
    )
    .option("--cluster-role <name>", "ClusterRole that the account has in these namespaces", "cluster-admin")
    .option("--with-service-account <name>", "name of the account (default: that of the tenant)")
    .option("--skip-namespace", "create no namespaces: they exist");
  createsWith(tenant, surroundings, async () => (await import("./create-tenant.ts")).createTenant);
}
