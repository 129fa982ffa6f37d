// Checks of access tokens inside one process. Run by bench/suites/verify.ts.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { contender } from './contender.mjs'
import { accessClaims, audience, header, issuer, partsOf, signerOf } from './shared/keys.mjs'
import { authOn, backendOf, signIn } from './shared/postern.mjs'

/** How often a signature was checked, which tells what the library remembers. */
let signatureChecks = 0

/**
 * Counts before the library is loaded, and once for both ways to import it. Only the contender that
 * asks for the count pays for it.
 */
function countSignatureChecks() {
  const { verify } = crypto
  crypto.verify = (...args) => {
    signatureChecks += 1
    return verify(...args)
  }
  syncBuiltinESMExports()
}

let check
let tokens
let at = 0

/**
 * @param {{ check: string, key: object, tokens: number, tokenMemory?: number, counted?: boolean }} given
 */
async function start(given) {
  if (given.counted) countSignatureChecks()
  const made = await (checks[given.check] ?? checks.postern)(given)
  check = made.check
  tokens = made.tokens
  return { tokens: tokens.length }
}

const checks = { postern, raw, jsonwebtoken, jose }

/** `authenticate` with the denylist in the process; every option but `tokenMemory` is the default. */
async function postern({ key, tokens: count, tokenMemory }) {
  const auth = await authOn(
    { backend: await backendOf({ store: 'memory' }), key },
    {
      settings: { accessTokenTTL: '24h' },
      ...(tokenMemory === undefined ? {} : { tokenMemory }),
    },
  )
  const { accessToken } = await signIn(auth, 'person@example.test')
  const { head, claims } = partsOf(accessToken)
  const others = await signedTokens(key, count, head, () => ({
    ...claims,
    sub: crypto.randomUUID(),
    sid: crypto.randomUUID(),
    jti: crypto.randomUUID(),
  }))
  return {
    tokens: others.map((token) => `Bearer ${token}`),
    check: (authorization) => auth.client.authenticate(authorization),
  }
}

/** The bare signature check on this thread: no header, no claims. Its input is cut out beforehand. */
async function raw({ key, tokens: count }) {
  const { publicKey } = signerOf(key)
  const parts = (await signedTokens(key, count, header, accessClaims)).map((token) => {
    const dot = token.lastIndexOf('.')
    return {
      signed: Buffer.from(token.slice(0, dot)),
      signature: Buffer.from(token.slice(dot + 1), 'base64url'),
    }
  })
  return {
    tokens: parts,
    check({ signed, signature }) {
      if (!crypto.verify('RSA-SHA256', signed, publicKey, signature)) throw new Error('refused')
    },
  }
}

/** With a `KeyObject`: reading the PEM text at each check would cost it several times as much. */
async function jsonwebtoken({ key, tokens: count }) {
  const { default: library } = await import('jsonwebtoken')
  const { publicKey } = signerOf(key)
  const options = { issuer, audience, algorithms: ['RS256'] }
  return {
    tokens: await signedTokens(key, count, header, accessClaims),
    check: (token) => library.verify(token, publicKey, options),
  }
}

async function jose({ key, tokens: count }) {
  const { importSPKI, jwtVerify } = await import('jose')
  const publicKey = await importSPKI(key.publicPem, 'RS256')
  const options = { issuer, audience, algorithms: ['RS256'], typ: 'at+jwt' }
  return {
    tokens: await signedTokens(key, count, header, accessClaims),
    check: (token) => jwtVerify(token, publicKey, options),
  }
}

/** Signed in the thread pool, as many at a time as it has threads. */
async function signedTokens(key, count, head, claimsOf) {
  const { signedAside } = signerOf(key)
  const made = []
  const lane = async () => {
    while (made.length < count) {
      const place = made.push('') - 1
      made[place] = await signedAside(head, claimsOf())
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  return made
}

/** Checks the next tokens in turn, one at a time; CPU time for one in microseconds. */
async function slice({ requests }) {
  const from = process.cpuUsage()
  for (let request = 0; request < requests; request += 1) {
    at = (at + 1) % tokens.length
    const answer = check(tokens[at])
    // To wait for an answer that is there already would cost the synchronous ones a turn.
    if (typeof answer?.then === 'function') await answer
  }
  const { user, system } = process.cpuUsage(from)
  return (user + system) / requests
}

/** Checks every token once, and then tokens drawn at random: the share without a signature check. */
async function hitRate({ requests }) {
  for (const token of tokens) await check(token)
  signatureChecks = 0
  for (let request = 0; request < requests; request += 1) {
    await check(tokens[crypto.randomInt(tokens.length)])
  }
  return 1 - signatureChecks / requests
}

contender({ start, slice, hitRate })
