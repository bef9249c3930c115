import { createServer as createHttpServer, request } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Secret } from "../../lib/core/secret.ts";
import type { ClusterConfig } from "../../lib/kube/cluster-config.ts";

/** A way to a server that can be shut. */
export interface TcpFront extends AsyncDisposable {
  readonly port: number;
  /** From now on connections are refused; those that are open end. */
  shut(): Promise<void>;
}

/** Passes connections on to a server, as they are. */
export async function tcpFront(server: URL): Promise<TcpFront> {
  const sockets = new Set<Socket>();
  const front = createServer((socket) => {
    const onward = connect(Number(server.port), server.hostname);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  const port = await listening(front);
  const shut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (front.listening) await new Promise((resolve) => front.close(resolve));
  };
  return { port, shut, [Symbol.asyncDispose]: shut };
}

/** A way to an API server of plain HTTP, on which everybody is this user: stands for a token of the user, which the embedded server has not. */
export async function userFront(config: Pick<ClusterConfig, "server">, user: string) {
  return httpFront(config, () => undefined, { authorization: "", "impersonate-user": user });
}

/** The answer of a proxy in place of the server behind it. */
interface Lie {
  readonly code: number;
  readonly body: object;
}

/** A way to an API server, over plain HTTP and with all rights there, that answers paths which contain a key by itself. */
export async function lyingFront(config: ClusterConfig, lies: Readonly<Record<string, Lie>>) {
  const lieTo = (url: string) => Object.entries(lies).find(([part]) => url.includes(part))?.[1];
  const front = await httpFront(config, lieTo, { authorization: "", "impersonate-user": "" });
  const token = { kind: "token", token: new Secret("any") } as const;
  return {
    ...front,
    configOf: (behind: ClusterConfig): ClusterConfig => ({
      ...behind,
      server: new URL(`http://127.0.0.1:${front.port}`),
      user: { name: "token", certificate: undefined, token, impersonate: undefined },
    }),
  };
}

async function httpFront(
  { server }: Pick<ClusterConfig, "server">,
  lieTo: (url: string) => Lie | undefined,
  changed: Readonly<Record<string, string>>,
) {
  const front = createHttpServer((incoming, outgoing) => {
    const { url = "", method, headers } = incoming;
    const lie = lieTo(url);
    if (lie !== undefined) {
      outgoing.writeHead(lie.code, { "content-type": "application/json" }).end(JSON.stringify(lie.body));
      return;
    }
    const sent = Object.entries({ ...headers, ...changed, host: server.host }).filter(([, value]) => value !== "");
    const onward = request({
      ...{ host: server.hostname, port: server.port, method, path: `${server.pathname.replace(/\/$/, "")}${url}` },
      headers: { ...Object.fromEntries(sent) },
    });
    onward.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const port = await listening(front);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listens nowhere");
  return address.port;
}

/** A kubeconfig with everything in it. JSON is YAML too. */
export function inlineKubeconfig({ server, tls, proxy, user: { certificate, token } }: ClusterConfig): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const name = "remote";
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: {
          server: server.href,
          ...(tls.ca === undefined ? {} : { "certificate-authority-data": base64(tls.ca) }),
          ...(tls.serverName === undefined ? {} : { "tls-server-name": tls.serverName }),
          ...(proxy === undefined ? {} : { "proxy-url": proxy.href }),
        },
      },
    ],
    users: [
      {
        name,
        user: {
          ...(token?.kind === "token" ? { token: token.token.reveal() } : {}),
          ...(certificate === undefined
            ? {}
            : {
                "client-certificate-data": base64(certificate.cert),
                "client-key-data": base64(certificate.key.reveal()),
              }),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  });
}
