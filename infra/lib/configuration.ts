import { CfnOutput, CustomResource, Duration, Stack, Token } from "aws-cdk-lib";
import { Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { Configuration } from "../../lib/configuration/configuration.ts";
import { allow } from "./access.ts";
import type { SluiceCluster } from "./cluster.ts";

/** A repository of OCI artifacts, as `sluice push artifact` and `flux push artifact` write them. */
export interface OciSource {
  /** `oci://<host>/<repository>`, without tag or digest and without tokens. */
  readonly url: string;
  /** What to apply: one of tag, digest or a range of versions. Default: the tag `latest`. */
  readonly ref?: { readonly tag?: string; readonly digest?: string; readonly semver?: string };
  /** `aws`: Sluice's own rights, for a repository of ECR that `SluiceRepository` allows. Default: `generic`, `login` or none. */
  readonly provider?: "generic" | "aws";
  /**
   * A secret of Secrets Manager with `{"username": "…", "password": "…"}`, or a `.dockerconfigjson`. It is copied into the namespace at
   * each deployment and by a schedule. Default: none.
   */
  readonly login?: ISecret;
  /** Time between two runs without a push. Default: 10 minutes. */
  readonly interval?: Duration;
}

/** A folder of the source, applied as Flux's Kustomization. */
export interface ConfigurationKustomization {
  /** The folder. Default: the whole source. */
  readonly path?: string;
  /** Keys of others in this map, which have to be ready first. Default: none. */
  readonly dependsOn?: readonly string[];
  /** Between two runs where nothing has changed. Default: 10 minutes. */
  readonly interval?: Duration;
  /** After a failure. Default: `interval`. */
  readonly retryInterval?: Duration;
  /** How long a run may take, until everything is healthy. Default: `interval`. */
  readonly timeout?: Duration;
  /** Whether objects that are no longer in the source are deleted. Default: true. */
  readonly prune?: boolean;
  /** Whether it is ready only once everything that it applied is healthy. Default: true. */
  readonly wait?: boolean;
  /** Whether an object whose change is refused as immutable is deleted and made again. Default: false. */
  readonly force?: boolean;
}

export interface SluiceConfigurationProps {
  /** Where to apply. */
  readonly cluster: SluiceCluster;
  /** Name of the source and prefix of the Kustomizations' names: lower-case letters, digits and hyphens, 40 at most. */
  readonly name: string;
  /** The namespace of the source and the Kustomizations. It is made if it is missing, and never deleted. */
  readonly namespace: string;
  /** What to apply. OCI is the only kind of source today. */
  readonly source: { readonly oci: OciSource };
  /** By names that `dependsOn` uses; 1 to 50. */
  readonly kustomizations: Readonly<Record<string, ConfigurationKustomization>>;
  /**
   * Whether deployed objects stay (`orphan`) or are deleted (`delete`) if a Kustomization is removed from the map, or the configuration
   * from the stack. Default: `orphan`.
   */
  readonly onDelete?: "orphan" | "delete";
  /** How long a deployment waits until all is ready, 13 minutes at most; it fails if that takes longer. Default: it does not wait. */
  readonly waitForReady?: Duration;
  /** How often the login is copied again. Default: 1 hour. */
  readonly loginRefresh?: Duration;
}

/** Three attempts of the function, which has 15 minutes. */
const serviceTimeout = Duration.minutes(55);
/** The name of the copy of a login. */
const loginOf = (name: string): string => `${name}-login`;

/** One source and what is applied from it, from the stack into a cluster. Its state at the deployment is in the stack's outputs. */
export class SluiceConfiguration extends Construct {
  /** `True`, `False` or `Unknown`: whether everything was ready at the end of the deployment. */
  readonly ready: string;
  /** The state of each object, at the end of the deployment: `Kustomization/shop/shop-apps True`. */
  readonly state: string;

  constructor(scope: Construct, id: string, props: SluiceConfigurationProps) {
    super(scope, id);
    const { cluster, loginRefresh = Duration.hours(1), name, namespace } = props;
    const { login } = props.source.oci;
    const configuration = configurationOf(this, props);
    if (cluster.sluice.emulated) {
      this.ready = "Unknown";
      this.state = "";
      return;
    }
    const { access, function: applies } = cluster.configurationAccess();
    const target = { cluster: cluster.arn, ...cluster.enteredBy("configuration"), installation: cluster.installation };
    const resource = new CustomResource(this, "Resource", {
      serviceToken: applies.alias.functionArn,
      resourceType: "Custom::SluiceConfiguration",
      serviceTimeout,
      properties: { ...target, configuration: Stack.of(this).toJsonString(configuration) },
    });
    resource.node.addDependency(applies, ...access, ...servicesOf(this, cluster));
    if (login !== undefined) {
      const arn = login.secretFullArn ?? `${login.secretArn}-??????`;
      applies.role.addToPrincipalPolicy(allow("", ["secretsmanager:GetSecretValue"], [arn]));
      if (login.encryptionKey !== undefined) {
        applies.role.addToPrincipalPolicy(allow("", ["kms:Decrypt"], [login.encryptionKey.keyArn]));
      }
      const { secrets } = configuration;
      new Rule(this, "LoginRefresh", {
        description: `Sluice: copies the login of ${namespace}/${name} again`,
        schedule: Schedule.rate(loginRefresh),
        targets: [
          // A failed copy is made an hour later anyway.
          new LambdaFunction(applies.alias, {
            event: RuleTargetInput.fromObject({ refresh: { ...target, name, namespace, secrets } }),
            retryAttempts: 2,
          }),
        ],
      });
    }
    this.ready = resource.getAttString("Ready");
    this.state = resource.getAttString("State");
    new CfnOutput(this, "Ready", { value: this.ready, description: `Whether ${namespace}/${name} was ready` });
    new CfnOutput(this, "State", {
      value: this.state,
      description: `State of ${namespace}/${name} when it was deployed`,
    });
  }
}

/** The properties for the function. Throws for those that it would refuse, so that no deployment begins. */
function configurationOf(scope: Construct, props: SluiceConfigurationProps) {
  const { kustomizations, name, namespace, onDelete = "orphan", waitForReady } = props;
  const { interval = Duration.minutes(10), login, provider, ref, url } = props.source.oci;
  if (Token.isUnresolved(url)) {
    throw new Error(`${scope.node.path}: source.oci.url is a token: write oci://<host>/<repository> in full`);
  }
  const [, host = ""] = /^oci:\/\/([^/]+)/.exec(url) ?? [];
  const configuration = {
    name,
    namespace,
    source: {
      kind: "OCIRepository",
      spec: { url, interval: seconds(interval), ...given({ provider, ref }) },
    },
    secrets: login === undefined ? [] : [{ name: loginOf(name), stored: login.secretArn, host }],
    kustomizations: Object.fromEntries(
      Object.entries(kustomizations).map(([key, one]) => [
        key,
        given({
          ...one,
          interval: optionalSeconds(one.interval),
          retryInterval: optionalSeconds(one.retryInterval),
          timeout: optionalSeconds(one.timeout),
        }),
      ]),
    ),
    onDelete,
    waitSeconds: waitForReady?.toSeconds() ?? 0,
  };
  const parsed = Configuration.safeParse(configuration);
  const faults = [
    ...sourceFaults(props.source.oci, host),
    ...Object.entries(kustomizations).flatMap(([key, { path = "" }]) =>
      path.split("/").includes("..") ? [`kustomizations.${key}.path must stay inside the artifact, without ..`] : [],
    ),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`),
  ];
  if (faults.length === 0) return configuration;
  throw new Error(`${scope.node.path} is not usable: ${faults.join("; ")}`);
}

/** Why a source could never work. Apps in plain JavaScript may set any field. */
function sourceFaults({ login, provider, ref = {}, url }: OciSource, host: string): readonly string[] {
  const faults: string[] = [];
  if (!/^oci:\/\/[^/]+\/[^:@]+$/.test(url))
    faults.push("source.oci.url must be oci://<host>/<repository>, without tag or digest");
  const known = ["tag", "digest", "semver"];
  const named = Object.keys(ref);
  for (const key of named.filter((one) => !known.includes(one)))
    faults.push(`source.oci.ref.${key} is not known: write one of ${known.join(", ")}`);
  if (named.length > 1) faults.push(`source.oci.ref has ${named.join(" and ")}: write one of them`);
  if (ref.digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(ref.digest))
    faults.push("source.oci.ref.digest must be sha256: and 64 hexadecimal digits");
  if (provider !== "aws") return faults;
  if (login !== undefined) faults.push("source.oci.login is not used with provider aws: leave one of the two out");
  if (!/\.dkr[.-]ecr/.test(host)) faults.push(`source.oci.provider aws is for ECR, and ${host} is not an ECR registry`);
  return faults;
}

/** What has to be there as long as the configuration is, so that its deletion is carried out: all of the Sluice beside it. */
function servicesOf(scope: Construct, { sluice }: SluiceCluster): readonly Construct[] {
  const above = new Set<unknown>(scope.node.scopes);
  return sluice.node.children.filter((child): child is Construct => child instanceof Construct && !above.has(child));
}

function given(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function seconds(duration: Duration): string {
  return `${duration.toSeconds()}s`;
}

function optionalSeconds(duration: Duration | undefined): string | undefined {
  return duration === undefined ? undefined : seconds(duration);
}
