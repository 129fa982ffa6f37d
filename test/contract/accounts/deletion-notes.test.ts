import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import { login } from '../../support/people/recovery-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { afterwards, sweepOnce } from './deletions.js'

const surface = 'client'
const take = `${surface}_account_deletions.take`

async function opened() {
  const faulty = faultyBackend(memory())
  const host = await openHost({ backend: faulty.backend })
  const who = await signedInPerson(host, surface)
  return { host, faulty, who, ...storedIn(host, surface) }
}

describe('the note of a deletion', () => {
  it('that went away while it was read is written again, and the account goes', async () => {
    const { host, faulty, who, accountDeletions } = await opened()
    const now = host.clock.now()
    await accountDeletions.insert({
      ...{ id: who.id, actorId: null, credentialEpoch: 0, deletedAt: null },
      ...{ begunAt: now, expiresAt: now + 60_000 },
    })
    faulty.onCall(`${surface}_account_deletions.get`, async () => {
      await accountDeletions.take(who.id)
    })
    expect(await host.auth[surface].users.delete(who.id, { actorId: 'ops-7' })).toBe(true)
    expect(await host.auth[surface].users.get(who.id)).toBeNull()
    expect(await accountDeletions.get(who.id)).toMatchObject({ actorId: 'ops-7', deletedAt: now })
  })

  it('stays as the attempt left it that finished, for one that comes later', async () => {
    const { host, faulty, who, accountDeletions } = await opened()
    const { users } = host.auth[surface]
    faulty.onCall(`${surface}_account_deletions.insert`, async () => {
      expect(await users.delete(who.id, { actorId: 'ops-1' })).toBe(true)
    })
    expect(await users.delete(who.id, { actorId: 'ops-2' })).toBe(true)
    // Looked after once more when no request can be under way any more, and not before.
    expect(await accountDeletions.get(who.id)).toMatchObject({
      actorId: 'ops-1',
      expiresAt: host.clock.now() + 10 * 60_000,
    })
    expect(eventsOf(host, 'account.deleted')).toMatchObject([{ actorId: 'ops-1' }])
  })

  it.each([true, false])(
    'deletes no account that is there again afterwards, as from a backup, enabled: %s',
    async (enabled) => {
      const { host, who, users, accountDeletions } = await opened()
      const backup = await users.get(who.id)
      expect(await host.auth[surface].users.delete(who.id)).toBe(true)
      if (backup !== null) await users.insert({ ...backup, enabled })
      await host.clock.advance(afterwards)
      await sweepOnce(host, surface)
      await host.auth[surface].users.update(who.id, { enabled: true })
      expect(outcomeOf(await login(host, surface, who.email, who.password))).toBe('200')
      expect(await accountDeletions.get(who.id)).toBeNull()
    },
  )

  it('is written anew for an account that is there again, and deleted again', async () => {
    const { host, who, users, accountDeletions } = await opened()
    const backup = await users.get(who.id)
    const deletion = () => host.auth[surface].users.delete(who.id, { actorId: 'ops-7' })
    expect(await deletion()).toBe(true)
    await host.clock.advance(afterwards)
    await sweepOnce(host, surface)
    expect(await accountDeletions.get(who.id)).toMatchObject({ expiresAt: null, actorId: null })
    if (backup !== null) await users.insert(backup)
    expect(await deletion()).toBe(true)
    const now = host.clock.now()
    expect(await accountDeletions.get(who.id)).toMatchObject({ actorId: 'ops-7', deletedAt: now })
    expect(eventsOf(host, 'account.deleted')).toHaveLength(2)
  })

  it('that another process changed stays, where the account is there again', async () => {
    const { host, faulty, who, users, accountDeletions } = await opened()
    const backup = await users.get(who.id)
    expect(await host.auth[surface].users.delete(who.id)).toBe(true)
    if (backup !== null) await users.insert(backup)
    await host.clock.advance(afterwards)
    faulty.onCall(take, async () => {
      await accountDeletions.update(who.id, { id: who.id }, { expiresAt: null })
    })
    await sweepOnce(host, surface)
    expect(await accountDeletions.get(who.id)).toMatchObject({ expiresAt: null })
  })

  it.each([
    ['of the same actor', { expiresAt: 60_001 }],
    ['of another one', { actorId: 'ops-2' }],
  ])(
    'that another attempt %s takes over stays, where the credentials are others by then',
    async (_whose, set) => {
      const { host, faulty, who, users, accountDeletions } = await opened()
      faulty.failNext(`${surface}_users.update`, 'before')
      const begun = host.auth[surface].users.delete(who.id, { actorId: 'ops-1' })
      await expect(begun).rejects.toMatchObject({ code: 'service_unavailable' })
      await users.update(who.id, { credentialEpoch: 0 }, { credentialEpoch: 1 })
      await host.clock.advance(60_000)
      faulty.onCall(take, async () => {
        const late = 'expiresAt' in set ? { expiresAt: host.clock.now() + set.expiresAt } : set
        await accountDeletions.update(who.id, { id: who.id }, late)
      })
      await sweepOnce(host, surface)
      expect(await accountDeletions.get(who.id)).not.toBeNull()
    },
  )
})
