/** Threads of each kind in a reconcile function: it has about one core, and the memory of one build. */
export const functionThreads = 1;
