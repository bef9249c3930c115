import { describe } from "vitest";
import { answersContract } from "./answers.ts";
import { failuresContract } from "./failures.ts";
import type { OpenHttp } from "./http-world.ts";
import { redirectsContract } from "./redirects.ts";
import { requestsContract } from "./requests.ts";
import { trustContract } from "./trust.ts";

/** What every adapter of the http port promises, one whose requests may reach this machine. */
export function httpContract(name: string, open: OpenHttp): void {
  describe(`http: ${name}`, () => {
    for (const concern of [answersContract, requestsContract, failuresContract, redirectsContract, trustContract]) {
      concern(open);
    }
  });
}
