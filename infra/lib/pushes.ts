import { ArnFormat, Aws, Duration, Stack, Token, Validations } from "aws-cdk-lib";
import {
  CfnEventBusPolicy,
  EventBus,
  type EventPattern,
  Rule,
  RuleTargetInput,
  Schedule,
} from "aws-cdk-lib/aws-events";
import { EventBus as EventBusTarget, LambdaFunction, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import codeCommitEvents from "./code-commit.pattern.json" with { type: "json" };
import customEvents from "./custom.pattern.json" with { type: "json" };
import ecrEvents from "./ecr.pattern.json" with { type: "json" };
import type { SluiceFunction } from "./functions.ts";
import type { Queues } from "./queues.ts";
import type { PushOrigin } from "./service.ts";

/** As long as EventBridge tries at most. */
export const hintRetries = { retryAttempts: 185, maxEventAge: Duration.hours(24) };

/** The next minute brings another event. */
const sweepRetries = { retryAttempts: 1, maxEventAge: Duration.minutes(1) };

/** What a Sluice is told of, by the id of its rule. No rule brings events of S3: one on all buckets would bring every object. */
const hintRules: readonly { readonly id: string; readonly of: string; readonly pattern: HintPattern }[] = [
  { id: "Pushes", of: "what changes in ECR", pattern: ecrEvents },
  { id: "CodeCommit", of: "what changes in a repository of CodeCommit", pattern: codeCommitEvents },
  { id: "Custom", of: "what a sender of one's own tells (docs/events.md)", pattern: customEvents },
];

interface HintPattern {
  readonly source: string[];
  readonly "detail-type": string[];
  readonly detail?: Readonly<Record<string, string[]>>;
}

/** The rules: what changes in a source becomes a hint, and every minute there is a sweep. What cannot be delivered waits in a queue. */
export class Events extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: {
      readonly queues: Queues;
      readonly sweep: SluiceFunction;
      readonly collector: SluiceFunction;
      readonly pushesFrom: readonly PushOrigin[];
    },
  ) {
    super(scope, id);
    const { collector, queues, sweep, pushesFrom } = props;
    const deadLetterQueue = queues.undeliveredEvents;
    const { account: ownAccount, region: ownRegion } = Stack.of(this);
    const accounts = [...new Set([ownAccount, ...pushesFrom.map(({ account = ownAccount }) => account)])];
    const regions = [...new Set([ownRegion, ...pushesFrom.map(({ region = ownRegion }) => region)])];
    for (const { id: ruleId, of, pattern } of hintRules) {
      new Rule(this, ruleId, {
        description: `Sluice: ${of} is a hint`,
        eventPattern: { ...eventPattern(pattern), account: accounts, region: regions },
        targets: [new SqsQueue(queues.hints, { deadLetterQueue, ...hintRetries })],
      });
    }
    new Rule(this, "EveryMinute", {
      description: "Sluice: the sweep",
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [
        new LambdaFunction(sweep.alias, { event: RuleTargetInput.fromObject({}), deadLetterQueue, ...sweepRetries }),
      ],
    });
    sweep.alias.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, "EveryDay", {
      description: "Sluice: the collection of artifacts that no source names",
      schedule: Schedule.rate(Duration.days(1)),
      targets: [
        new LambdaFunction(collector.alias, {
          event: RuleTargetInput.fromObject({}),
          deadLetterQueue,
          ...sweepRetries,
        }),
      ],
    });
    collector.alias.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.hours(1) });
    for (const account of accounts.filter((other) => other !== ownAccount)) {
      new CfnEventBusPolicy(this, `From${account}`, {
        statementId: `sluice-pushes-from-${account}`,
        statement: {
          Effect: "Allow",
          Principal: { AWS: `arn:${Aws.PARTITION}:iam::${account}:root` },
          Action: "events:PutEvents",
          Resource: defaultBusArn(this),
          Condition: {
            StringEquals: {
              "events:source": hintRules.flatMap(({ pattern }) => pattern.source),
              "events:detail-type": hintRules.flatMap(({ pattern }) => pattern["detail-type"]),
            },
          },
        },
      });
    }
  }
}

