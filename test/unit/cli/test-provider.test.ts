import { expect, test } from "vitest";
import { told } from "../../../cli/test-provider.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";

test("notify test prints for each attempt why no answer came, and no path, which may be a secret", async () => {
  const lines: string[] = [];
  const why = "dial tcp 127.0.0.1:9: connect: connection refused";
  const dead = async (): Promise<never> => {
    throw new HttpError("unreachable", `POST http://127.0.0.1:9/hunter2: ${why}`);
  };
  const { http } = told({ http: { send: dead }, dial: dead }, (line) => void lines.push(line));
  const request = { method: "POST", url: "http://127.0.0.1:9/hunter2?key=hunter2", timeoutMs: 1, maxBytes: 1 } as const;
  await expect(http.send(request, new AbortController().signal)).rejects.toThrow(why);
  expect(lines).toEqual([`POST to 127.0.0.1:9: no answer (${why})`]);
});
