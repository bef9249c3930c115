import { ecrHosts } from "../../../functions/ingest/ecr.ts";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { routesOption } from "../../real/lambda/add-routes.ts";
import type { DeployedFunction } from "./ask-moto.ts";
import type { Deployed } from "./deploy-into-moto.ts";
import { ecrCertificate, frontOfEcr } from "./front-of-ecr.ts";
import { frontOfEks } from "./front-of-eks.ts";
import { describeInMoto, type Installation, type InstallationOptions } from "./installation.ts";
import type { RealParts } from "./real-parts.ts";
import { roleSession } from "./role-session.ts";

interface Stack {
  readonly aws: Deployed["aws"];
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  readonly hintsQueueUrl: string;
  readonly wakeUpsQueueUrl: string;
  readonly putEvent: (event: object) => Promise<void>;
}

/**
 * The installation that a stack is. Its functions have the environment, the memory and the time that the template gives them, and
 * beside it what Lambda adds (credentials, region) and the ways to the stand-ins.
 */
export function installedByCdk(stack: Stack) {
  return async (parts: RealParts, { name }: InstallationOptions): Promise<Installation> => {
    await using made = new AsyncDisposableStack();
    const { aws, functions, hintsQueueUrl, putEvent } = stack;
    const { eks } = parts;
    const { account, region } = eks.cluster;
    const session = await roleSession(eks.sts, eks.role, name);
    await describeInMoto({ aws, eks }, made);
    const { server, tls } = await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" });
    const { endpoint } = aws;
    const front = made.use(await frontOfEks(endpoint, { name: eks.cluster.name, server, ca: tls.ca ?? "" }));
    const [registryHost = ""] = ecrHosts(account, region);
    const ecr = made.use(await frontOfEcr(parts.registry));
    // The client of SQS takes the host of the queue's own URL.
    const sqsFront = made.use(await frontOfEcr(new URL(endpoint).host));
    const added = {
      AWS_ACCESS_KEY_ID: session.accessKeyId,
      AWS_SECRET_ACCESS_KEY: session.secretAccessKey,
      AWS_ENDPOINT_URL: endpoint,
      AWS_ENDPOINT_URL_EKS: front.url,
      NODE_EXTRA_CA_CERTS: ecrCertificate,
      SLUICE_TEST_ROUTES: JSON.stringify({
        [`${registryHost}:443`]: ecr.port,
        [`sqs.${region}.amazonaws.com:443`]: sqsFront.port,
      }),
      NODE_OPTIONS: routesOption,
    };
    const sqs = sqsClient(aws);
    made.defer(() => sqs.destroy());
    const kept = made.move();
    return {
      functionOf(of) {
        const found = functions.get(of);
        if (found === undefined) throw new Error(`the stack has no function ${of}`);
        const { Environment, MemorySize: memoryMegabytes, Timeout } = found;
        return { env: { ...Environment.Variables, ...added }, memoryMegabytes, timeoutMs: Timeout * 1_000 };
      },
      sqs,
      queueUrl: stack.wakeUpsQueueUrl,
      hints: {
        queueUrl: hintsQueueUrl,
        put: ({ source, "detail-type": DetailType, detail }) =>
          putEvent({ Source: source, DetailType, Detail: JSON.stringify(detail) }),
      },
      registryHost,
      username: `sluice:${name}`,
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  };
}
