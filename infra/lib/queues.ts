import { Duration, Validations } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { fixedLogicalId } from "./fixed-logical-id.ts";

export interface QueuesProps {
  readonly networks: readonly string[];
  /** Default: SQS's own encryption. */
  readonly encryptionKey: IKey | undefined;
  /** Time-outs of the functions behind the queues, in seconds. */
  readonly timeoutSeconds: { readonly ingest: number; readonly reconcile: number; readonly notify: number };
  /** Whether there are queues of notifications. */
  readonly notifications: boolean;
}

/** As often as at home: a wake-up carries no state, and the sweep sends another. */
const wakeUpReceives = 20;

/** A hint is lost where it is dropped, until the source's interval: after these it waits in the dead-letter queue. */
const hintReceives = 5;

/** A notification whose cluster does not answer is tried for about two hours, with growing waits (functions/notify.ts). */
const notificationReceives = 12;

/** A message is kept for four days, which leaves ten more days for it as a dead letter. */
const workRetention = Duration.days(4);

/** All queues. Dead letters are kept for 14 days, the most that SQS offers. */
export class Queues extends Construct {
  /** By network. */
  readonly wakeUps: Readonly<Record<string, Queue>>;
  readonly wakeUpDeadLetters: Queue;
  readonly hints: Queue;
  readonly hintsDeadLetters: Queue;
  readonly parked: Queue;
  readonly undeliveredEvents: Queue;
  /** By network; empty where there are none. */
  readonly notifications: Readonly<Record<string, Queue>>;
  readonly notificationDeadLetters: Queue | undefined;

  constructor(scope: Construct, id: string, props: QueuesProps) {
    super(scope, id);
    const { networks, encryptionKey, timeoutSeconds } = props;
    const queue = (name: string, props: QueueProps = {}): Queue => {
      const made = new Queue(this, name, {
        encryption: encryptionKey === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS,
        encryptionMasterKey: encryptionKey,
        enforceSSL: true,
        retentionPeriod: Duration.days(14),
        ...props,
      });
      fixedLogicalId(scope, made, name);
      return made;
    };
    this.parked = queue("Parked");
    this.undeliveredEvents = queue("UndeliveredEvents");
    for (const read of [this.parked, this.undeliveredEvents]) {
      Validations.of(read).acknowledge({
        id: "AwsSolutions::AwsSolutions-SQS3",
        reason: "It holds dead letters itself, for operators: no function reads them, so none can fail on them",
      });
    }
    this.wakeUpDeadLetters = queue("WakeUpDeadLetters");
    this.wakeUps = Object.fromEntries(
      networks.map((network) => [
        network,
        queue(`WakeUps${pascalCase(network)}`, {
          // The least that Lambda accepts. The lease protocol hides a message itself for as long as it needs (docs/maintainers/work-queue.md), so
          // this is only how long a wake-up waits if the state table did not answer: six times as long would be 90 minutes.
          visibilityTimeout: Duration.seconds(timeoutSeconds.reconcile),
          retentionPeriod: workRetention,
          deadLetterQueue: { queue: this.wakeUpDeadLetters, maxReceiveCount: wakeUpReceives },
        }),
      ]),
    );
    this.hintsDeadLetters = queue("HintsDeadLetters");
    this.hints = queue("Hints", {
      // Six times, as AWS advises, so that a batch that Lambda throttles is not handed out twice.
      visibilityTimeout: Duration.seconds(6 * timeoutSeconds.ingest),
      retentionPeriod: workRetention,
      deadLetterQueue: { queue: this.hintsDeadLetters, maxReceiveCount: hintReceives },
    });
    if (!props.notifications) {
      this.notifications = {};
      return;
    }
    // FIFO: what one object tells one Provider arrives in order, and what is sent twice arrives once.
    const deadLetters = queue("NotificationDeadLetters", { fifo: true });
    this.notificationDeadLetters = deadLetters;
    this.notifications = Object.fromEntries(
      networks.map((network) => [
        network,
        queue(`Notifications${pascalCase(network)}`, {
          fifo: true,
          // The least that Lambda accepts: the function itself says when a message comes again.
          visibilityTimeout: Duration.seconds(timeoutSeconds.notify),
          retentionPeriod: workRetention,
          deadLetterQueue: { queue: deadLetters, maxReceiveCount: notificationReceives },
        }),
      ]),
    );
  }
}

/** `eu-private` → `EuPrivate`, for ids of resources. */
export function pascalCase(name: string): string {
  return name
    .split("-")
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join("");
}
