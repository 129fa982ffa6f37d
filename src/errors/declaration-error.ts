/** A problem of a module's declaration. */
export interface DeclarationProblem {
  /** `sender`, `hooks.url` for a sub-field, `fields[2]` for one without a key, or '' for the module itself. */
  readonly field: string
  /** The problem and its remedy: the rest of a sentence that begins with the field. */
  readonly problem: string
}

/** `defineModule` and `createAuth` throw it for a module whose declaration breaks a rule. */
export class DeclarationError extends Error {
  override readonly name = 'DeclarationError'
  readonly module: string
  /** All problems, not just the first. */
  readonly problems: readonly DeclarationProblem[]

  constructor(module: string, problems: readonly DeclarationProblem[]) {
    const lines = problems.map(({ field, problem }) =>
      field === '' ? `it ${problem}` : `field "${field}" ${problem}`,
    )
    super(`Module "${module}" is not declared correctly: ${lines.join('; ')}`)
    this.module = module
    this.problems = problems
  }
}
