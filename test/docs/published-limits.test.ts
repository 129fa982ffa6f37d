import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** The number that a source file declares under this name. */
function declared(path: string, name: string): number {
  const [, expression = ''] =
    new RegExp(`\\b${name}(?::[^=]+)? = ([\\d_* ]+)`).exec(textOf(`src/${path}.ts`)) ?? []
  const factors = expression.split('*').map((one) => Number(one.trim().replaceAll('_', '')))
  expect(expression, `${path} declares ${name}`).not.toBe('')
  return factors.reduce((product, factor) => product * factor, 1)
}

/** The rows of the table below a heading, cell by cell. */
function rowsOf(page: string, heading: string): readonly (readonly string[])[] {
  const [, section = ''] = textOf(`docs/${page}.md`).split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const lines = own.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(2).map((line) => line.split('|').map((cell) => cell.trim()))
}

/** `1.5 seconds`, as pages say it. */
const seconds = (ms: number): string => `${ms / 1000} seconds`

describe('what it talks to', () => {
  const rows = rowsOf('operating', 'What it talks to, and for how long')
  const rowOf = (start: string): readonly string[] =>
    rows.find(([, to = '']) => to.startsWith(start)) ?? []

  it.each([
    ['your database', 'setup/shared-parts', 'timeoutMs'],
    ['identity providers', 'identity-providers/outbound', 'timeoutMs'],
    ['webhooks', 'domain/events/webhooks', 'timeoutMs'],
    ['the check for breached', 'domain/hashing/password-hashes', 'timeoutMs'],
    ['your `mailer`', 'setup/lifecycle', 'closeLimitMs'],
    ['your `riskScorer`', 'domain/login/login-risk', 'timeoutMs'],
    ['your `riskScorer`', 'domain/sessions/refresh-reading', 'timeoutMs'],
    ['your `authorizer`', 'domain/authorization/access', 'authorizerTimeoutMs'],
    ['validators', 'domain/configuration/config-changes', 'timeoutMs'],
    ['your `keys` function', 'domain/keys/signing-keys', 'answerWithinMs'],
    ['your `keys.sign`', 'domain/keys/signing-keys', 'timeoutMs'],
  ])('%s: the page and %s agree on %s', (start, path, name) => {
    expect(rowOf(start)[3]).toContain(seconds(declared(path, name)))
  })

  it('the page names everything that the host gives and that is called', () => {
    const page = rows.map(([, to = '']) => to).join(' ')
    for (const given of ['mailer', 'riskScorer', 'sessionRiskScorer', 'authorizer', 'keys']) {
      expect(page).toContain(`\`${given}`)
    }
    // Whatever asks the outside does it through the one port.
    const callers = [
      'identity-providers/outbound',
      'domain/events/webhooks',
      'domain/hashing/password-hashes',
    ]
    for (const path of callers) expect(textOf(`src/${path}.ts`)).toMatch(/fetcher\.fetch\(/)
  })
})

describe('other limits', () => {
  it.each([
    ['passkeys of a user', 'model/factors', 'maxPasskeys'],
    ['trusted devices of a user', 'domain/factors/trusted-devices', 'mostPerUser'],
    [
      'active credentials of a service account',
      'domain/service-accounts/service-credentials',
      'mostActive',
    ],
    ['bytes of a password, in UTF-8', 'engine/passwords', 'maxPasswordBytes'],
    ["bytes of a user's memberships, as JSON", 'engine/accounts', 'maxMembershipBytes'],
    ['permissions of a role', 'engine/accounts', 'maxPermissions'],
    [
      'characters of a slug or the name of a module',
      'engine/configuration/config-keys',
      'maxLength',
    ],
    [
      'characters of a slug or the name of a module',
      'engine/configuration/module-declaration',
      'maxName',
    ],
    ["bytes of a request's body", 'http/request-input', 'maxBodyBytes'],
    ['milliseconds without a byte of it', 'http/incoming-request', 'longestSilence'],
    ['milliseconds until it is there', 'http/incoming-request', 'longestArrival'],
    ['characters of a token that is shown', 'crypto/token-format', 'maxTokenLength'],
    ['users of one import', 'domain/accounts/user-import', 'mostRows'],
    ['entries of a page, in code', 'domain/context/actor', 'largestLimit'],
    ['UTF-16 code units of an id', 'engine/text', 'longestId'],
    ['UTF-16 code units of an id', 'checks/check-value', 'longestKey'],
    [
      "refresh tokens of one name in a request's cookies",
      'domain/sessions/refresh-reading',
      'mostTokens',
    ],
    ['first attempts of a webhook under way in a process', 'domain/events/webhooks', 'atOnce'],
  ])('%s: the page and %s agree on %s', (of, path, name) => {
    const row = rowsOf('limits', 'Other limits').find(([, what]) => what === of)
    expect(row?.[2]).toBe(declared(path, name).toLocaleString('en'))
  })
})
