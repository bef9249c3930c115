/**
 * How long a test waits for what has to come. It ends a hang and judges no speed, so it is far longer than any wait on a slow machine that
 * others use; a wait that is over early costs nothing. No test has a deadline of its own. To see a failing wait sooner:
 * `vitest run --expect.poll.timeout=5000 FILE`.
 */
export const deadlineMs = 240_000;

/** For `vi.waitFor` and `vi.waitUntil`. `expect.poll` has the same by default (`vitest.config.ts`). */
export const withinDeadline = { timeout: deadlineMs };

/** A test as a whole, by default: longer than a wait, so that a wait that fails says what it waited for. */
export const testTimeoutMs = 3 * deadlineMs;

/** A test that repeats the same work, such as an installation that is killed at each write, by the number of times. */
export const repeatedTimeoutMs = (times: number): number => testTimeoutMs + times * 60_000;

/** For a call that takes a signal and may hang. */
export const untilDeadline = (): AbortSignal => AbortSignal.timeout(deadlineMs);
