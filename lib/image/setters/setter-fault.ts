/** A file with markers that is beyond a limit. The message names the file and how to mend it. */
export class SetterFault extends Error {
  override readonly name = "SetterFault";
}
