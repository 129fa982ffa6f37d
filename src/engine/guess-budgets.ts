// Which count of wrong guesses judges a login. A stranger who uses up the guesses of an address must not keep its owner
// out, so a browser or app that signed in before has a budget of its own (OWASP, "Slow Down Online Guessing Attacks with
// Device Cookies").

/**
 * Whose guesses are counted together:
 * - `address`: of every caller who has no budget of their own
 * - `knownDevice`: of one recognition id of the account
 * - `signInKey`: of the caller who just set a password by a mailed link, or with the right password before it
 */
export type GuessBudget =
  | { readonly of: 'address' | 'signInKey' }
  | { readonly of: 'knownDevice'; readonly recognitionHash: string }

/** Codes that are shown in sessions are counted for all sessions of a user together: `sessions`. */
export type BudgetName = GuessBudget['of'] | 'sessions'

/** The guesses of every caller who has no budget of their own. */
export const sharedBudget: GuessBudget = { of: 'address' }

/** A past login, as far as it may give its recognition id a budget. */
export interface BudgetLogin {
  readonly at: number
  readonly recognitionHash?: string | null
  /** The account's `secretsEpoch` at that login. */
  readonly secretsEpoch: number
  /** That of the newest login from there that showed a second factor; -1 without one. */
  readonly factorEpoch: number
  readonly sessionId: string | null
}

interface Secrets {
  readonly secretsEpoch: number
  readonly secretsChangedIn: string | null
}

/** What a request brings. */
export interface BudgetClaim {
  /** The hashes of its recognition ids for this account. */
  readonly hashes: readonly string[]
  /** Whether it has the account's sign-in key. */
  readonly hasSignInKey: boolean
}

/** Who once knew the password may have made any number of ids. */
const mostDevices = 8

function isOfNow(login: BudgetLogin, { secretsEpoch, secretsChangedIn }: Secrets): boolean {
  if (login.secretsEpoch === secretsEpoch) return true
  // One of before the field was kept has no epoch, and no session either.
  return login.sessionId !== null && login.sessionId === secretsChangedIn
}

/** The logins of the eight newest ids that signed in since the last change of password or factors, or made it. */
function budgetLogins(
  logins: readonly BudgetLogin[],
  secrets: Secrets,
): readonly (BudgetLogin & { readonly recognitionHash: string })[] {
  const own = logins
    .flatMap((login) => {
      const { recognitionHash } = login
      return recognitionHash && isOfNow(login, secrets) ? [{ ...login, recognitionHash }] : []
    })
    .toSorted((one, other) => other.at - one.at)
  const ids = [...new Set(own.map(({ recognitionHash }) => recognitionHash))].slice(0, mostDevices)
  return own.filter(({ recognitionHash }) => ids.includes(recognitionHash))
}

/**
 * The one budget that judges a guess. A second factor is judged by a device's own only if the device showed one since the
 * last change: else who knows the password would get more guesses by signing in.
 */
export function budgetOf(
  guess: 'password' | 'secondFactor',
  { hashes, hasSignInKey }: BudgetClaim,
  logins: readonly BudgetLogin[],
  secrets: Secrets,
): GuessBudget {
  const own = budgetLogins(logins, secrets).find(
    ({ recognitionHash, secretsEpoch, factorEpoch }) =>
      hashes.includes(recognitionHash) && (guess === 'password' || factorEpoch === secretsEpoch),
  )
  if (own !== undefined) return { of: 'knownDevice', recognitionHash: own.recognitionHash }
  return hasSignInKey ? { of: 'signInKey' } : sharedBudget
}

/** A budget as a login that waits for its second factor keeps it; null stands for that of the address. */
export function storedBudget(budget: GuessBudget): string | null {
  if (budget.of === 'knownDevice') return `knownDevice ${budget.recognitionHash}`
  return budget.of === 'address' ? null : budget.of
}

export function budgetIn(stored: string | null): GuessBudget {
  const [name, recognitionHash] = stored?.split(' ') ?? []
  if (recognitionHash !== undefined) return { of: 'knownDevice', recognitionHash }
  return name === 'signInKey' ? { of: name } : sharedBudget
}

/** How long a sign-in key gives a budget: from the change of the password that it was given for. */
export const signInKeyMs = 60 * 60 * 1000
