import { z } from "zod";
import { servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../lib/api/kinds/declared-kinds.ts";
import { embeddedMetrics } from "../lib/aws/embedded-metrics.ts";
import { readSecret, secretsClient } from "../lib/aws/secrets-manager.ts";
import { sqsClient, sqsLookRequests } from "../lib/aws/sqs.ts";
import { clusterOfText } from "../lib/core/work-key.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { writeLog } from "../lib/process/write-log.ts";
import { admissionHandler } from "./admission.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { queueOfCluster } from "./lambda/network-queues.ts";
import { AdmissionConfig, readConfig } from "./settings/config.ts";

const config = readConfig(AdmissionConfig, process.env);

/** A call of a function URL, payload format 2.0, as far as it is read. */
const UrlCall = z.object({
  rawPath: z.string(),
  requestContext: z.object({ http: z.object({ method: z.string() }) }),
  body: z.string().default(""),
  isBase64Encoded: z.boolean().default(false),
});

/** The answer is out long before. */
const reserveMs = 500;

/** Behind a function URL that the API servers of the clusters call. */
export const handler = lambdaHandler(async (signal) => {
  const connection = { region: config.AWS_REGION };
  const write = (line: string): void => void process.stdout.write(line);
  const secrets = secretsClient(connection);
  const stored = { id: config.SLUICE_ADMISSION_SECRET, region: config.AWS_REGION };
  const secret = await readSecret(secrets, stored, signal).finally(() => secrets.destroy());
  if (!/^[0-9a-f]{64}$/.test(secret.reveal())) {
    throw new Error("the secret of SLUICE_ADMISSION_SECRET does not hold a key: store 64 hexadecimal digits in it");
  }
  const sqs = sqsClient(connection);
  const queueOf = queueOfCluster(config, async (stop) => {
    const { readDocument } = await import("./lambda/read-document.ts");
    return readDocument(config, connection, stop);
  });
  const handle = admissionHandler({
    secret,
    kinds: [...declaredKinds.map(servedKind), { group: "", kind: "ConfigMap" }, { group: "", kind: "Secret" }],
    looks: {
      async send(look, delayMs, stop) {
        await sqsLookRequests(sqs, await queueOf(clusterOfText(look.key), stop)).send(look, delayMs, stop);
      },
    },
    metrics: embeddedMetrics(write, systemClock, config.SLUICE_TABLE),
    clock: systemClock,
    log: writeLog(write, config.SLUICE_LOG_LEVEL),
  });
  return async (event: unknown, stop: AbortSignal) => {
    const { rawPath, requestContext, body, isBase64Encoded } = UrlCall.parse(event);
    const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
    const answer = await handle({ method: requestContext.http.method, path: rawPath, body: bytes }, stop);
    return { statusCode: answer.status, headers: { "content-type": answer.type }, body: answer.body };
  };
}, reserveMs);
