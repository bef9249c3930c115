import type { FileFaults } from "./fault.ts";

/** Likely mistakes in the constructs. They are tried where the CDK is installed. */
export const infraFaults: readonly FileFaults[] = [
  {
    file: "infra/lib/pushes.ts",
    tests: ["infra/test/pushes.test.ts"],
    faults: [
      {
        what: "a forwarded push that cannot be sent is lost",
        find: "new EventBusTarget(bus, { deadLetterQueue })",
        replace: "new EventBusTarget(bus)",
      },
      {
        what: "the function is not told about a region that sends pushes",
        find: "const all = [{}, ...pushesFrom].map(",
        replace: "const all = [{}, ...pushesFrom.filter((from) => from.region === undefined)].map(",
      },
    ],
  },
  {
    file: "infra/lib/cluster.ts",
    tests: ["infra/test/cluster.test.ts", "infra/test/cluster-roles.test.ts"],
    faults: [
      {
        what: "a removed cluster is looked up after the right to find it was removed",
        find: "addDependency(installs, reach, ...reachedBy)",
        replace: "addDependency(installs, ...reachedBy)",
      },
      {
        what: "a configuration of a removed cluster is deleted after the right to access it was removed",
        find: "this.configurationEntry, reach]",
        replace: "this.configurationEntry]",
      },
    ],
  },
  {
    file: "infra/lib/app-stack.ts",
    tests: ["infra/test/app.test.ts"],
    faults: [
      {
        what: "too many resources are refused only by the CDK, without naming clusters",
        find: "if (all.length <= maxResources) return [];",
        replace: "if (all.length <= 2 * maxResources) return [];",
      },
      {
        what: "an installation without clusters does not output the roles that another account must trust",
        find: 'for (const network of installing) this.sluice.functionFor("definitions", network);',
        replace: "",
      },
    ],
  },
  {
    file: "infra/lib/place-of-stack.ts",
    tests: ["infra/test/app.test.ts"],
    faults: [
      {
        what: "a changed list of clusters moves the stack whatever environment says",
        find: "const elsewhere = beside.filter((one) => one.place !== place);",
        replace: "const elsewhere = beside.filter((one) => one.place !== places[0]);",
      },
    ],
  },
  {
    file: "infra/lib/state.ts",
    tests: ["infra/test/app.test.ts"],
    faults: [
      {
        what: "the log of the function that empties the bucket outlives the stack",
        find: 'handler.addPropertyOverride("LoggingConfig", { LogGroup: log.logGroupName });',
        replace: "",
      },
    ],
  },
  {
    file: "infra/lib/sluice.ts",
    tests: ["infra/test/drop-guard.test.ts"],
    faults: [
      {
        what: "the retention of table and bucket is dropped without a word",
        find: "retained: props.removalPolicy !== RemovalPolicy.DESTROY,",
        replace: "retained: true,",
      },
      {
        what: "an email address of the alarms is dropped without a word",
        find: "...(this.alarmEmails.size === 0 ? {} : { alarmEmails: this.alarmAddresses() }),",
        replace: "",
      },
    ],
  },
  {
    file: "infra/lib/reach-policy.ts",
    tests: ["infra/test/cluster-roles.test.ts"],
    faults: [
      {
        what: "more roles than a policy can name are given to a function",
        find: "if (chars > maxReachChars) {",
        replace: "if (chars > 10 * maxReachChars) {",
      },
    ],
  },
  {
    file: "infra/lib/sluice.ts",
    tests: ["infra/test/options.test.ts"],
    faults: [
      {
        what: "the VPC that is given for the default network is ignored",
        find: "const vpc = this.networks[network];",
        replace: "const vpc = network === defaultNetwork ? undefined : this.networks[network];",
      },
      {
        what: "logs are always kept for a month",
        find: "const logRetention = props.logRetention ?? RetentionDays.ONE_MONTH;",
        replace: "const logRetention = RetentionDays.ONE_MONTH;",
      },
      {
        what: "maxConcurrency is not passed on",
        find: "made.consume(queue, { batchSize: size.batchSize, maxConcurrency });",
        replace: "made.consume(queue, { batchSize: size.batchSize, maxConcurrency: 10 });",
      },
      {
        what: "the receiver may assume reconcile's role in a cluster",
        find: "[receiver, roles?.receiver],",
        replace: "[receiver, roles?.reconcile],",
      },
      {
        what: "the function that empties the bucket may not delete",
        find: "deny.bucket(state.bucket, [...runs, collector.role], state.emptiedBy);",
        replace: "deny.bucket(state.bucket, runs);",
      },
      {
        what: "state is retained whatever removalPolicy says",
        find: "props.removalPolicy ?? RemovalPolicy.RETAIN",
        replace: "RemovalPolicy.RETAIN",
      },
      {
        what: "clusters are not told the selector of the admission webhook",
        find: '...(typeof selector === "string" ? { selector } : {}),',
        replace: "",
      },
    ],
  },
  {
    file: "infra/lib/functions.ts",
    tests: ["infra/test/options.test.ts"],
    faults: [
      {
        what: "a function of a network is not in the given subnets",
        find: "      vpcSubnets: vpc?.subnets,\n",
        replace: "",
      },
    ],
  },
  {
    file: "infra/lib/repository.ts",
    tests: ["infra/test/options.test.ts"],
    faults: [
      {
        what: "tags of a new repository can be moved whatever immutableTags says",
        find: "immutableTags ? TagMutability.IMMUTABLE : TagMutability.MUTABLE",
        replace: "TagMutability.MUTABLE",
      },
      {
        what: "only the network of the first cluster may pull a repository",
        find: "filter(({ arn }) => arns.includes(arn))",
        replace: "filter(({ arn }) => arns[0] === arn)",
      },
      {
        what: "images without a tag go after 30 days whatever untaggedExpiry says",
        find: "maxImageAge: untaggedExpiry",
        replace: "maxImageAge: Duration.days(30)",
      },
    ],
  },
  {
    file: "infra/lib/configuration.ts",
    tests: ["infra/test/options.test.ts"],
    faults: [
      {
        what: "retryInterval is that of interval",
        find: "retryInterval: optionalSeconds(one.retryInterval)",
        replace: "retryInterval: optionalSeconds(one.interval)",
      },
      {
        what: "a login is copied every hour whatever loginRefresh says",
        find: "schedule: Schedule.rate(loginRefresh)",
        replace: "schedule: Schedule.rate(Duration.hours(1))",
      },
      {
        what: "a login is copied without the role that reaches the cluster",
        find: "refresh: { ...target, name, namespace, secrets }",
        replace: "refresh: { cluster: cluster.arn, installation: cluster.installation, name, namespace, secrets }",
      },
      {
        what: "the key of a login cannot be used",
        find: 'allow("", ["kms:Decrypt"], [login.encryptionKey.keyArn])',
        replace: 'allow("", ["kms:Decrypt"], [arn])',
      },
      {
        what: "resources removed from the stack stay despite onDelete",
        find: "    onDelete,\n    waitSeconds",
        replace: '    onDelete: "orphan",\n    waitSeconds',
      },
    ],
  },
  {
    file: "infra/lib/cluster.ts",
    tests: ["infra/test/configuration.test.ts"],
    faults: [
      {
        what: "each configuration of a cluster makes the access entry again",
        find: "this.configurationEntry === undefined && this.hasOwnEntries()",
        replace: "this.hasOwnEntries()",
      },
    ],
  },
  {
    file: "infra/lib/observability.ts",
    tests: ["infra/test/options.test.ts"],
    faults: [
      {
        what: "only the first email gets the alarms",
        find: "for (const email of new Set(emails))",
        replace: "for (const email of emails.slice(0, 1))",
      },
    ],
  },
];
