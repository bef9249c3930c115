import { createServer } from "node:http";
import { z } from "zod";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { ask } from "../../real/ask.ts";

const Described = z.looseObject({
  cluster: z.looseObject({ endpoint: z.string(), certificateAuthority: z.looseObject({ data: z.string() }) }),
});

export interface FrontOfEks extends AsyncDisposable {
  readonly url: string;
}

/**
 * EKS' API as moto has it, except for one cluster, whose endpoint and authority are those of a real control plane: moto
 * invents both, and they cannot be changed.
 */
export async function frontOfEks(
  moto: string,
  { name, server, ca }: { readonly name: string; readonly server: URL; readonly ca: string },
): Promise<FrontOfEks> {
  const front = createServer((request, response) => {
    const path = request.url ?? "/";
    const answer = async (): Promise<void> => {
      const { authorization = "" } = request.headers;
      const found = await ask(moto + path, { headers: { authorization } });
      if (found === undefined) throw new Error("moto does not answer");
      const headers = { "content-type": "application/json" };
      if (found.status !== 200 || path !== `/clusters/${name}`) {
        response.writeHead(found.status, headers).end(found.text);
        return;
      }
      const { cluster, ...rest } = Described.parse(JSON.parse(found.text));
      const certificateAuthority = { data: Buffer.from(ca).toString("base64") };
      const told = { ...rest, cluster: { ...cluster, endpoint: server.href, certificateAuthority } };
      response.writeHead(200, headers).end(JSON.stringify(told));
    };
    answer().catch(() => response.destroy());
  });
  const port = await portOnLoopback(front);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await closeServer(front);
    },
  };
}
