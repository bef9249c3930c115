import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Has the real Prometheus scrape a server until it is disposed of.
 *
 * @param folder SLUICE_REAL_PROMETHEUS_TARGETS
 * @param address `HOST:PORT`, whose metrics are below `/metrics`
 */
export async function scrapedBy(folder: string, address: string): Promise<AsyncDisposable> {
  const file = join(folder, `${randomUUID()}.json`);
  // It reads whatever ends with `.json`, also what is not written to its end.
  await writeFile(`${file}.new`, JSON.stringify([{ targets: [address], labels: {} }]));
  await rename(`${file}.new`, file);
  return { [Symbol.asyncDispose]: () => rm(file) };
}
