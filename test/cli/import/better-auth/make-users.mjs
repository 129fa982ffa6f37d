// Users of better-auth, made by its own code in a database of its own, as JSON: node make-users.mjs <url> <secret>
import { createHmac } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { admin, twoFactor, username } from 'better-auth/plugins'
import pg from 'pg'

const [url = '', secret = ''] = process.argv.slice(2)
const database = url.startsWith('sqlite:')
  ? new DatabaseSync(url.slice('sqlite:'.length))
  : new pg.Pool({ connectionString: url })
const options = {
  database,
  secret,
  baseURL: 'http://localhost:3000',
  emailAndPassword: { enabled: true },
  plugins: [twoFactor(), admin(), username()],
  telemetry: { enabled: false },
  logger: { disabled: true },
}
const { runMigrations } = await getMigrations(options)
await runMigrations()
const auth = betterAuth(options)
const { internalAdapter } = await auth.$context

const password = 'correct horse battery staple'
const made = {}

async function user(name, { verified = true, typed = password, ...more } = {}) {
  const body = { name, email: `${name}@example.org`, password: typed, ...more }
  const { headers, response } = await auth.api.signUpEmail({ body, returnHeaders: true })
  const { id } = response.user
  if (verified) await internalAdapter.updateUser(id, { emailVerified: true })
  made[name] = { id, password: typed }
  return {
    id,
    cookie: headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; '),
  }
}

/** An account at a provider, as a sign-in through it leaves it. */
const link = (userId, providerId, accountId, more = {}) =>
  internalAdapter.createAccount({ userId, providerId, accountId, ...more })

/** The code of an authenticator app (RFC 6238), for a secret in base32. */
function codeOf(base32) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...base32].map((one) => letters.indexOf(one).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const digest = createHmac('sha1', key).update(counter).digest()
  const at = digest[19] & 15
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

async function withApp(name, isConfirmed) {
  const { cookie } = await user(name)
  const headers = new Headers({ cookie })
  const { totpURI } = await auth.api.enableTwoFactor({ body: { password }, headers })
  const totpSecret = new URL(totpURI).searchParams.get('secret')
  if (isConfirmed) await auth.api.verifyTOTP({ body: { code: codeOf(totpSecret) }, headers })
  made[name].totpSecret = totpSecret
}

const ada = await user('ada')
await link(ada.id, 'google', '1815')
await link(ada.id, 'github', '1843')
const grace = await user('grace', { verified: false, username: 'amazing' })
await link(grace.id, 'github', 'hopper-1906')
await user('kelvin', { typed: 'ﬁne ⁴ batteries staple' })
await withApp('totp', true)
await withApp('pending', false)
const mailed = await user('mailed')
await internalAdapter.updateUser(mailed.id, { twoFactorEnabled: true })

const day = 24 * 60 * 60_000
for (const [name, banExpires] of [
  ['banned', null],
  ['paused', Date.now() + day],
  ['served', Date.now() - day],
]) {
  const { id } = await user(name)
  await internalAdapter.updateUser(id, {
    banned: true,
    banReason: 'spam',
    banExpires: banExpires === null ? null : new Date(banExpires),
  })
}
const editor = await user('editor')
await internalAdapter.updateUser(editor.id, { role: 'user,editor' })

const linked = await internalAdapter.createUser({
  name: 'Linked',
  email: 'linked@example.org',
  emailVerified: true,
})
made.linked = { id: linked.id }
await link(linked.id, 'discord', '7')
const tenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const claims = {
  iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
  tid: tenant,
  oid: 'the-oid',
  sub: 'the-sub',
}
const idToken = ['{}', JSON.stringify(claims), '']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.')
await link(linked.id, 'microsoft', 'the-oid', { idToken })

process.stdout.write(JSON.stringify(made))
process.exit(0)
