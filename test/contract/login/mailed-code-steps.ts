import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply, SendOptions } from '../../support/hosts/http-client.js'

export const inApp = { headers: { 'x-token-delivery': 'body' } } as const

export const askForCode = (
  host: ContractHost,
  surface: Surface,
  email: string,
  options: SendOptions = {},
): Promise<Reply> =>
  host.send('POST', `/v1/auth/${surface}/login/code`, { ...options, body: { email } })

/** What the asker keeps of a reply: a cookie in a browser, a key in an app. */
export function keptOf(reply: Reply): { readonly cookie: string; readonly codeKey: string } {
  assert.equal(reply.status, 202, reply.text)
  const cookie = reply.setCookies.map((one) => one.split(';')[0]).join('; ')
  return { cookie, codeKey: String(reply.json()['codeKey'] ?? '') }
}

/** Asks for a code and reads the mail. */
export async function mailedCodeFor(
  host: ContractHost,
  surface: Surface,
  email: string,
  options: SendOptions = {},
) {
  const kept = keptOf(await askForCode(host, surface, email, options))
  await host.auth.close() // mail is sent beside the request
  return { ...kept, code: host.mailer.last('loginCode', email).data.code }
}

export const showCode = (
  host: ContractHost,
  surface: Surface,
  code: string,
  options: SendOptions,
): Promise<Reply> =>
  host.send('POST', `/v1/auth/${surface}/login/code/verify`, { ...options, body: { code } })

/** Another code of the same form. */
export const wrongCodeFor = (code: string): string =>
  String((Number(code) + 1) % 100_000_000).padStart(8, '0')
