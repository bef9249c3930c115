import { Socket } from "node:net";

/**
 * The name server and the network of a function: a connection to `HOST:PORT` goes to a port of loopback where
 * SLUICE_TEST_ROUTES says so (`{"HOST:PORT": PORT}`). Loaded before the bundle, by NODE_OPTIONS.
 */
const routes: unknown = JSON.parse(process.env["SLUICE_TEST_ROUTES"] ?? "{}");
const connect: unknown = Reflect.get(Socket.prototype, "connect");

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** As Node calls it itself: options and a listener, in an array of their own or not. */
function routed(args: readonly unknown[]): readonly unknown[] {
  const [options, ...more] = Array.isArray(args[0]) ? (args[0] satisfies unknown[]) : args;
  if (!isRecord(options) || !isRecord(routes)) return args;
  const port = routes[`${String(options["host"])}:${String(options["port"])}`];
  return port === undefined ? args : [{ ...options, host: "127.0.0.1", port }, ...more];
}

if (typeof connect !== "function") throw new Error("a socket of this Node has no connect");
Reflect.set(Socket.prototype, "connect", function connectByRoute(this: Socket, ...args: readonly unknown[]): unknown {
  const socket: unknown = Reflect.apply(connect, this, routed(args));
  return socket;
});
