/**
 * The work that the expressions of a build may cause. A step takes about as long as to compare a character: some 10 ns.
 * Substitution counts steps and no time, so that a template has the same answer on every machine.
 */
export const maxBuildSteps = 100_000_000;

/** More work than a {@link StepBudget} has left. */
export class OutOfSteps extends Error {
  override readonly name = "OutOfSteps";
}

export class StepBudget {
  readonly #max: number;
  #spent = 0;

  constructor(maxSteps: number) {
    this.#max = maxSteps;
  }

  get spent(): number {
    return this.#spent;
  }

  get left(): number {
    return Math.max(0, this.#max - this.#spent);
  }

  /**
   * Takes steps before, or soon after, the work is done.
   *
   * @throws OutOfSteps
   */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.#max) throw new OutOfSteps(`more than ${this.#max} steps`);
  }
}
