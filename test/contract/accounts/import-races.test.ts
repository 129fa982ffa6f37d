import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { ImportReport } from '../../../src/index.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { afterwards, sweepOnce } from './deletions.js'

const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

const google = (subject: string, issuer = 'https://accounts.google.com') =>
  ({ provider: 'google', issuer, subject }) as const
const github = (subject: string) =>
  ({ provider: 'github', issuer: 'https://github.com/login/oauth', subject }) as const

const codesOf = ({ results }: ImportReport): readonly string[] =>
  results.map((one) => ('code' in one ? `${one.outcome} ${one.code}` : one.outcome))

const row = {
  ...{ id: randomUUID(), email: 'ada@example.org', emailVerified: true, totpSecret },
  identities: [google('1815'), github('1843')],
}

async function opened() {
  const faulty = faultyBackend(memory())
  const host = await openHost({ backend: faulty.backend })
  const { users } = host.auth.client
  const stored = storedIn(host, 'client')
  const importing = async (more: object = {}, dryRun = false) =>
    codesOf(await users.import({ users: [{ ...row, ...more }], dryRun }))
  const identities = () => stored.oauthIdentities.find({ userId: row.id }, { limit: 9 })
  /** What is stored of the account. */
  const picture = async () => [
    await stored.users.get(row.id),
    await stored.totpFactors.get(row.id),
    await identities(),
  ]
  const change = async (set: object) => {
    await stored.users.update(row.id, { id: row.id }, set)
  }
  return { faulty, host, users, stored, importing, identities, picture, change }
}

/** The account is there with its factors, and disabled until its import is completed. */
async function cutOff() {
  const given = await opened()
  given.faulty.failNext('client_users.update', 'before')
  await expect(given.importing()).rejects.toMatchObject({ code: 'service_unavailable' })
  return given
}

describe('an account whose import was cut off', () => {
  it('is not touched by a dry run, which says that it can be completed', async () => {
    const { importing, picture } = await cutOff()
    const before = await picture()
    expect(await importing({ identities: [] }, true)).toEqual(['creatable'])
    expect(await picture()).toEqual(before)
  })

  it.each([
    ['has another address', { email: 'grace@example.org' }],
    ['has no factor and no identity any more', { totpSecret: undefined, identities: [] }],
  ])('is not completed by a row that %s', async (_how, more) => {
    const { importing, picture } = await cutOff()
    const before = await picture()
    expect(await importing(more)).toEqual(['conflict email_taken'])
    expect(await picture()).toEqual(before)
  })

  it('stays as it is where another account has an identity of the row by now', async () => {
    const { users, importing, picture } = await cutOff()
    const identities = [google('1900')]
    await users.import({ users: [{ email: 'eve@example.org', emailVerified: true, identities }] })
    const before = await picture()
    for (const dryRun of [true, false]) {
      expect(await importing({ identities }, dryRun)).toEqual(['conflict identity_taken'])
    }
    expect(await picture()).toEqual(before)
  })

  it('keeps no identity of another issuer that has the same subject', async () => {
    const { importing, identities } = await cutOff()
    const other = google('1815', 'https://accounts.example.org')
    expect(await importing({ identities: [other] })).toEqual(['created'])
    expect(await identities()).toMatchObject([other])
  })

  it('keeps the identities with which another import completed it meanwhile', async () => {
    const { faulty, importing, identities } = await cutOff()
    const first: (readonly string[])[] = []
    faulty.onCall('client_oauth_identities.find', async () => {
      first.push(await importing())
    })
    expect(await importing({ identities: [github('1843')] })).toEqual(['skipped'])
    expect(first).toEqual([['created']])
    expect((await identities()).map(({ subject }) => subject).sort()).toEqual(['1815', '1843'])
  })

  it('is not made again when it is deleted while its identities are looked at', async () => {
    const { faulty, users, importing, picture } = await cutOff()
    faulty.onCall('client_oauth_identities.find', () => {
      faulty.onCall('client_users.get', async () => {
        await users.delete(row.id)
      })
    })
    expect(await importing({ identities: [github('1843')] })).toEqual(['refused id_deleted'])
    expect(await picture()).toEqual([null, null, []])
  })
})

