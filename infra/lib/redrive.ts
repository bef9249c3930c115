import { AccountRootPrincipal, Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { allow } from "./access.ts";
import type { Queues } from "./queues.ts";

export interface RedriveProps {
  readonly queues: Queues;
  readonly encryptionKey: IKey | undefined;
}

/** A command that a person copies. */
export interface RedriveCommand {
  readonly description: string;
  readonly command: string;
}

/**
 * The role by which people move dead letters back (`sluice redrive`), and the commands. It may be assumed by identities of this
 * account whose own policies allow it. The policies of the queues except it from the denial of all other senders.
 */
export class Redrive extends Construct {
  readonly role: Role;
  /** By what is moved: `Hints`, `Undelivered`, `WakeUps`, and `Notifications` where there are any. */
  readonly commands: Readonly<Record<string, RedriveCommand>>;

  constructor(scope: Construct, id: string, { queues, encryptionKey }: RedriveProps) {
    super(scope, id);
    const { hints, hintsDeadLetters, notificationDeadLetters, undeliveredEvents, wakeUpDeadLetters } = queues;
    this.role = new Role(this, "Role", {
      assumedBy: new AccountRootPrincipal(),
      description: "Sluice: moves dead letters back (sluice redrive)",
    });
    const ofNotifications = notificationDeadLetters === undefined ? [] : [notificationDeadLetters];
    const deadLetters = [hintsDeadLetters, undeliveredEvents, wakeUpDeadLetters, ...ofNotifications];
    this.role.addToPolicy(
      allow(
        "TakeDeadLetters",
        ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"],
        deadLetters.map(({ queueArn }) => queueArn),
      ),
    );
    this.role.addToPolicy(
      allow(
        "SendThemBack",
        ["sqs:SendMessage"],
        [hints, ...Object.values(queues.wakeUps), ...Object.values(queues.notifications)].map(
          ({ queueArn }) => queueArn,
        ),
      ),
    );
    if (encryptionKey !== undefined) {
      this.role.addToPolicy(allow("UseKey", ["kms:Decrypt", "kms:GenerateDataKey"], [encryptionKey.keyArn]));
    }
    const command = (what: string, from: string, to?: string): string =>
      `sluice redrive ${what} --role ${this.role.roleArn} --from ${from}${to === undefined ? "" : ` --to ${to}`}`;
    this.commands = {
      Hints: {
        description: "Moves back events that could not be taken in",
        command: command("hints", hintsDeadLetters.queueUrl),
      },
      Undelivered: {
        description: "Makes hints of events that EventBridge could not deliver",
        command: command("undelivered", undeliveredEvents.queueUrl, hints.queueUrl),
      },
      WakeUps: {
        description: "Moves back wake-ups that were not handled",
        command: command("wake-ups", wakeUpDeadLetters.queueUrl),
      },
      ...Object.fromEntries(
        ofNotifications.map(({ queueUrl }) => [
          "Notifications",
          {
            description: "Moves back notifications that were not delivered",
            command: command("notifications", queueUrl),
          },
        ]),
      ),
    };
  }
}
