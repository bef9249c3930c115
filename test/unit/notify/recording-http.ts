import type { Http, HttpRequest, HttpResponse } from "../../../lib/core/ports/http.ts";
import type { ProviderParts, ProviderSettings } from "../../../lib/notify/provider.ts";

/** What the host does with one request. */
export type Answer = Partial<Omit<HttpResponse, "body">> & { readonly body?: string };

/** Parts whose host remembers the requests, and whose clock only moves while it is slept on. */
export interface RecordingParts extends ProviderParts {
  readonly requests: HttpRequest[];
  /** The waits, in milliseconds. */
  readonly waits: number[];
}

/** Answers by turns, the last one again and again. A function may throw. */
export function recordingParts(...answers: readonly (Answer | ((request: HttpRequest) => Answer))[]): RecordingParts {
  const requests: HttpRequest[] = [];
  const waits: number[] = [];
  let now = Date.UTC(2026, 2, 2, 11, 31, 8);
  const http: Http = {
    async send(request, signal) {
      signal.throwIfAborted();
      requests.push(request);
      const turn = answers[Math.min(requests.length, answers.length) - 1] ?? {};
      const { status = 200, headers = {}, body = "ok" } = typeof turn === "function" ? turn(request) : turn;
      return { url: request.url, status, headers, body: Buffer.from(body) };
    },
  };
  return {
    http,
    dial: async () => {
      throw new Error("the test did not expect a connection");
    },
    requests,
    waits,
    now: () => now,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      waits.push(ms);
      now += ms;
    },
  };
}

/** Settings of a Provider that has nothing but these. */
export function settingsOf(settings: Partial<ProviderSettings>): ProviderSettings {
  return {
    ...{ type: "generic", name: "provider", namespace: "demo", uid: "0c9c2e41-d2f9-4f9b-9c41-bebc1984d67a" },
    ...{ address: "", channel: "", username: "", password: "", token: "", headers: {}, secret: {} },
    alert: { name: "alert", namespace: "demo", uid: "8f14e45f-ceea-467f-a9d8-0b1c2d3e4f50" },
    ...settings,
  };
}
