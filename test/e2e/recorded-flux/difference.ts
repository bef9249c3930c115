/** Where Sluice means to differ from what Flux left. */
export interface Difference {
  readonly scenario: string;
  readonly step: string;
  /** The place in the step's file, as keys and indexes. */
  readonly at: Place;
  /** What Flux has there, as it is compared; undefined for nothing. */
  readonly flux: unknown;
  readonly sluice: unknown;
  readonly why: string;
}
export type Place = readonly (string | number)[];