/** Lets a principal send events of its own to the bus that a Sluice listens to, and no others. */
export function grantAnnouncing(scope: Construct, grantee: IGrantable): Grant {
  return Grant.addToPrincipal({
    grantee,
    actions: ["events:PutEvents"],
    resourceArns: [defaultBusArn(scope)],
    conditions: {
      StringEquals: {
        "events:source": customEvents.source[0],
        "events:detail-type": customEvents["detail-type"][0],
      },
    },
  });
}

/** The accounts and regions whose events a Sluice takes, each `<account>/<region>`; its own first. */
export function eventOrigins(scope: Construct, pushesFrom: readonly PushOrigin[]): readonly string[] {
  const own = Stack.of(scope);
  const all = [{}, ...pushesFrom].map(
    ({ account = own.account, region = own.region }: PushOrigin) => `${account}/${region}`,
  );
  return [...new Set(all)];
}

export interface SluicePushForwardingProps {
  /** ARN of the event bus `default` in the account and region of the Sluice. */
  readonly eventBusArn: string;
}

/**
 * Goes into a stack of another account or region: sends the pushes to its registries to the event bus of a Sluice, whose property
 * `pushesFrom` lists that account and region. What cannot be sent waits for 14 days in a queue there.
 */
export class SluicePushForwarding extends Construct {
  constructor(scope: Construct, id: string, { eventBusArn }: SluicePushForwardingProps) {
    super(scope, id);
    if (
      !Token.isUnresolved(eventBusArn) &&
      !/^arn:aws[\w-]*:events:[a-z0-9-]+:\d{12}:event-bus\/.+$/.test(eventBusArn)
    ) {
      throw new Error(
        `${this.node.path}: eventBusArn "${eventBusArn}" is not an event bus: write arn:aws:events:<region>:<account>:event-bus/default`,
      );
    }
    const deadLetterQueue = new Queue(this, "Undelivered", { enforceSSL: true, retentionPeriod: Duration.days(14) });
    Validations.of(deadLetterQueue).acknowledge({
      id: "AwsSolutions::AwsSolutions-SQS3",
      reason: "It holds dead letters itself, for operators: no function reads them, so none can fail on them",
    });
    const bus = EventBus.fromEventBusArn(this, "Bus", eventBusArn);
    for (const { id: ruleId, of, pattern } of hintRules) {
      new Rule(this, ruleId, {
        description: `Sluice: ${of} is reported to the account and region of Sluice`,
        eventPattern: eventPattern(pattern),
        targets: [new EventBusTarget(bus, { deadLetterQueue })],
      });
    }
  }
}

/**
 * Throws if pushes to a repository reach no rule of a Sluice. What is known only while the stack is deployed cannot be checked.
 */
export function checkOrigin(
  named: string,
  repository: { readonly account: string; readonly region: string },
  own: { readonly account: string; readonly region: string },
  pushesFrom: readonly PushOrigin[],
): void {
  const known = [own, ...pushesFrom.map(({ account = own.account, region = own.region }) => ({ account, region }))];
  if ([repository, ...known].some(({ account, region }) => Token.isUnresolved(account) || Token.isUnresolved(region)))
    return;
  if (known.some(({ account, region }) => account === repository.account && region === repository.region)) return;
  const { account, region } = repository;
  throw new Error(
    `${named} is in ${account}/${region}, and no rule there brings its pushes: add { account: "${account}", region: "${region}" } to pushesFrom of the Sluice, and a SluicePushForwarding to a stack there`,
  );
}

/** Throws if no cluster or no namespace may pull a repository. */
export function checkPulling({ node }: Construct, pulling: Readonly<Record<string, readonly unknown[]>>): void {
  for (const [name, values] of Object.entries(pulling)) {
    if (values.length > 0) continue;
    throw new Error(`${node.path}: ${name} is empty, so no object may pull the repository: name at least one`);
  }
}

function eventPattern({ source, detail, "detail-type": detailType }: HintPattern): EventPattern {
  return { source, detailType, ...(detail === undefined ? {} : { detail }) };
}

function defaultBusArn(scope: Construct): string {
  return Stack.of(scope).formatArn({
    service: "events",
    resource: "event-bus",
    resourceName: "default",
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}
