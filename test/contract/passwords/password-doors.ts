import { AuthError } from '../../../src/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { mailedToken, outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword, signIn } from '../../support/people/people.js'

export interface Account {
  readonly email: string
  readonly name: string
}

/** `['422 password_policy', 'The password does not …', ['too_short']]`, or `['set', '']`. */
export type DoorOutcome = readonly [outcome: string, detail: string, violations?: unknown]

/**
 * A way to set a password. Does all that comes before, such as making the account; the answer
 * tries to set one, once.
 */
export type Door = (
  host: ContractHost,
  surface: Surface,
  account: Account,
) => Promise<(password: string) => Promise<DoorOutcome>>

export function ofReply(reply: Reply): DoorOutcome {
  if (reply.status < 300) return ['set', '']
  const { detail, violations } = reply.json()
  const outcome = [outcomeOf(reply), String(detail)] as const
  return violations === undefined ? outcome : [...outcome, violations]
}

const register: Door = async (host, surface, account) => async (password) => {
  const body = { ...account, password }
  return ofReply(await host.send('POST', `/v1/auth/${surface}/register`, { body }))
}

const create: Door = async (host, surface, account) => async (password) => {
  try {
    await host.auth[surface].users.create({ ...account, password })
    return ['set', '']
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const outcome = [`${error.status} ${error.code}`, error.message] as const
    return error.violations === null ? outcome : [...outcome, error.violations]
  }
}

/** Makes the account first, without a password, where there is none yet. */
export const reset: Door = async (host, surface, account) => {
  const { email } = account
  const { users } = host.auth[surface]
  if ((await users.findByEmail(email)) === null) await users.create(account)
  await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
  const token = await mailedToken(host, 'resetPassword', email)
  return async (newPassword) => {
    const body = { token, newPassword }
    return ofReply(await host.send('POST', `/v1/auth/${surface}/password/reset`, { body }))
  }
}

const change: Door = async (host, surface, account) => {
  // Long enough for every policy a test may set.
  const currentPassword = `${goodPassword}, `.repeat(5)
  const { id, email } = await host.auth[surface].users.create({
    ...account,
    password: currentPassword,
    emailVerified: true,
  })
  const { bearer } = await signIn(host, surface, { id, email, password: currentPassword })
  return async (newPassword) => {
    const body = { currentPassword, newPassword }
    return ofReply(await host.send('POST', `/v1/auth/${surface}/me/password`, { bearer, body }))
  }
}

export const doors: readonly (readonly [string, Door])[] = [
  ['register', register],
  ['users.create', create],
  ['reset', reset],
  ['change', change],
]

/** What a refusal for these rules looks like, at any door. */
export function refusedFor(...rules: readonly string[]): DoorOutcome {
  const detail = `The password does not meet the policy: ${rules.join(', ')}.`
  return ['422 password_policy', detail, rules]
}
