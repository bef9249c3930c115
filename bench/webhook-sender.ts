import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";

/** What a sender sends, and how often. */
export const Task = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  count: z.number(),
  connections: z.number(),
});
export type Task = z.infer<typeof Task>;

/** How long each answer took, in milliseconds, and which statuses came. */
export const Answers = z.object({ times: z.array(z.number()), statuses: z.array(z.number()) });

/** In a thread of its own, so that the receiver has its own thread's time for itself. */
async function send({ url, headers, body, count, connections }: Task): Promise<z.infer<typeof Answers>> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const statuses = new Set<number>();
  let left = count;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const begun = performance.now();
      const sent = request(url, { method: "POST", agent, headers }, (response) => {
        statuses.add(response.statusCode ?? 0);
        response.on("end", () => {
          times.push(performance.now() - begun);
          resolve();
        });
        response.resume();
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const connection = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
  return { times, statuses: [...statuses] };
}

parentPort?.postMessage(await send(Task.parse(workerData)));
