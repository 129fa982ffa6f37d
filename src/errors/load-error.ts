/** A part that is loaded at its first use could not be. The message names the part, nothing else. */
export class LoadError extends Error {
  override readonly name = 'LoadError'
}
