import { readFileSync } from 'node:fs'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, it } from 'vitest'
import { errorCatalogue } from '../../../src/errors/error-catalogue.js'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import type { AnyCollectionSpec } from '../../../src/ports/store.js'
import type { Surface } from '../../../src/ports/surface.js'
import { type OauthHost, oauthHost } from '../../contract/oauth/oauth-host.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { surfaces } from '../../support/hosts/open-host.js'
import { ticketOf } from '../../support/people/authenticator.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { registerHere } from '../../support/people/registration-steps.js'
import {
  administrator,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { finishTrusting, trusting, trustingPerson } from '../../support/people/trusted-device.js'

/** The name and the attributes of each cookie; not its value, and of a flow not its own name. */
const cookieLines = (replies: readonly Reply[]): readonly string[] =>
  replies
    .flatMap(({ setCookies }) => setCookies)
    .map((cookie) => {
      const [name = '', ...attributes] = cookie.split('; ')
      const shown = name.replace(/=.*/, '').replace(/(_oauth(?:_form)?)_.*/, '$1_…')
      return `cookie ${[shown, ...attributes].join('; ')}`
    })

/** Of Node, of the framework, or of one reply. */
const passing =
  /^(connection|content-length|date|etag|keep-alive|location|set-cookie|x-powered-by|x-request-id)$/

/** The headers of replies, by their status, with what they say. */
const headerLines = (replies: readonly Reply[]): readonly string[] =>
  replies.flatMap(({ status, headers }) =>
    [...headers]
      .filter(([name]) => !passing.test(name))
      .map(([name, value]) => `header ${status} ${name}: ${value}`),
  )

/** The header of a token, and its claims: the text of those that say what it is for, the types of others. */
function tokenLines(what: string, token: string): readonly string[] {
  const { alg, typ, ...header } = decodeProtectedHeader(token)
  const fixed = ['aud', 'tokenUse']
  const claims = Object.entries(decodeJwt(token)).map(([name, value]) => {
    return `token ${what}: ${name} = ${fixed.includes(name) ? value : typeof value}`
  })
  const more = Object.keys(header).map((name) => `token ${what}: header ${name}`)
  return [`token ${what}: ${alg} ${typ}`, ...more, ...claims]
}

const collectionLines = ({ name, fields, indexes, expires }: AnyCollectionSpec) => [
  `stored ${name}: expires ${expires}`,
  ...indexes.map((index) => {
    const kind = 'unique' in index && index.unique === true ? 'unique' : 'index'
    return `stored ${name}: ${kind} ${index.on.join(', ')}`
  }),
  ...Object.entries(fields).map(([field, { kind, nullable, ...more }]) => {
    const rest = 'default' in more ? ` default ${JSON.stringify(more.default)}` : ''
    return `stored ${name}: ${field} ${kind}${nullable === true ? ' or null' : ''}${rest}`
  }),
]

async function repliesOn(host: OauthHost, surface: Surface): Promise<readonly Reply[]> {
  const { email, password } = await person(host, surface)
  const who = await trustingPerson(host, surface)
  const ticket = await ticketOf(host, surface, who)
  return [
    await host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } }),
    await finishTrusting(host, surface, ticket, await who.nextCode()),
    (await registerHere(host, surface, { email: `new-${surface}@example.org` })).reply,
    await host.startWeb(surface, 'google'),
    await host.startWeb(surface, 'apple'),
  ]
}

async function formsNow(): Promise<readonly string[]> {
  const authorizer = { check: async () => true }
  const host = await oauthHost({ ...trusting, authorizer })
  const lines: string[] = []
  for (const surface of surfaces) {
    const replies = await repliesOn(host, surface)
    lines.push(...cookieLines(replies))
    const refused = await host.send('GET', `/v1/auth/${surface}/me`)
    const jwks = await host.send('GET', `/v1/auth/${surface}/jwks`)
    lines.push(...headerLines([...replies, refused, jwks]))
    const { bearer, refreshToken } = await signedInPerson(host, surface)
    lines.push(...tokenLines(`access ${surface}`, bearer))
    lines.push(...tokenLines(`refresh ${surface}`, refreshToken))
  }
  const machine = await serviceAccount(host, await administrator(host))
  lines.push(...tokenLines('service', await tokenOf(host, machine)))
  lines.push(
    ...Object.entries(errorCatalogue).map(([code, { status }]) => `code ${status} ${code}`),
  )
  lines.push(...allCollectionSpecs('').flatMap(collectionLines))
  return [...new Set(lines)].sort()
}

it('cookies, tokens, codes and stored documents keep the names and forms that were written down', async () => {
  const written = readFileSync(new URL('stable-forms.txt', import.meta.url), 'utf8')
  const before = written.split('\n').filter(Boolean)
  expect(before.length).toBeGreaterThan(600)
  const now = new Set(await formsNow())
  // What goes or changes wants a migration, and an entry of CHANGELOG.md that says what hosts have to do.
  expect(before.filter((line) => !now.has(line))).toEqual([])
})

it('what is new is written down: npx vitest run test/security/advisories/stable-forms.test.ts -u', async () => {
  const text = `${(await formsNow()).join('\n')}\n`
  await expect(text).toMatchFileSnapshot('./stable-forms.txt')
})
