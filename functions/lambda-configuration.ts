import { systemClock } from "../lib/process/system-clock.ts";
import { writeLog } from "../lib/process/write-log.ts";
import { configurationHandler, isRefresh, refreshHandler } from "./configuration.ts";
import { answerReserveMs, customResource } from "./lambda/custom-resource.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { openEksCluster } from "./lambda/reach-cluster.ts";
import { readStoredSecret } from "./lambda/read-stored-secret.ts";

const clock = systemClock;
const log = writeLog((line) => void process.stdout.write(line), "info");

/** Behind CloudFormation, one custom resource for each configuration, and behind the schedules that copy logins again. */
export const handler = lambdaHandler(async () => {
  const deps = {
    clock,
    log,
    open: openEksCluster(clock),
    readStored: readStoredSecret,
  };
  const refresh = refreshHandler(deps);
  const resource = customResource(configurationHandler(deps), { clock, log });
  return (event: unknown, signal: AbortSignal) => (isRefresh(event) ? refresh(event, signal) : resource(event, signal));
}, answerReserveMs);
