import type { JsonObject } from "../../../lib/core/json.ts";

/** What a host answers a request with. */
export interface HostAnswer {
  readonly status: number;
  readonly answer: JsonObject | readonly JsonObject[];
}

const user = { id: 1, login: "robot", username: "robot" };
/** Of `git/statuses`, as Azure's client looks it up. */
const azureStatuses = {
  id: "428dd4fb-fda5-4722-af02-9313b80305da",
  area: "git",
  resourceName: "statuses",
  routeTemplate: "{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}/{resource}",
  resourceVersion: 1,
  minVersion: "1.0",
  maxVersion: "6.0",
  releasedVersion: "6.0",
};

/** Answers as the service of a Provider does. It remembers comments only, so that each other event meets the same host. */
export class HostAnswers {
  #comments: JsonObject[] = [];

  /** Forgets all comments. */
  reset(): void {
    this.#comments = [];
  }

  to(method: string, url: string, body: unknown): HostAnswer {
    const path = url.split("?", 1)[0] ?? "";
    if (/\/(comments|notes)(\/\d+)?$/.test(path)) return this.#comment(method, path, body);
    if (path.endsWith("/user")) return { status: 200, answer: user };
    if (path.endsWith("/api/v1/version")) return { status: 200, answer: { version: "1.22.0" } };
    if (path.endsWith("/dispatches")) return { status: 204, answer: {} };
    if (method === "OPTIONS") return { status: 200, answer: { count: 1, value: [azureStatuses] } };
    if (path.includes("/_apis/") && method === "GET") return { status: 200, answer: { count: 0, value: [] } };
    if (/\/builds$|\/statuses\/build\//.test(path) && method === "GET") return { status: 404, answer: {} };
    if (method === "GET") return { status: 200, answer: [] };
    return { status: path.includes("statuses") ? 201 : 200, answer: {} };
  }

  #comment(method: string, path: string, body: unknown): HostAnswer {
    if (method === "GET") return { status: 200, answer: this.#comments };
    const text = typeof body === "object" && body !== null && "body" in body ? String(body.body) : "";
    const id = method === "POST" ? this.#comments.length + 1 : Number(path.slice(path.lastIndexOf("/") + 1));
    const comment = { id, body: text, user, author: user };
    this.#comments[id - 1] = comment;
    return { status: method === "POST" ? 201 : 200, answer: comment };
  }
}
