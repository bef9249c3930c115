import type { Agent } from "node:http";

/** Closes idle connections now and the others once they are idle. The agent is not used again. */
export function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}
