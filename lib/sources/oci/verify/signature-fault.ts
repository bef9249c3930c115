/** No signature of an artifact holds, or what should prove one cannot be used. The message goes into a condition: it holds no secret. */
export class SignatureFault extends Error {
  override readonly name = "SignatureFault";
}
