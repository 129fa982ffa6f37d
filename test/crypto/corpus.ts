import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { headerTypes, type TokenUse } from '../../src/crypto/token-format.js'
import type { Audience } from '../../src/ports/surface.js'
import { accessClaims, issuer, refreshClaims, second } from './claims.js'
import { encode, forge, forgeHmac, forgeSegments, rsaPair, without } from './forge.js'

/** One token at one door, to be judged by jose's verifier and by ours. */
export interface Case {
  readonly name: string
  readonly token: string
  readonly use: TokenUse
  readonly accepts: readonly Audience[]
  readonly leewaySeconds: number
}

const { privateKey: pem } = rsaPair()
const other = rsaPair()
/** The ring that every token of the corpus is judged by. */
export const ring = await loadKeyRing({ current: pem, previous: [other.publicKey] })
const claimsOf = { access: accessClaims(), refresh: refreshClaims() }
const uses = ['access', 'refresh'] as const
const audiences = ['operator', 'client', 'service'] as const
const audiencesOf = { access: audiences, refresh: ['operator', 'client'] } as const

function entry(name: string, token: string, changes: Partial<Case> = {}): Case {
  return { name, token, use: 'access', accepts: ['operator'], leewaySeconds: 0, ...changes }
}

function headerOf(use: TokenUse): { alg: string; kid: string; typ: string } {
  return { alg: 'RS256', kid: ring.kid, typ: headerTypes[use] }
}

/** A well-signed token of changed claims. */
function claiming(changes: object, use: TokenUse = 'access'): string {
  return forge(headerOf(use), { ...claimsOf[use], ...changes }, pem)
}

/** A token under a changed header, RS256 all the same. */
function headed(changes: object): string {
  return forge({ ...headerOf('access'), ...changes }, claimsOf.access, pem)
}

const doors: Case[] = uses.flatMap((use) =>
  uses.flatMap((minted) =>
    audiencesOf[minted].flatMap((aud) =>
      audiences.map((door) =>
        entry(`${minted} of ${aud} as ${use} at ${door}`, claiming({ aud }, minted), {
          use,
          accepts: [door],
        }),
      ),
    ),
  ),
)

const leeways = [0, 30, 60]
const offsets = [-61, -60, -59, -31, -30, -29, -1, 0, 1, 29, 30, 31, 59, 60, 61, 3600]
const times: Case[] = leeways.flatMap((leewaySeconds) =>
  offsets.flatMap((offset) => [
    entry(`exp ${offset}`, claiming({ iat: second - 100, exp: second + offset }), {
      leewaySeconds,
    }),
    entry(`nbf ${offset}`, claiming({ nbf: second + offset }), { leewaySeconds }),
  ]),
)

const missing: Case[] = uses.flatMap((use) =>
  ['iss', 'aud', 'sub', 'jti', 'iat', 'exp'].map((claim) =>
    entry(`${use} without ${claim}`, forge(headerOf(use), without(claimsOf[use], claim), pem), {
      use,
    }),
  ),
)

const issuers: Case[] = [
  '',
  'https://other.example.test',
  `${issuer}/`,
  issuer.toUpperCase(),
  1,
  null,
  [issuer],
].map((iss) => entry(`iss ${JSON.stringify(iss)}`, claiming({ iss })))

const wrongTypes: Case[] = ['iat', 'exp', 'nbf'].flatMap((claim) =>
  [null, `${second}`, true, [second], {}].map((value) =>
    entry(`${claim} ${JSON.stringify(value)}`, claiming({ [claim]: value })),
  ),
)

const audienceForms: Case[] = [
  ...[
    ['operator'],
    [],
    ['client'],
    ['elsewhere'],
    [1],
    {},
    1,
    null,
    true,
    '',
    'Operator',
    'operator ',
  ],
].map((aud) => entry(`aud ${JSON.stringify(aud)}`, claiming({ aud })))

const headers: Case[] = [
  ...['none', 'HS256', 'RS384', 'RS512', 'PS256', 'ES256', 'rs256', '', null, 1].map((alg) => ({
    alg,
  })),
  ...['JWT', '', 'rt+jwt', 'at', null, 1, ['at+jwt']].map((typ) => ({ typ })),
  ...['', 'other', '__proto__', null, 1, ring.kid.slice(1)].map((kid) => ({ kid })),
  ...[['exp'], [], null, 'exp', ['b64'], ['unknown']].map((crit) => ({ crit })),
].map((changes) => entry(`header ${JSON.stringify(changes)}`, headed(changes)))

const genuine = claiming({})
const [first = '', middle = '', last = ''] = genuine.split('.')

const keys: Case[] = [
  entry(
    'signed by a previous key',
    forge({ ...headerOf('access'), kid: kidOf(1) }, claimsOf.access, other.privateKey),
  ),
  entry(
    'signed by a previous key under the current kid',
    forge(headerOf('access'), claimsOf.access, other.privateKey),
  ),
  entry('signed by the current key under a previous kid', headed({ kid: kidOf(1) })),
  entry('signed by a stranger', forge(headerOf('access'), claimsOf.access, rsaPair().privateKey)),
  entry(
    'HS256 by public key',
    forgeHmac({ ...headerOf('access'), alg: 'HS256' }, claimsOf.access, other.publicKey),
  ),
  entry('without kid', forge(without(headerOf('access'), 'kid'), claimsOf.access, pem)),
  entry('without typ', forge(without(headerOf('access'), 'typ'), claimsOf.access, pem)),
  entry('without alg', forge(without(headerOf('access'), 'alg'), claimsOf.access, pem)),
]

