import type { Surface } from '../../../src/ports/surface.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword, type Person, signIn } from '../../support/people/people.js'
import type { SettingsHost } from './settings-host.js'

let strangers = 0

/** An address nobody registered before. */
export function stranger(domain = 'example.org'): string {
  strangers += 1
  return `stranger-${strangers}@${domain}`
}

export const post = (
  host: SettingsHost,
  surface: Surface,
  path: string,
  body: object,
  rest: object = {},
) => host.send('POST', `/v1/auth/${surface}${path}`, { body, ...rest })

export function register(host: SettingsHost, surface: Surface, given: object = {}): Promise<Reply> {
  return post(host, surface, '/register', { email: stranger(), password: goodPassword, ...given })
}

export function login(host: SettingsHost, surface: Surface, who: Person, password = who.password) {
  return post(host, surface, '/login', { email: who.email, password })
}

export const me = async (host: SettingsHost, surface: Surface, bearer: string): Promise<string> =>
  outcomeOf(await host.send('GET', `/v1/auth/${surface}/me`, { bearer }))

export async function changePassword(
  host: SettingsHost,
  surface: Surface,
  who: Person,
  [currentPassword, newPassword]: readonly [string, string],
): Promise<string> {
  const { bearer } = await signIn(host, surface, { ...who, password: currentPassword })
  const body = { currentPassword, newPassword }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/me/password`, { body, bearer }))
}

/** The outcomes of registering with each of these, in a row. */
export async function registering(
  host: SettingsHost,
  surface: Surface,
  given: readonly object[],
): Promise<string> {
  const outcomes: string[] = []
  for (const one of given) outcomes.push(outcomeOf(await register(host, surface, one)))
  return outcomes.join(', ')
}
