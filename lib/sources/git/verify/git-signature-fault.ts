/** Why a signature of git proves nothing, in Flux's words (fluxcd/pkg/git/signature). Names no more than public keys. */
export class GitSignatureFault extends Error {
  override readonly name = "GitSignatureFault";
}