const spoilt: Case[] = Array.from({ length: 90 }, (_, index) => {
  const at = Math.floor(((index + 0.5) * genuine.length) / 90)
  const to = genuine[at] === 'A' ? 'B' : 'A'
  return entry(`spoilt at ${at}`, `${genuine.slice(0, at)}${to}${genuine.slice(at + 1)}`)
})

const shapes: Case[] = [
  '',
  '.',
  '..',
  '...',
  first,
  `${first}.${middle}`,
  `${first}.${middle}.`,
  `${first}..${last}`,
  `.${middle}.${last}`,
  `${genuine}.`,
  `${genuine}.${last}`,
  `${genuine}.${last}.${last}`,
  `${genuine}AAAA`,
  genuine.slice(0, -4),
  `!${genuine}`,
  `${first}.${middle}.!${last}`,
  `${encode('null')}.${middle}.${last}`,
  `${encode('[]')}.${middle}.${last}`,
  ...['null', '[]', '1', '"x"', '{', ''].map((text) => forge(headerOf('access'), text, pem)),
].map((token) => entry(`shape ${token.slice(0, 30)}`, token))

const notUtf8 = Buffer.from(JSON.stringify({ ...claimsOf.access, sub: 'Zo\u00eb' }), 'latin1')

const extra: Case[] = [
  entry('bytes that are no UTF-8', forgeSegments(first, notUtf8.toString('base64url'), pem)),
  entry('the alphabet of plain base64', genuine.replaceAll('-', '+').replaceAll('_', '/')),
  entry('more claims', claiming({ role: 'x', nested: { deep: [1, 2, 3] } })),
  entry('letters beyond ASCII', claiming({ sub: 'Zoë 漢字 🔑' })),
  entry('no memberships', claiming({ memberships: [], amr: [] })),
  entry('three audiences, all accepted', claiming({ aud: [...audiences] }), { accepts: audiences }),
  entry('no audience accepted', claiming({}), { accepts: [] }),
]

/** Good and bad tokens about which there is one opinion. */
export const agreed: readonly Case[] = [
  ...doors,
  ...times,
  ...missing,
  ...issuers,
  ...wrongTypes,
  ...audienceForms,
  ...headers,
  ...keys,
  ...spoilt,
  ...shapes,
  ...extra,
]

const claimsText = JSON.stringify(claimsOf.access)
const headerText = JSON.stringify(headerOf('access'))

/** Properly signed tokens that jose accepts and we do not, each on purpose. */
export const stricter: readonly Case[] = [
  // Our header has exactly three members: there is nothing to negotiate and nothing to ignore.
  ...['cty', 'jku', 'jwk', 'x5u', 'x5c', 'zip', 'p2c', 'custom'].map((name) =>
    entry(`header member ${name}`, headed({ [name]: 'x' })),
  ),
  entry('header members crit and b64', headed({ crit: ['b64'], b64: true })),
  // A type has one spelling.
  ...['AT+JWT', 'application/at+jwt'].map((typ) => entry(`typ ${typ}`, headed({ typ }))),
  // jose checks that claims are there, not what they are.
  ...['sub', 'jti'].flatMap((claim) =>
    ['', 1, null, ['x'], 'x'.repeat(256)].map((value) =>
      entry(`${claim} ${JSON.stringify(value).slice(0, 9)}`, claiming({ [claim]: value })),
    ),
  ),
  ...[
    { tokenUse: 'refresh' },
    { sid: '' },
    { amr: 'pwd' },
    { memberships: [1] },
    { authTime: '0' },
  ].map((changes) => entry(JSON.stringify(changes), claiming(changes))),
  entry('generation 0', claiming({ gen: 0 }, 'refresh'), { use: 'refresh' }),
  entry('refresh token of a service', claiming({ aud: 'service' }, 'refresh'), {
    use: 'refresh',
    accepts: ['service'],
  }),
  // One audience too many (T-25).
  entry('two surfaces', claiming({ aud: ['operator', 'client'] })),
  entry('an audience and a number', claiming({ aud: ['operator', 1] })),
  // Whole seconds in an order that makes sense (T-105).
  ...[
    { iat: second - 0.5 },
    { exp: second + 9.5 },
    { nbf: second - 1.5 },
    { iat: -5 },
    { iat: second + 61 },
    { iat: second + 5, exp: second + 4 },
  ].map((changes) => entry(JSON.stringify(changes), claiming(changes))),
  entry('leeway beyond 60 s', claiming({ iat: 0, exp: second - 61 }), { leewaySeconds: 100 }),
  // One text per token.
  entry('spaced header', forge(JSON.stringify(headerOf('access'), null, 1), claimsText, pem)),
  entry('spaced payload', forge(headerText, JSON.stringify(claimsOf.access, null, 1), pem)),
  entry('alg twice', forge(headerText.replace('{', '{"alg":"none",'), claimsText, pem)),
  entry('sub twice', forge(headerText, claimsText.replace('{', '{"sub":"x",'), pem)),
  entry(
    'padded payload',
    forgeSegments(first, `${encode({ ...claimsOf.access, pad: 'xx' })}=`, pem),
  ),
  entry('longer than 8,000 characters', claiming({ padding: 'x'.repeat(8192) })),
  entry('padded signature', `${genuine}==`),
  entry('blank after', `${genuine} `),
  entry('blank inside', `${first}.${middle}.${last.slice(0, 9)} ${last.slice(9)}`),
  entry('spare bits set', `${genuine.slice(0, -1)}${withSpareBit(genuine.slice(-1))}`),
  entry('byte order mark', forge(headerText, `\ufeff${claimsText}`, pem)),
]

/** Sets a bit that the last character of a 256-byte signature has to spare. */
function withSpareBit(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(character) + 1] ?? ''
}

function kidOf(index: number): string {
  return ring.jwks().keys[index]?.kid ?? ''
}
