import { expect, it } from 'vitest'
import type { LegacyVerifier } from '../../../src/ports/password-hasher.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  signedInPerson,
} from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'

/** What the owner does while a thief's request waits for the check of the password. */
const meanwhile: Readonly<Record<string, (host: ContractHost, who: Person) => Promise<unknown>>> = {
  'a reset of the password': async (host, { email }) =>
    reset(host, 'client', await linkFor(host, 'client', email), otherPassword),
  'the end of all sessions': (host, { id }) => host.auth.client.terminateSessionsOf(id),
  'the end of its session': async (host, { id }) => {
    const [session] = await host.auth.client.listSessions(id)
    return host.auth.client.terminateSession(session?.id ?? '')
  },
}

/** Takes every password, the first one after this was done. */
function verifier(during: () => Promise<unknown>): LegacyVerifier {
  let isFirst = true
  return {
    recognises: (hash) => hash === 'slow',
    async verify() {
      const asked = isFirst
      isFirst = false
      if (asked) await during()
      return asked
    },
  }
}

it.each(Object.keys(meanwhile))(
  'no account is deleted that %s gave back while its password was checked',
  async (name) => {
    const host = await openHost({ legacyVerifiers: [verifier(() => during())] })
    const who = await signedInPerson(host, 'client')
    await storedIn(host, 'client').users.update(who.id, { enabled: true }, { passwordHash: 'slow' })
    const during = async () => meanwhile[name]?.(host, who)
    const { bearer } = who
    const body = { currentPassword: goodPassword }
    const deletion = await host.send('DELETE', '/v1/auth/client/me', { bearer, body })
    expect(outcomeOf(deletion)).toBe('401 session_revoked')
    expect(await host.auth.client.users.get(who.id)).not.toBeNull()
  },
)

it.each(['credentialEpoch', 'deviceEpoch'] as const)(
  'no account is deleted whose %s moved while its password was checked, in a session that goes on',
  async (epoch) => {
    const host = await openHost({ legacyVerifiers: [verifier(() => during())] })
    const who = await signedInPerson(host, 'client')
    const { users } = storedIn(host, 'client')
    await users.update(who.id, { enabled: true }, { passwordHash: 'slow' })
    // Another password or a new factor: neither has to end the other sessions.
    const during = () => users.update(who.id, { [epoch]: 0 }, { [epoch]: 1 })
    const { bearer } = who
    const body = { currentPassword: goodPassword }
    const deletion = await host.send('DELETE', '/v1/auth/client/me', { bearer, body })
    expect(outcomeOf(deletion)).toBe('401 invalid_credentials')
    expect(await host.auth.client.users.get(who.id)).not.toBeNull()
    expect((await host.send('GET', '/v1/auth/client/me', { bearer })).status).toBe(200)
  },
)

it.each([true, false])(
  'no password is changed in a session that ended while the present one was checked, where others end: %s',
  async (revokeSessionsOnPasswordChange) => {
    const host = await openHost({
      legacyVerifiers: [verifier(() => during())],
      settings: { revokeSessionsOnPasswordChange },
    })
    const who = await signedInPerson(host, 'client')
    const { users } = storedIn(host, 'client')
    await users.update(who.id, { enabled: true }, { passwordHash: 'slow' })
    const during = () => host.auth.client.terminateSessionsOf(who.id)
    const { bearer } = who
    const body = { currentPassword: goodPassword, newPassword: otherPassword }
    const change = await host.send('POST', '/v1/auth/client/me/password', { bearer, body })
    expect((await users.get(who.id))?.passwordHash).toBe('slow')
    expect(outcomeOf(change)).toBe('401 session_revoked')
  },
)
