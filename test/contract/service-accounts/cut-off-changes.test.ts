import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { IssuedServiceCredential } from '../../../src/index.js'
import { newUser, serviceCredentialsSpec } from '../../../src/model/user.js'
import { systemRandom } from '../../../src/system/machine.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { grant } from '../../support/people/service-account-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { afterwards, sweepOnce } from '../accounts/deletions.js'

const usersUpdate = 'operator_users.update'
const credentialsUpdate = 'service_account_credentials.update'

async function opened(options: HostOptions = {}) {
  const faulty = faultyBackend(memory())
  const host = await openHost({ backend: faulty.backend, ...options })
  const { serviceAccounts } = host.auth.operator
  const made = async () => {
    const created = await serviceAccounts.create({ name: 'Export' })
    if (!created.created) throw new Error('it was there already')
    return { id: created.account.id, credential: created.credential }
  }
  const use = async ({ clientId, clientSecret }: IssuedServiceCredential) =>
    outcomeOf(await grant(host, { clientId, clientSecret: clientSecret.reveal() }))
  return { host, faulty, serviceAccounts, made, use }
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => String(Object(error).code),
  )

describe('a credential that is revoked while the store fails', () => {
  it('is not said to be revoked, and works until it is', async () => {
    const { host, faulty, serviceAccounts, made, use } = await opened()
    const { id, credential } = await made()
    const revoke = () => codeOf(serviceAccounts.revokeCredential(id, credential.credentialId))
    faulty.failNext(credentialsUpdate, 'before')
    expect(await revoke()).toBe('service_unavailable')
    expect(eventsOf(host, 'serviceCredential.revoked')).toEqual([])
    expect(await use(credential)).toBe('200')
    expect(await revoke()).toBe('done')
    expect(await use(credential)).toBe('401 invalid_client')
  })

  it.each([
    ['the same administrator earlier', 'ops-1', 1],
    ['another administrator at the same time', 'ops-2', 0],
  ])('is not said to be revoked by this call when it was by %s', async (_who, actorId, ms) => {
    const { host, faulty, serviceAccounts, made } = await opened()
    const { id, credential } = await made()
    const revoke = (by: string) =>
      codeOf(serviceAccounts.revokeCredential(id, credential.credentialId, { actorId: by }))
    expect(await revoke('ops-1')).toBe('done')
    await host.clock.advance(ms)
    faulty.failNext(credentialsUpdate, 'before')
    expect(await revoke(actorId)).toBe('service_unavailable')
    expect(eventsOf(host, 'serviceCredential.revoked')).toHaveLength(1)
  })
})

describe('a new service account', () => {
  it('that could not be enabled is not said to be made, and leaves no credential', async () => {
    const { host, faulty, serviceAccounts } = await opened()
    faulty.failNext(usersUpdate, 'before')
    expect(await codeOf(serviceAccounts.create({ name: 'Export' }))).toBe('service_unavailable')
    const { accounts } = await serviceAccounts.list()
    expect(accounts).toMatchObject([{ enabled: false, credentials: [] }])
    const [account] = accounts
    const credentials = host.backend.store.collection(serviceCredentialsSpec)
    expect(await credentials.find({ accountId: account?.id ?? '' }, { limit: 9 })).toEqual([])
    expect(eventsOf(host, 'account.created')).toEqual([])
  })

  it('of an id that is drawn twice is refused, and the first one stays as it was', async () => {
    let isFixed = false
    const { serviceAccounts, use } = await opened({
      random: { bytes: (n) => (isFixed ? new Uint8Array(n) : systemRandom.bytes(n)) },
    })
    isFixed = true
    const first = await serviceAccounts.create({ name: 'First' })
    expect(await codeOf(serviceAccounts.create({ name: 'Second' }))).toBe('service_unavailable')
    isFixed = false
    expect((await serviceAccounts.list()).accounts).toMatchObject([{ name: 'First' }])
    expect(first.created && (await use(first.credential))).toBe('200')
  })

  it('of an id whose address another account has is refused, and not said to be there', async () => {
    const { host, serviceAccounts } = await opened()
    const id = randomUUID()
    const email = `${id}@service-accounts.invalid`
    const taken = newUser(host.clock.now(), {
      ...{ id: randomUUID(), name: '' },
      email,
      emailAsTyped: email,
    })
    await storedIn(host, 'operator').users.insert(taken)
    expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('service_unavailable')
    expect(eventsOf(host, 'account.createFailed')).toMatchObject([
      { reason: 'service_unavailable' },
    ])
  })
})

