/**
 * `node:http` without its ES module facade: making that reads every export, and one of them (WebSocket) loads undici,
 * which costs 12 MB and 100 ms in each process. Types come from `node:http` itself.
 */
export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
