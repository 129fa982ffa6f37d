import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import { sessionDenylistId } from '../../../src/domain/context/open-collections.js'
import { storeSettings } from '../../contract/oauth/oauth-host.js'
import { mailedToken } from '../../support/hosts/open-host.js'
import { passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { type SwitchName, switches } from '../doors/switches.js'
import { addApp, addPasskey, post, reAuthenticated, type Subject } from './subject.js'

/** Something that happens to an account, or to the settings, while an intent is on its way. */
type Change = (subject: Subject) => Promise<unknown>

async function ok(sent: Promise<{ readonly status: number; readonly text: string }>) {
  const { status, text } = await sent
  assert.ok(status < 300, `${status} ${text}`)
}

const thrown =
  (name: SwitchName): Change =>
  ({ host, surface }) =>
    storeSettings(host, switches[name].set(surface))

async function resetPassword({ host, surface, email }: Subject): Promise<void> {
  const path = `/v1/auth/${surface}/password`
  await ok(host.send('POST', `${path}/forgot`, { body: { email } }))
  const token = await mailedToken(host, 'resetPassword', email)
  const body = { token, newPassword: otherPassword }
  await ok(host.send('POST', `${path}/reset`, { body }))
}

async function moveAddress(subject: Subject): Promise<void> {
  const newEmail = `moved-${subject.email}`
  await ok(post(subject, '/me/email', { newEmail, ...(await reAuthenticated(subject)) }))
  const token = await mailedToken(subject.host, 'changeEmail', newEmail)
  await ok(post(subject, '/email/verify', { token }))
}

async function removeApp(subject: Subject): Promise<void> {
  const { host, surface, bearer } = subject
  await reAuthenticated(subject)
  await ok(host.send('DELETE', `/v1/auth/${surface}/mfa/totp`, { bearer }))
}

async function removePasskey(subject: Subject): Promise<void> {
  const { host, surface, bearer, credentialId } = subject
  await reAuthenticated(subject)
  await ok(passkeysOn(host, surface).remove(bearer, credentialId))
}

/** As an ending leaves it that dies before it writes the row of the session. */
function listSession({ host, surface, bearer }: Subject): Promise<void> {
  const { sid } = decodeJwt(bearer)
  const expiresAt = host.clock.now() + 24 * 60 * 60 * 1000
  const entry = {
    id: sessionDenylistId(surface, String(sid)),
    reason: 'revoked',
    expiresAt,
  } as const
  return host.backend.denylist.put([entry])
}

const users = ({ host, surface }: Subject) => host.auth[surface].users

/** By name, as the rows of the table name them. */
export const changes = {
  nothing: async () => undefined,
  'password changed': (subject) =>
    ok(
      post(subject, '/me/password', { currentPassword: goodPassword, newPassword: otherPassword }),
    ),
  'password reset': resetPassword,
  'address changed': moveAddress,
  'app added': addApp,
  'app removed': removeApp,
  'passkey added': addPasskey,
  'passkey removed': removePasskey,
  'session ended': (subject) => ok(post(subject, '/logout', {})),
  'session on the denylist alone': listSession,
  'all sessions ended': ({ host, surface, id }) => host.auth[surface].terminateSessionsOf(id),
  'factors reset': (subject) => users(subject).resetMfa(subject.id),
  disabled: (subject) => users(subject).update(subject.id, { enabled: false }),
  'disabled and enabled': async (subject) => {
    await users(subject).update(subject.id, { enabled: false })
    await users(subject).update(subject.id, { enabled: true })
  },
  deleted: (subject) => users(subject).delete(subject.id),
  'deleted and registered again': async (subject) => {
    await users(subject).delete(subject.id)
    const { email, password } = subject
    await users(subject).create({ email, password: password || goodPassword, emailVerified: true })
  },
  'role taken': (subject) => users(subject).update(subject.id, { systemRole: 'guest' }),
  'tenant left': (subject) => users(subject).update(subject.id, { memberships: [] }),
  'registration off': thrown('registration off'),
  'passwords off': thrown('passwords off'),
  'google off': thrown('google off'),
  'apps off': thrown('apps off'),
  'passkeys off': thrown('passkeys off'),
  'passkeys second only': thrown('passkeys second only'),
} as const satisfies Readonly<Record<string, Change>>

export type ChangeName = keyof typeof changes
