import { ApiError } from "./cluster.ts";

const maxTries = 3;

/**
 * Repeats a change that is written under a precondition on what was read, if another client has written the object in between: three
 * tries in all.
 *
 * @param attempt reads the object, and patches it with the resource version that it has read. Its argument counts the tries from 1
 * @returns what the last try returns
 * @throws ApiError `Conflict` of the third try; any other error at once
 */
export async function repeatOnConflict<Result>(attempt: (tries: number) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "Conflict") || tries === maxTries) throw error;
    }
  }
}
