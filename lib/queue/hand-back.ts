/**
 * The reason to abort a handler's signal with when its process has to end (SIGTERM): the run is given back at once and
 * not counted as an attempt. Any other reason, such as the time being up, counts.
 */
export class HandBack extends Error {
  override readonly name = "HandBack";
}
