import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";

/** https://distribution.github.io/distribution/about/notifications/#events */
const Envelope = z.object({
  events: z.array(
    z.object({
      action: z.string(),
      target: z.object({ repository: z.string(), tag: z.string().optional(), digest: z.string().optional() }),
    }),
  ),
});

export interface EcrAccount {
  readonly account: string;
  readonly region: string;
}

/** An event of ECR. */
export interface RegistryEvent {
  readonly source: string;
  readonly account: string;
  readonly region: string;
  readonly "detail-type": string;
  readonly detail: object;
}

/**
 * Listens to the registry's notifications and hands each push of a tag on as the event that EventBridge brings from ECR:
 * https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html
 */
export async function registryEvents(
  endpoint: URL,
  { account, region }: EcrAccount,
  onPush: (event: RegistryEvent) => void,
): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      const { events } = Envelope.parse(JSON.parse(await text(request)));
      for (const { action, target } of events) {
        const { repository, tag, digest } = target;
        if (action !== "push" || tag === undefined) continue;
        const detail = {
          "action-type": "PUSH",
          result: "SUCCESS",
          "repository-name": repository,
          "image-digest": digest,
          "image-tag": tag,
        };
        const head = { version: "0", id: randomUUID(), source: "aws.ecr", "detail-type": "ECR Image Action" };
        const whole = { ...head, account, region, time: new Date().toISOString(), resources: [], detail };
        onPush(whole);
      }
    };
    receive().then(
      () => response.writeHead(200).end(),
      // The registry sends it again.
      () => response.writeHead(500).end(),
    );
  });
  await once(server.listen(Number(endpoint.port), endpoint.hostname), "listening");
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    },
  };
}
