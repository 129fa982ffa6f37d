import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { sessionDenylistId } from '../../../src/domain/context/open-collections.js'
import type { LegacyVerifier } from '../../../src/ports/host.js'
import type { Surface } from '../../../src/ports/surface.js'
import { sweepOnce } from '../../contract/accounts/deletions.js'
import { oauthHost } from '../../contract/oauth/oauth-host.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  signedInPerson,
} from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

/** What the owner does while a thief's request waits for the check of the password. */
const meanwhile: Readonly<
  Record<string, (host: ContractHost, who: Person, surface?: Surface) => Promise<unknown>>
> = {
  'a reset of the password': async (host, { email }, surface = 'client') =>
    reset(host, surface, await linkFor(host, surface, email), otherPassword),
  'the end of all sessions': (host, { id }, surface = 'client') =>
    host.auth[surface].terminateSessionsOf(id),
  'the end of its session': async (host, { id }, surface = 'client') => {
    const [session] = await host.auth[surface].sessions.list(id)
    return host.auth[surface].terminateSession(session?.id ?? '')
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

/** As an ending leaves it that dies before it writes the row of the session. */
async function listSession(host: ContractHost, { id }: Person): Promise<void> {
  const [session] = await host.auth.client.sessions.list(id)
  const expiresAt = host.clock.now() + 24 * 60 * 60 * 1000
  const entry = { id: sessionDenylistId('client', session?.id ?? ''), expiresAt }
  await host.backend.denylist.put([{ ...entry, reason: 'revoked' }])
}

const endings = {
  'the end of all sessions': ({ auth }: ContractHost, { id }: Person) =>
    auth.client.terminateSessionsOf(id),
  'an end of its session that was cut off': listSession,
} as const

it.each([
  ['the end of all sessions', true],
  ['the end of all sessions', false],
  ['an end of its session that was cut off', true],
  ['an end of its session that was cut off', false],
] as const)(
  'no password is changed after %s while the present one was checked, where others end: %s',
  async (ending, revokeSessionsOnPasswordChange) => {
    const host = await openHost({
      legacyVerifiers: [verifier(() => during())],
      settings: { revokeSessionsOnPasswordChange },
    })
    const who = await signedInPerson(host, 'client')
    const { users } = storedIn(host, 'client')
    await users.update(who.id, { enabled: true }, { passwordHash: 'slow' })
    const during = () => endings[ending](host, who)
    const { bearer } = who
    const body = { currentPassword: goodPassword, newPassword: otherPassword }
    const change = await host.send('POST', '/v1/auth/client/me/password', { bearer, body })
    expect((await users.get(who.id))?.passwordHash).toBe('slow')
    expect(outcomeOf(change)).toBe('401 session_revoked')
  },
)

describe('a deletion by its owner that waits between its check and its write', () => {
  const note = 'client_account_deletions.insert'

  async function opened() {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await signedInPerson(host, 'client')
    const { bearer, id } = who
    const body = { currentPassword: goodPassword }
    const { accountDeletions } = storedIn(host, 'client')
    return {
      ...{ store, host, who },
      deletion: async () =>
        outcomeOf(await host.send('DELETE', '/v1/auth/client/me', { bearer, body })),
      isThere: async () => (await host.auth.client.users.get(id)) !== null,
      async swept() {
        await host.clock.advance(60_000)
        await sweepOnce(host, 'client')
        return (await accountDeletions.get(id))?.deletedAt
      },
    }
  }

  it.each(Object.keys(meanwhile))('is refused by %s, and by the sweep', async (name) => {
    const { store, host, who, deletion, isThere, swept } = await opened()
    store.onCall(note, async () => void (await meanwhile[name]?.(host, who)))
    expect(await deletion()).toBe('401 session_revoked')
    expect([await isThere(), await swept(), await isThere()]).toEqual([true, undefined, true])
  })

  it.each(['credentialEpoch', 'deviceEpoch'] as const)(
    'is refused where another %s is there, in a session that goes on',
    async (epoch) => {
      const { store, host, who, deletion, isThere, swept } = await opened()
      const { users } = storedIn(host, 'client')
      store.onCall(
        note,
        async () => void (await users.update(who.id, { [epoch]: 0 }, { [epoch]: 1 })),
      )
      expect(await deletion()).toBe('401 invalid_credentials')
      expect([await isThere(), await swept(), await isThere()]).toEqual([true, undefined, true])
    },
  )

  it('asks for a new login where that was shown, whatever password was sent along', async () => {
    const { store, host, who, deletion } = await opened()
    const { users } = storedIn(host, 'client')
    await users.update(who.id, { enabled: true }, { passwordHash: null })
    store.onCall(
      note,
      async () => void (await users.update(who.id, { credentialEpoch: 0 }, { credentialEpoch: 1 })),
    )
    expect(await deletion()).toBe('403 step_up_required')
    expect(await host.auth.client.users.get(who.id)).not.toBeNull()
  })

  it('and arrives late is not carried out once the sweep gave it up', async () => {
    const { store, host, who, deletion, isThere, swept } = await opened()
    const update = 'client_users.update'
    store.onCall(note, async () => store.failNext(update, 'late'))
    const outcome = deletion()
    await expect.poll(() => store.calls.at(-1)).toBe(update)
    await host.clock.advance(60_000)
    expect(await outcome).toBe('503 service_unavailable')
    expect(await swept()).toBeUndefined()
    await store.deliverLate()
    expect([await isThere(), (await host.auth.client.users.get(who.id))?.enabled]).toEqual([
      true,
      true,
    ])
  })

  it('and fails there is not gone on with: its owner may have ended the session since', async () => {
    const { store, deletion, isThere, swept } = await opened()
    store.onCall(note, async () => store.failNext('client_users.update', 'before'))
    expect(await deletion()).toBe('503 service_unavailable')
    expect([await isThere(), await swept(), await isThere()]).toEqual([true, undefined, true])
    // Asked for again, it is done.
    expect(await deletion()).toBe('204')
  })

  it('is gone on with where the host’s code asked for it, in the name of the owner too', async () => {
    const { store, host, who, isThere, swept } = await opened()
    store.failNext('client_users.update', 'before')
    const begun = host.auth.client.users.delete(who.id, { actorId: who.id })
    await expect(begun).rejects.toMatchObject({ code: 'service_unavailable' })
    expect([await isThere(), await swept(), await isThere()]).toEqual([
      true,
      expect.any(Number),
      false,
    ])
  })

  it('keeps no administrator’s deletion from being gone on with', async () => {
    const { store, host, who, deletion, isThere, swept } = await opened()
    store.failNext('client_users.update', 'before')
    const begun = host.auth.client.users.delete(who.id, { actorId: 'ops-7' })
    await expect(begun).rejects.toMatchObject({ code: 'service_unavailable' })
    store.onCall('client_account_deletions.update', () =>
      host.auth.client.terminateSessionsOf(who.id),
    )
    expect(await deletion()).toBe('401 session_revoked')
    expect([await isThere(), await swept(), await isThere()]).toEqual([
      true,
      expect.any(Number),
      false,
    ])
  })
})

it.each(Object.keys(meanwhile))(
  'no identity is unlinked that %s comes before, and it opens the account as before',
  async (name) => {
    const store = faultyBackend(memory())
    const host = await oauthHost({ backend: store.backend })
    const who = await signedInPerson(host, 'operator')
    const { oauthIdentities } = storedIn(host, 'operator')
    const google = { provider: 'google', issuer: 'https://accounts.google.com', subject: '1815' }
    const stored = { linkedAt: 0, removingBy: null, expiresAt: null }
    await oauthIdentities.insert({ id: 'google', userId: who.id, ...google, ...stored })
    store.onCall('operator_oauth_identities.update', async () => {
      await meanwhile[name]?.(host, who, 'operator')
    })
    const { bearer } = who
    const body = { currentPassword: goodPassword }
    const unlinked = await host.send('DELETE', '/v1/auth/operator/oauth/google/link', {
      bearer,
      body,
    })
    expect(outcomeOf(unlinked)).toBe('401 session_revoked')
    expect(await oauthIdentities.get('google')).toMatchObject({ removingBy: null })
  },
)