describe('an import that takes its account back, because another one got an identity of the row', () => {
  it.each([
    ['disabled', { importState: 'disabled' }],
    ['enabled', { enabled: true }],
    ['being deleted', { deletingAt: 1 }],
  ])('leaves one that is %s by then', async (_state, set) => {
    const { faulty, stored, importing, change } = await opened()
    const other = { id: randomUUID(), email: 'grace@example.org', totpSecret: undefined }
    // After the look at who has the identities, and before they are linked.
    faulty.onCall('client_oauth_identities.insert', async () => {
      expect(await importing({ ...other, identities: [google('1815')] })).toEqual(['created'])
    })
    faulty.onCall('client_users.take', () => change(set))
    expect(await importing()).toEqual(['conflict identity_taken'])
    expect(await stored.users.get(row.id)).toMatchObject(set)
  })
})

describe('an import whose account is disabled meanwhile', () => {
  it.each(['client_oauth_identities.insert', 'client_totp_factors.insert', 'client_users.update'])(
    'leaves it disabled: before %s',
    async (call) => {
      const { faulty, users, stored, importing } = await opened()
      faulty.onCall(call, async () => {
        await users.update(row.id, { enabled: false })
      })
      expect(await importing()).toEqual(['created'])
      expect(await stored.users.get(row.id)).toMatchObject({ enabled: false, importState: null })
      // The host's word counts until the host says otherwise.
      expect(await importing()).toEqual(['skipped'])
      expect(await users.update(row.id, { enabled: true })).toMatchObject({ enabled: true })
    },
  )
})

describe('an import whose account is deleted meanwhile', () => {
  it('leaves no identity and no factor of it', async () => {
    const { faulty, users, importing, picture } = await opened()
    faulty.onCall('client_oauth_identities.insert', async () => {
      await users.delete(row.id)
    })
    expect(await importing()).toEqual(['refused id_deleted'])
    expect(await picture()).toEqual([null, null, []])
  })

  it('does not enable it again while it is being deleted', async () => {
    const { faulty, users, importing, stored } = await opened()
    faulty.onCall('client_users.update', async () => {
      faulty.failNext('client_sessions.find', 'before')
      await expect(users.delete(row.id)).rejects.toMatchObject({ code: 'service_unavailable' })
    })
    expect(await importing()).toEqual(['refused id_deleted'])
    const deleting = { enabled: false, deletingAt: expect.any(Number) }
    expect(await stored.users.get(row.id)).toMatchObject(deleting)
  })

  it('makes none where the id was used and deleted just before', async () => {
    const { faulty, users, importing, picture } = await opened()
    const plain = { identities: [], totpSecret: undefined }
    faulty.onCall('client_users.insert', async () => {
      expect(await importing(plain)).toEqual(['created'])
      await users.delete(row.id)
    })
    expect(await importing(plain)).toEqual(['refused id_deleted'])
    expect(await picture()).toEqual([null, null, []])
  })

  it.each([
    ['by its id', row.id, 'refused id_deleted'],
    ['by its address', undefined, 'conflict email_taken'],
  ])('does not take it for an account that is there, found %s', async (_how, id, code) => {
    const { host, stored, importing } = await opened()
    expect(await importing()).toEqual(['created'])
    const deleting = { enabled: false, deletingAt: host.clock.now() }
    await stored.users.update(row.id, { enabled: true }, deleting)
    expect(await importing({ id })).toEqual([code])
  })
})

