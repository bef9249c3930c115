/** A value of the right JSON type that the Go type refuses. The server prefixes the text according to the verb. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}