describe('a service account whose id another call uses meanwhile', () => {
  it('is not made where that account was deleted again', async () => {
    const { host, faulty, serviceAccounts } = await opened()
    const id = randomUUID()
    faulty.onCall('operator_users.insert', async () => {
      await serviceAccounts.create({ id, name: 'Export' })
      await host.auth.operator.users.delete(id)
    })
    await expect(serviceAccounts.create({ id, name: 'Export' })).rejects.toThrow(
      "A service account's id must not be that of an account that was deleted.",
    )
    expect((await serviceAccounts.list()).accounts).toEqual([])
  })
})

describe('a service account that is not enabled yet', () => {
  it('is not enabled where another caller with its id disables it', async () => {
    const { faulty, serviceAccounts } = await opened()
    const id = randomUUID()
    faulty.onCall(usersUpdate, async () => {
      await serviceAccounts.update(id, { enabled: false })
    })
    expect(await codeOf(serviceAccounts.create({ id, name: 'Export' }))).toBe('service_unavailable')
    const { accounts } = await serviceAccounts.list()
    expect(accounts).toMatchObject([{ id, enabled: false, credentials: [] }])
  })

  it('is not enabled while it is being deleted', async () => {
    const { host, faulty, serviceAccounts } = await opened()
    const id = randomUUID()
    faulty.onCall(usersUpdate, async () => {
      faulty.failNext('operator_sessions.find', 'before')
      expect(await codeOf(host.auth.operator.users.delete(id))).toBe('service_unavailable')
    })
    expect(await codeOf(serviceAccounts.create({ id, name: 'Export' }))).toBe('service_unavailable')
    const { accounts } = await serviceAccounts.list()
    expect(accounts).toMatchObject([{ id, enabled: false, credentials: [] }])
  })
})

describe('a service account that a call began to make with the id of a deleted one, and was cut off', () => {
  const notes = 'operator_account_deletions.get'

  async function cutOff() {
    const { host, faulty, serviceAccounts, ...rest } = await opened()
    const id = randomUUID()
    faulty.onCall('operator_users.insert', async () => {
      await serviceAccounts.create({ id, name: 'Export' })
      await host.auth.operator.users.delete(id)
      faulty.failNext(notes, 'before')
    })
    const cut = await codeOf(serviceAccounts.create({ id, name: 'Export' }))
    expect(cut).toBe('service_unavailable')
    expect((await serviceAccounts.list()).accounts).toMatchObject([{ id, enabled: false }])
    const sweep = async () => {
      await host.clock.advance(afterwards)
      await sweepOnce(host, 'operator')
    }
    return { host, faulty, serviceAccounts, id, sweep, ...rest }
  }

  it('goes with the next sweep, and its id stays taken', async () => {
    const { serviceAccounts, id, sweep } = await cutOff()
    await sweep()
    expect((await serviceAccounts.list()).accounts).toEqual([])
    expect(await codeOf(serviceAccounts.update(id, { enabled: true }))).toBe(
      'service_account_not_found',
    )
    expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('invalid_request')
  })

  it('goes once, and its id stays taken, where another caller deletes it while the sweep looks', async () => {
    const { host, faulty, serviceAccounts, id, sweep } = await cutOff()
    faulty.onCall('operator_users.take', async () => {
      expect(await host.auth.operator.users.delete(id)).toBe(true)
    })
    await sweep()
    expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('invalid_request')
  })

  it('goes once, and its id stays taken, where a driver takes it away twice', async () => {
    const { faulty, serviceAccounts, id, sweep } = await cutOff()
    faulty.failNext('operator_users.take', 'twice')
    await sweep()
    expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('invalid_request')
  })

  it('stays where it was given a credential, as one from a backup has', async () => {
    const { serviceAccounts, id, sweep } = await cutOff()
    await serviceAccounts.issueCredential(id)
    await sweep()
    expect((await serviceAccounts.list()).accounts).toMatchObject([{ id, enabled: false }])
  })

  it('stays where it was enabled, also while the sweep looks', async () => {
    const { faulty, serviceAccounts, id, sweep } = await cutOff()
    faulty.onCall('operator_users.take', async () => {
      await serviceAccounts.update(id, { enabled: true })
    })
    await sweep()
    expect((await serviceAccounts.list()).accounts).toMatchObject([{ id, enabled: true }])
  })
})

describe('a service account that is deleted while it is changed', () => {
  it('is not found', async () => {
    const { host, faulty, serviceAccounts, made } = await opened()
    const { id } = await made()
    faulty.onCall(usersUpdate, async () => {
      await host.auth.operator.users.delete(id)
    })
    const changed = serviceAccounts.update(id, { enabled: true })
    expect(await codeOf(changed)).toBe('service_account_not_found')
  })
})
