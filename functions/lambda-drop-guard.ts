import { stackStatus } from "../lib/aws/cloudformation.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { writeLog } from "../lib/process/write-log.ts";
import { dropGuardHandler } from "./drop-guard.ts";
import { answerReserveMs, customResource } from "./lambda/custom-resource.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";

const clock = systemClock;
const log = writeLog((line) => void process.stdout.write(line), "info");

/** Behind CloudFormation: the one custom resource of an installation. It reads no environment, so it starts whatever is wrong. */
export const handler = lambdaHandler(
  async () => customResource(dropGuardHandler({ log, stackStatus: stackStatus(clock) }), { clock, log }),
  answerReserveMs,
);
