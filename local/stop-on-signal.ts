const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Stopping = keyof typeof numbers;

/**
 * Has a signal stop what this process does, once: the second ends it at once, as Node does. Answers the exit code that a shell
 * shows of a program that the signal ended, 128 and its number; undefined while none came.
 */
export function stopOnSignal(names: readonly Stopping[], stop: (reason: Error) => void): () => number | undefined {
  let exitCode: number | undefined;
  for (const name of names) {
    process.once(name, () => {
      exitCode = 128 + numbers[name];
      stop(new Error(`stopped by ${name}`));
    });
  }
  return () => exitCode;
}
