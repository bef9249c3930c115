/** The content of a revision cannot become an artifact. The message names the path and how to mend it. */
export class CheckoutFault extends Error {
  override readonly name = "CheckoutFault";
}
