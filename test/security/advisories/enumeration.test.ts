import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/crypto/secrets.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { Surface } from '../../../src/ports/surface.js'
import { wholeLife } from '../../contract/storage/whole-life.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { finish, ticketOf } from '../../support/people/authenticator.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { deviceLogin, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { parseSource, walk } from '../../support/rules/parsed-source.js'
import { secretsOf } from '../../support/stores/secrets.js'

const root = new URL('../../../', import.meta.url)

/** Names of what a caller has to know, or of what it is compared by. */
const secretName =
  /(secret|token|hash|digest|signature|nonce|verifier|challenge|passw(or)?d|code|mac|tag|otp)$/i

/**
 * Comparisons that no caller can learn from: of what a guarded write has just stored with what was to be
 * stored, of public codes and settings, and of a nonce in a token whose signature was checked before.
 */
const harmless: Readonly<Record<string, string>> = {
  'crypto/phc.ts: encode(bytes) === text': 'one text with another form of itself',
  "crypto/webauthn.ts: said('challenge') !== challenge": 'names a refusal that was made',
  'domain/accounts/registration-confirmation.ts: found?.passwordHash === user.passwordHash':
    'what was just written',
  'domain/events/webhooks.ts: sha256(url) === seen.addressHash':
    'of an address, which is no secret',
  'domain/factors/totp-factors.ts: factor.sealedSecret === seen': 'what this process read before',
  'domain/oauth/oauth-sign-in.ts: failure === code': 'the code of an error',
  'domain/intents/oauth-flows.ts: code?.boundTo !== codeChallenge':
    'the digest of a verifier, which was sent in an address',
  'domain/passkeys/passkeys.ts: seen.lastChallenge === use.challenge': 'spent before',
  'domain/passkeys/passkeys.ts: found.lastChallenge === lastChallenge': 'what was just written',
  'domain/passwords/password-writer.ts: found.passwordHash === passwordHash':
    'what was just written',
  'domain/passwords/password-writer.ts: found?.hashes[0] === passwordHash': 'what was just written',
  'domain/passwords/password-writer.ts: found?.passwordHash === passwordHash':
    'what was just written',
  'engine/login-risk-rules.ts: one.recognitionHash === recognitionHash': 'grants nothing',
  'identity-providers/provider-sign-in.ts: a.clientSecret === b.clientSecret':
    'two settings of the host',
  "identity-providers/provider-sign-in.ts: payload['nonce'] !== nonce": 'signed by the provider',
}

const rightmost = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isPropertyAccessExpression(node)) return node.name.text
  if (ts.isElementAccessExpression(node)) {
    const { argumentExpression: at, expression } = node
    return ts.isStringLiteralLike(at) ? at.text : rightmost(expression)
  }
  return ts.isCallExpression(node) ? rightmost(node.expression) : ''
}

/** A literal, null, undefined, or a name that begins with a capital: a constant. */
const isConstant = (node: ts.Expression): boolean =>
  ts.isLiteralExpression(node) ||
  ts.isTypeOfExpression(node) ||
  /^(null|undefined|true|false|-?\d+|[A-Z]\w*)$/.test(node.getText())

const equals: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
]

/** Comparisons of two texts of which one is named like a secret: they stop at the first difference. */
function secretComparisons(path: string, source: string): readonly string[] {
  const { tree } = parseSource(path, source)
  const found: string[] = []
  walk(tree, (node) => {
    if (!ts.isBinaryExpression(node) || !equals.includes(node.operatorToken.kind)) return
    const sides = [node.left, node.right]
    if (sides.some(isConstant)) return
    if (!sides.some((side) => secretName.test(rightmost(side)))) return
    found.push(`${path}: ${node.getText().replaceAll(/\s+/g, ' ')}`)
  })
  return found
}

