import { systemClock } from "../lib/process/system-clock.ts";
import { writeLog } from "../lib/process/write-log.ts";
import { definitionsHandler } from "./definitions.ts";
import { answerReserveMs, customResource } from "./lambda/custom-resource.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { openEksCluster } from "./lambda/reach-cluster.ts";
import { readStoredSecret } from "./lambda/read-stored-secret.ts";

const clock = systemClock;
const log = writeLog((line) => void process.stdout.write(line), "info");

/** Behind CloudFormation: one custom resource for each cluster. It reads no environment, so it starts whatever is wrong, and answers. */
export const handler = lambdaHandler(
  async () =>
    customResource(definitionsHandler({ clock, log, open: openEksCluster(clock), readStored: readStoredSecret }), {
      clock,
      log,
    }),
  answerReserveMs,
);
