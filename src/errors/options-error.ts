/**
 * `createAuth` rejects with it for an option that cannot work. The message names the option, the form
 * it must have, and the remedy; it never repeats a secret.
 */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  /** The option's path, such as `surfaces.client.baseUrl`. */
  readonly option: string

  constructor(option: string, problem: string, options?: { readonly cause: unknown }) {
    super(`createAuth: option "${option}" ${problem}`, options)
    this.option = option
  }
}