describe('secrets are compared in a time that tells nothing', () => {
  it('no source compares one with === but where no caller can learn from it', () => {
    const files = globSync('src/**/*.ts', { cwd: root, exclude: ['src/client/**', 'src/react/**'] })
    expect(files.length).toBeGreaterThan(300)
    const found = files.flatMap((path) => {
      const name = path.replaceAll('\\', '/').slice('src/'.length)
      return secretComparisons(name, readFileSync(new URL(path, root), 'utf8'))
    })
    expect([...new Set(found)].sort()).toEqual(Object.keys(harmless).sort())
  })

  it.each([
    'if (ticket.secretHash === sha256(secret)) grant()',
    'if (shown !== device.token) refuse()',
    "const isOwn = cookies['csrfToken'] == header",
    'return digest === made',
  ])('finds %s', (source) => {
    expect(secretComparisons('planted.ts', source)).toHaveLength(1)
  })

  it.each([
    "if (token === '') return",
    'if (code !== undefined) return',
    'if (typeof secret === "string") return',
    'return one.id === other.id',
  ])('has nothing to say of %s', (source) => {
    expect(secretComparisons('planted.ts', source)).toEqual([])
  })
})

/** Notes everything that the store is asked for by: ids, indexed values, guards and the keys of counters. */
function askedBy(asked: unknown[]): (backend: Backend) => Backend {
  return (backend) => ({
    ...backend,
    counter: {
      ...backend.counter,
      hit(...hit) {
        asked.push(hit[0])
        return backend.counter.hit(...hit)
      },
    },
    store: {
      ...backend.store,
      collection(spec) {
        const inner = backend.store.collection(spec)
        return {
          ...inner,
          get(id) {
            asked.push(id)
            return inner.get(id)
          },
          find(equal, page) {
            asked.push(equal)
            return inner.find(equal, page)
          },
          update(id, guard, set) {
            asked.push([id, guard])
            return inner.update(id, guard, set)
          },
          take(id, guard) {
            asked.push([id, guard])
            return inner.take(id, guard)
          },
        }
      },
    },
  })
}

eachSurface.describe('what is looked up', (surface) => {
  it('is looked up by the hash of a secret, never by the secret', async () => {
    const asked: unknown[] = []
    const settings = { ...withoutLimits.settings, ...trusting.settings }
    const host = await openHost({ ...withoutLimits, settings, wrapBackend: askedBy(asked) })
    const secrets = secretsOf()
    await wholeLife(host, surface, secrets)
    const who = await trustingPerson(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const [backupCode = ''] = who.backupCodes
    const half = who.deviceToken.split('.')[1] ?? ''
    secrets.keep(who.deviceToken, half, mfaToken, backupCode, who.refreshToken)
    await deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect((await finish(host, surface, mfaToken, backupCode, 'backupCode')).status).toBe(200)
    await host.auth.close()
    expect(secrets.values.length).toBeGreaterThan(30)
    const all = JSON.stringify(asked)
    expect(all).toContain(sha256(mfaToken))
    expect(secrets.foundIn(all)).toEqual([])
  })
})

const typed = 'Ada.Lovelace@Example.Org'

/** The doors that anybody may name an address to, and what else they take. */
const doors: Readonly<Record<string, object>> = {
  '/register': { password: goodPassword },
  '/login': { password: otherPassword },
  '/mobile/login': { password: otherPassword },
  '/password/forgot': {},
  '/email/verify/resend': {},
}

const shown = (reply: Reply): string =>
  [...[...reply.headers].flat(), ...reply.setCookies, reply.text].join('\n')

eachSurface.describe('an address that is asked about', (surface) => {
  it('is repeated by no reply in the spelling that is stored, nor in any, known or not', async () => {
    const host = await openHost(withoutLimits)
    const account = { email: typed, password: goodPassword, name: 'Ada', emailVerified: true }
    await host.auth[surface].users.create(account)
    const spellings = [typed, typed.toLowerCase(), typed.toUpperCase(), ` ${typed} `]
    const unknown = spellings.map((one) => one.replace(/ada/i, 'Eve'))
    for (const [path, more] of Object.entries(doors)) {
      const replies = []
      for (const email of [...spellings, ...unknown]) {
        replies.push(await host.send('POST', at(surface, path), { body: { ...more, email } }))
      }
      for (const reply of replies) expect(shown(reply)).not.toMatch(/lovelace/i)
      const bodies = replies.map(({ status, text }) => `${status} ${text}`)
      expect([path, [...new Set(bodies)].length]).toEqual([path, 1])
    }
  })
})

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`
