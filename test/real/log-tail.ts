import { open } from "node:fs/promises";

const tailBytes = 4_096;
const tailLines = 20;

/** The last lines of a log, indented, for a message; says so where the log is empty or missing. */
export async function logTail(path: string): Promise<string> {
  const text = await lastBytes(path).catch(() => "");
  const lines = text.trimEnd().split("\n").slice(-tailLines);
  return lines.join("").trim() === "" ? `  (nothing in ${path})` : lines.map((line) => `  ${line}`).join("\n");
}

async function lastBytes(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  const start = Math.max(0, size - tailBytes);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
  return buffer.toString("utf8", 0, bytesRead);
}
