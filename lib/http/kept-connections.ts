import type { ClientRequest, ClientRequestArgs, Agent as HttpAgent, IncomingMessage } from "node:http";
import { isIP, Socket } from "node:net";

/** How an agent makes its connections, and how many it keeps. */
export interface Keeping {
  /** The limit for connections to one place; further requests wait. */
  readonly maxSockets: number;
  readonly isSecure: boolean;
  /** Options of Node for every connection, as those of TLS. */
  readonly connecting?: object;
}

/** Connections that can be left to the requests that use them. */
export interface Retirable {
  /** Closes idle connections now and the others once they are idle. The agent is not used again. */
  retire(): void;
}

/**
 * Makes an agent keep connections by simpler rules than Node's, which copy all options of each request and make a text of them: 40 % of the
 * processor time of a short request. The agent still opens the connections. It is Node that calls `addRequest` with each request, and
 * emits `free` at a connection whose answer has been read.
 */
export function keepConnections<Kind extends HttpAgent>(
  agent: Kind,
  { connecting, isSecure, maxSockets }: Keeping,
): Kind & Retirable {
  const places = new Map<string, Place>();
  const all: PlaceRules = { isRetired: false, maxSockets };
  const connect = (key: string, { options: { host, lookup, port }, servername }: Wanting): Socket => {
    const socket = agent.createConnection({
      ...{ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay },
      ...(lookup === undefined ? {} : { lookup }),
      ...(servername === undefined ? {} : { servername }),
      // An agent of TLS keeps its sessions by this key.
      ...{ ...connecting, _agentKey: key },
    });
    if (socket instanceof Socket) return socket;
    throw new Error("the agent has opened no socket");
  };
  return Object.assign(agent, {
    addRequest(request: ClientRequest, options: ClientRequestArgs): void {
      const servername = isSecure ? nameOf(request, options) : undefined;
      const key = `${options.host}:${options.port}:${servername ?? ""}`;
      let place = places.get(key);
      if (place === undefined) {
        place = placeOf(all, { connect: (wanting) => connect(key, wanting), left: () => places.delete(key) });
        places.set(key, place);
      }
      place.take({ request, options, servername });
    },
    destroy(): void {
      for (const place of places.values()) place.destroy();
    },
    retire(): void {
      all.isRetired = true;
      for (const place of places.values()) place.closeIdle();
    },
  });
}

/** As Node's agents: probes of TCP begin after so many milliseconds. */
const keepAliveInitialDelay = 1_000;

/** A request, and the name of the certificate that its connection has to have: empty for an address, undefined without TLS. */
interface Wanting {
  readonly request: ClientRequest;
  readonly options: ClientRequestArgs;
  readonly servername: string | undefined;
}

interface PlaceRules {
  isRetired: boolean;
  readonly maxSockets: number;
}

/** The connections to one host and port, for certificates of one name. */
interface Place {
  take(wanting: Wanting): void;
  closeIdle(): void;
  destroy(): void;
}

/** @param left called when no connection is open any more */
function placeOf(
  rules: PlaceRules,
  { connect, left }: { readonly connect: (wanting: Wanting) => Socket; readonly left: () => void },
): Place {
  const open = new Set<Socket>();
  /** The one that was used last is the last. */
  const idle: Socket[] = [];
  const waiting: Wanting[] = [];

  const reuse = (socket: Socket, request: ClientRequest): void => {
    request.reusedSocket = true;
    request.onSocket(socket);
  };
  const begin = (wanting: Wanting): void => {
    let socket: Socket;
    try {
      socket = connect(wanting);
    } catch (error) {
      // As for a certificate that cannot be read.
      if (open.size === 0) left();
      throw error;
    }
    open.add(socket);
    let isKept = true;
    wanting.request.once("response", (answer: IncomingMessage) => {
      const keptMs = keptMsOf(answer);
      if (keptMs === undefined) return;
      isKept = keptMs > 0;
      if (isKept) socket.setTimeout(keptMs);
    });
    const isIdle = (): boolean => idle.includes(socket);
    const endIdle = (): void => {
      if (isIdle()) socket.destroy();
    };
    socket
      .on("free", () => {
        const next = socket.writable ? waiting.shift() : undefined;
        if (next !== undefined) return reuse(socket, next.request);
        // What has ended is not kept, and no more than the server keeps.
        if (!socket.writable || !isKept || rules.isRetired) return void socket.destroy();
        // It does not keep the process running.
        socket.unref();
        idle.push(socket);
      })
      // No request has asked for these bytes, so the next one must not get them as its answer.
      .on("data", endIdle)
      .on("timeout", endIdle)
      // An error without a listener ends the process. That of a request is told to the request too.
      .on("error", () => undefined)
      .once("close", () => {
        open.delete(socket);
        if (isIdle()) idle.splice(idle.indexOf(socket), 1);
        const next = waiting.shift();
        if (next !== undefined) begin(next);
        else if (open.size === 0) left();
      });
    wanting.request.onSocket(socket);
  };

  return {
    take(wanting) {
      let socket = idle.pop();
      while (socket !== undefined && !socket.writable) socket = idle.pop();
      if (socket !== undefined) {
        socket.ref();
        reuse(socket, wanting.request);
      } else if (open.size < rules.maxSockets) {
        begin(wanting);
      } else {
        waiting.push(wanting);
      }
    },
    closeIdle() {
      for (const socket of idle.splice(0)) socket.destroy();
    },
    destroy() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** A server that announces how long it keeps a connection may close it a little earlier than it arrives. */
const marginMs = 1_000;

/** For how long the server keeps the connection, in milliseconds, by its first answer; undefined if it does not say. */
function keptMsOf({ headers }: IncomingMessage): number | undefined {
  const hint = headers["keep-alive"];
  const [, seconds] = /^timeout=(\d+)/.exec(typeof hint === "string" ? hint : "") ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000 - marginMs;
}

/** The name that the server is asked for, as Node's agents choose it. Empty for an address. */
function nameOf(request: ClientRequest, { host }: ClientRequestArgs): string {
  const header = request.getHeader("host");
  const named = typeof header === "string" && header !== "" ? header : (host ?? "");
  const [, name = named] = /^\[([^\]]*)\]/.exec(named) ?? /^([^:]+):\d*$/.exec(named) ?? [];
  return isIP(name) === 0 ? name : "";
}
