/**
 * `node:http` without its ES module facade: creating the facade reads every export, and one of them (WebSocket) loads undici,
 * which costs 12 MB and 100 ms in each process. Import only types from `node:http`. It is a file of its own, so that
 * code that needs only `request` or `createServer` does not load TLS and the agents.
 */
export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
