/** What a shell shows of a program that SIGPIPE ended, which Node ignores: 128 and the signal's number. */
export const closedPipeExitCode = 141;

/**
 * Calls `listener` where nobody reads what this process writes any more, as behind `head`: it is to end, and quietly. Without
 * a listener Node ends the process with a stack.
 */
export function onClosedPipe(streams: readonly NodeJS.WritableStream[], listener: () => void): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      listener();
    });
  }
}
