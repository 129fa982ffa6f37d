// What an operator does over HTTP: signs in, shows a second factor, makes a service account.
import { createHmac, randomUUID } from 'node:crypto'
import { askerOf, operatorUrl, password } from './postern.mjs'

/** The code of an authenticator (RFC 6238: SHA-1, six digits, thirty seconds). */
function totp(secret, now = Date.now()) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret.replace(/=+$/, '')]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)))
  const hash = createHmac('sha1', key).update(counter).digest()
  const number = hash.readUInt32BE(hash[19] & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** An administrator who is signed in: how it asks, with and without its token. */
export async function operatorOf(auth) {
  const email = `root-${randomUUID()}@example.test`
  const roles = { emailVerified: true, systemRole: 'super_admin' }
  await auth.operator.users.create({ email, password, ...roles })
  const ask = askerOf(auth.operator, operatorUrl)
  const { accessToken } = await ask('POST', '/v1/auth/operator/login', {
    body: { email, password },
  })
  return {
    accessToken,
    ask: (method, path, body) => ask(method, path, { body, token: accessToken }),
  }
}

/** A service account, by an administrator with a second factor: `{ clientId, clientSecret, … }`. */
export async function serviceAccountOf(auth) {
  const { ask } = await operatorOf(auth)
  const own = '/v1/auth/operator'
  const { secret } = await ask('POST', `${own}/mfa/totp`, { currentPassword: password })
  const { backupCodes } = await ask('POST', `${own}/mfa/totp/confirm`, { code: totp(secret) })
  await ask('POST', `${own}/step-up`, { method: 'backupCode', code: backupCodes[0] })
  return ask('POST', '/v1/admin/service-accounts', { name: 'bench' })
}
