// The cost of judging an access token, against the bare RSA check and against jose, in one run.
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { jwtVerify } from 'jose'
import { Bench } from 'tinybench'
import { it } from 'vitest'
import { loadKeyRing } from '../src/crypto/key-ring.js'
import { signAccess } from '../src/crypto/sign-token.js'
import { tokenMemo } from '../src/crypto/token-memo.js'
import { verifyToken } from '../src/crypto/verify-token.js'
import { report } from './report.js'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicKey = createPublicKey(privateKey)
const ring = await loadKeyRing({
  current: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
})

const now = Date.now()
const second = Math.floor(now / 1000)
const issuer = 'https://auth.example.com'
const tokens = await Promise.all(
  Array.from({ length: 500 }, (_, index) =>
    signAccess(
      {
        iss: issuer,
        aud: 'client',
        sub: `user-${index}`,
        jti: `token-${index}`,
        iat: second,
        exp: second + 900,
        tokenUse: 'access',
        sid: `session-${index}`,
        memberships: [],
        amr: ['pwd'],
        authTime: second,
      },
      ring,
    ),
  ),
)

let turn = 0
const next = (): string => {
  turn = (turn + 1) % tokens.length
  return tokens[turn] ?? ''
}
const expected = {
  ring,
  issuer,
  use: 'access',
  accepts: ['client'],
  now,
  leewaySeconds: 0,
} as const
const memo = tokenMemo(32)

it('judging an access token (RSA-2048, another token each time)', async () => {
  const bench = new Bench({ time: 1500 })
  bench.add('the bare RSA check', () => {
    const token = next()
    const dot = token.lastIndexOf('.')
    const signature = Buffer.from(token.slice(dot + 1), 'base64url')
    const signed = Buffer.from(token.slice(0, dot))
    if (!verify('RSA-SHA256', signed, publicKey, signature)) throw new Error('not verified')
  })
  bench.add('ours, never seen before', () => {
    if (!verifyToken(next(), expected).ok) throw new Error('not verified')
  })
  bench.add('ours, remembered', () => {
    const token = next()
    const digest = memo.digestOf(token)
    if (memo.find(digest, expected) !== null) return
    const verified = verifyToken(token, expected)
    if (verified.ok) memo.store(digest, { token, ring, claims: verified.claims })
  })
  bench.add('jose', async () => {
    await jwtVerify(next(), publicKey, {
      issuer,
      audience: 'client',
      algorithms: ['RS256'],
      typ: 'at+jwt',
    })
  })
  await bench.run()
  report(bench)
}, 60_000)
