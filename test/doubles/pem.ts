import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The path of a certificate or key of `test/fixtures/tls`. */
export function pemFile(name: string): string {
  return join(import.meta.dirname, "../fixtures/tls", name);
}

/** The content of that file. */
export function pem(name: string): Promise<string> {
  return readFile(pemFile(name), "utf8");
}