describe('an import that made its account again, and could not know that the id was used', () => {
  async function leftOver() {
    const given = await opened()
    const { faulty, users, importing } = given
    faulty.onCall('client_users.insert', async () => {
      expect(await importing({ identities: [], totpSecret: undefined })).toEqual(['created'])
      await users.delete(row.id)
      faulty.failNext('client_account_deletions.get', 'before')
    })
    await expect(importing()).rejects.toMatchObject({ code: 'service_unavailable' })
    return given
  }

  it('does not go on with it, and takes it away, for its address to be free', async () => {
    const { importing, picture } = await leftOver()
    expect(await importing({}, true)).toEqual(['refused id_deleted'])
    expect((await picture())[0]).toMatchObject({ enabled: false })
    expect(await importing()).toEqual(['refused id_deleted'])
    expect(await picture()).toEqual([null, null, []])
    expect(await importing({ id: randomUUID() })).toEqual(['created'])
  })

  it.each([{ email: 'grace@example.org' }, { identities: [], totpSecret: undefined }])(
    'takes it away for a row that says something else too: %o',
    async (more) => {
      const { importing, picture } = await leftOver()
      expect(await importing(more)).toEqual(['refused id_deleted'])
      expect(await picture()).toEqual([null, null, []])
    },
  )

  it('leaves it where it is completed by then', async () => {
    const { faulty, stored, importing, change } = await leftOver()
    faulty.onCall('client_users.take', () => change({ importState: null }))
    expect(await importing()).toEqual(['refused id_deleted'])
    expect(await stored.users.get(row.id)).not.toBeNull()
  })

  it('leaves it to the process that sweeps', async () => {
    const { host, importing, picture } = await leftOver()
    await host.clock.advance(afterwards)
    await sweepOnce(host, 'client')
    expect(await picture()).toEqual([null, null, []])
    expect(await importing({ id: randomUUID() })).toEqual(['created'])
  })

  it.each([{ enabled: true }, { importState: null }])(
    'leaves it to its import where that completed it: %o',
    async (set) => {
      const { host, faulty, stored, change } = await leftOver()
      await host.clock.advance(afterwards)
      faulty.onCall('client_users.take', () => change(set))
      await sweepOnce(host, 'client')
      expect(await stored.users.get(row.id)).toMatchObject(set)
    },
  )
})

describe('an identity with which another person is signing up', () => {
  /** The identity is stored before the account is. */
  async function signingUp() {
    const given = await opened()
    const { users, oauthIdentities } = given.stored
    const email = 'eve@example.org'
    const [identity] = row.identities
    await given.importing({ id: undefined, email, identities: [identity] })
    const [eve] = await users.find({ email }, { limit: 1 })
    const userId = eve?.id ?? ''
    await users.take(userId)
    const owned = async () => (await oauthIdentities.find({ userId }, { limit: 9 })).length
    return { ...given, owned }
  }

  it('is not taken by an import, which makes no account with it', async () => {
    const { faulty, importing, owned } = await signingUp()
    const before = faulty.calls.length
    expect(await importing()).toEqual(['conflict identity_taken'])
    expect(faulty.calls.slice(before)).not.toContain('client_users.insert')
    expect(await owned()).toBe(1)
  })

  it('is free a minute later, of which a dry run makes no use', async () => {
    const { host, importing, identities, owned } = await signingUp()
    await host.clock.advance(60_000)
    expect(await importing({}, true)).toEqual(['creatable'])
    expect(await owned()).toBe(1)
    expect(await importing()).toEqual(['created'])
    expect([await owned(), (await identities()).length]).toEqual([0, 2])
  })
})

describe('an imported account', () => {
  it('that was disabled comes disabled, with its factors and identities', async () => {
    const { users, importing, identities } = await opened()
    expect(await importing({ enabled: false })).toEqual(['created'])
    expect(await users.get(row.id)).toMatchObject({ enabled: false })
    expect(await identities()).toHaveLength(2)
  })

  it('is known again by its address and the time it was made at', async () => {
    const { host, importing } = await opened()
    const createdAt = host.clock.now() - 1000
    const again = { id: undefined, createdAt }
    expect(await importing(again)).toEqual(['created'])
    expect(await importing(again)).toEqual(['skipped'])
    expect(await importing({ ...again, createdAt: createdAt - 1 })).toEqual([
      'conflict email_taken',
    ])
  })

  it('is never a service account', async () => {
    const { host } = await opened()
    const { serviceAccounts, users } = host.auth.operator
    const { account } = await serviceAccounts.create({ name: 'Export' })
    const report = await users.import({ users: [{ id: account.id, email: 'ada@example.org' }] })
    expect(codesOf(report)).toEqual(['conflict id_taken'])
  })
})
