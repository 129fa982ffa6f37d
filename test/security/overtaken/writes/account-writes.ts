import { randomUUID } from 'node:crypto'
import { afterwards, sweepOnce } from '../../../contract/accounts/deletions.js'
import { mailedToken, storedIn } from '../../../support/hosts/open-host.js'
import { goodPassword } from '../../../support/people/people.js'
import { publicly } from '../../intents/begun.js'
import { subjectOf } from '../../intents/subject.js'
import type { OvertakenWrite, OvertakenWrites } from '../overtaken-write.js'
import { plus, started } from './begun.js'

type Begin = OvertakenWrite['begin']

const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const unnoted = { actorId: null, credentialEpoch: 0, deletedAt: null } as const

/** Somebody whose deletion was noted, and then cut off. */
const noted: Begin = async (host) => {
  const { id } = await subjectOf(host, 'nothing')
  const now = host.clock.now()
  const note = { id, ...unnoted, begunAt: now, expiresAt: now + 1000 }
  await storedIn(host, 'client').accountDeletions.insert(note)
  return async () => {
    await host.auth.client.users.delete(id)
    return 'done'
  }
}

/** An address that is confirmed by its link, with the password that the account has. */
const confirmed: Begin = async (host) => {
  const subject = await subjectOf(host, 'nothing', { emailVerified: false })
  await publicly(subject, '/email/verify/resend', { email: subject.email })
  const token = await mailedToken(host, 'verifyEmail', subject.email)
  return () => publicly(subject, '/email/verify', { token, newPassword: goodPassword })
}

const invalid = '400 invalid_token'

/** What makes, changes and removes accounts. */
export const accountWrites: OvertakenWrites = {
  'the note of a deletion taken over': {
    collection: 'account_deletions',
    begin: noted,
    changes: { expiresAt: { value: plus('expiresAt', 5000), outcome: 'done', left: 'goes on' } },
  },
  'a deletion that the sweep goes on with': {
    collection: 'account_deletions',
    begin: async (host) => {
      await noted(host)
      await host.clock.advance(1000)
      return async () => {
        await sweepOnce(host, 'client')
        return 'done'
      }
    },
    // Another process goes on with it.
    changes: { expiresAt: { value: plus('expiresAt', 600_000), outcome: 'done' } },
  },
  'a deletion that the sweep looks after once more': {
    collection: 'account_deletions',
    begin: async (host) => {
      const { id } = await subjectOf(host, 'nothing')
      await host.auth.client.users.delete(id)
      await host.clock.advance(afterwards)
      return async () => {
        await sweepOnce(host, 'client')
        return 'done'
      }
    },
    changes: { expiresAt: { value: plus('expiresAt', 6_000_000), outcome: 'done' } },
  },
  'a deletion that the sweep gives up': {
    collection: 'users',
    begin: async (host) => {
      const { id } = await subjectOf(host, 'nothing')
      const now = host.clock.now()
      const note = { id, ...unnoted, credentialEpoch: -1, begunAt: now, expiresAt: now + 1000 }
      await storedIn(host, 'client').accountDeletions.insert(note)
      await host.clock.advance(1000)
      return async () => {
        await sweepOnce(host, 'client')
        const left = await storedIn(host, 'client').accountDeletions.get(id)
        return left === null ? 'given up' : 'left for later'
      }
    },
    changes: {
      // The request that asked for it closes the account meanwhile.
      updatedAt: { value: plus('updatedAt'), outcome: 'left for later' },
      deletingAt: { value: 1, outcome: 'left for later' },
    },
  },
  'an import that lets its account in': {
    collection: 'users',
    begin: async (host) => {
      const users = [
        {
          email: `${randomUUID()}@example.org`,
          emailVerified: true,
          passwordHash: null,
          totpSecret,
        },
      ]
      return async () => {
        const { results } = await host.auth.client.users.import({ users })
        return results.map(({ outcome }) => outcome).join()
      }
    },
    changes: {
      importState: { value: null, outcome: 'skipped' },
      enabled: { value: true, outcome: 'skipped' },
    },
  },
  'the app of an import that was cut off, where the row has another secret': {
    collection: 'totp_factors',
    begin: async (host) => {
      const row = { id: randomUUID(), email: `${randomUUID()}@example.org`, emailVerified: true }
      await host.auth.client.users.import({ users: [{ ...row, totpSecret }] })
      const cut = { enabled: false, importState: 'unfinished' as const }
      await storedIn(host, 'client').users.update(row.id, { enabled: true }, cut)
      const users = [{ ...row, totpSecret: `K${totpSecret.slice(1)}` }]
      return async () => {
        const { results } = await host.auth.client.users.import({ users })
        return results.map(({ outcome }) => outcome).join()
      }
    },
    // By its owner, whom another import let in meanwhile.
    changes: { lastStep: { value: 1, outcome: 'created' } },
  },
  'an address changed by its link': {
    collection: 'users',
    begin: started('a link to another address, with the password'),
    changes: {
      sessionEpoch: { value: plus('sessionEpoch'), outcome: invalid },
      deviceEpoch: { value: plus('deviceEpoch'), outcome: invalid },
      enabled: { value: false, outcome: invalid },
      kind: { value: 'service', outcome: invalid },
    },
  },
  'an address confirmed, with the password that stays': {
    collection: 'users',
    begin: confirmed,
    changes: {
      // By another request with the link.
      emailVerifiedAt: { value: 1, outcome: '200' },
      credentialEpoch: { value: plus('credentialEpoch'), outcome: invalid },
      deviceEpoch: { value: plus('deviceEpoch'), outcome: invalid },
      email: { value: `${randomUUID()}@example.org`, outcome: invalid },
      enabled: { value: false, outcome: invalid },
      kind: { value: 'service', outcome: invalid },
    },
  },
  'a registration stripped with the account of its address': {
    collection: 'registrations',
    begin: async (host) => {
      const { id, email } = await subjectOf(host, 'nothing')
      const now = host.clock.now()
      await storedIn(host, 'client').pendingRegistrations.insert({
        ...{ id: randomUUID(), method: 'password', email, emailAsTyped: email, keyHash: 'a key' },
        ...{ passwordHash: 'a hash', name: '', termsVersion: null },
        ...{ provider: null, issuer: null, subject: null },
        ...{ createdAt: now, expiresAt: now + 60_000 },
      })
      return async () => {
        await host.auth.client.users.delete(id)
        return 'done'
      }
    },
    changes: { keyHash: { value: 'another key', outcome: 'done' } },
  },
  'a name changed': {
    collection: 'users',
    begin: async (host) => {
      const { bearer } = await subjectOf(host, 'nothing')
      return () => host.send('PATCH', '/v1/auth/client/me', { bearer, body: { name: 'Grace' } })
    },
    changes: { enabled: { value: false, outcome: '403 permission_denied' } },
  },
}
