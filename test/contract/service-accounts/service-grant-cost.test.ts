import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { nodeRsHasher } from '../../../src/crypto/argon2-hashers.js'
import { serviceCredentialsSpec } from '../../../src/model/user.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { openHost } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  accountsPath,
  administrator,
  grant,
  issuedIn,
  peopleMay,
  revoke,
  rotate,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const minute = 60_000
const open = (options: HostOptions = {}) => openHost({ authorizer: peopleMay, ...options })

const stored = (host: ContractHost) => host.backend.store.collection(serviceCredentialsSpec)

async function pass(host: ContractHost, ms: number): Promise<void> {
  await host.auth.close()
  await host.clock.advance(ms)
}

const setEnabled = (
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  id: string,
  enabled: boolean,
) => host.send('PATCH', `${accountsPath}/${id}`, { bearer, body: { enabled } })

describe('what a grant costs', () => {
  async function rig(options: HostOptions = {}) {
    const hasher = countingHasher(nodeRsHasher())
    const host = await open({
      ...withoutLimits,
      hash: { ...cheapHash, implementation: hasher },
      ...options,
    })
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    async function costOf(work: () => Promise<unknown>): Promise<number> {
      const before = hasher.verified.length
      await work()
      return hasher.verified.length - before
    }
    return { hasher, host, who, account, costOf }
  }

  it('a secret that was verified is not hashed again for fifteen minutes', async () => {
    const { host, account, costOf } = await rig()
    const ask = () => tokenOf(host, account)
    expect(await costOf(ask)).toBe(1)
    expect(await costOf(ask)).toBe(0)
    await pass(host, 15 * minute - 1)
    expect(await costOf(ask)).toBe(0)
    await pass(host, 1)
    expect(await costOf(ask)).toBe(1)
    expect(await costOf(ask)).toBe(0)
  })

  it('what is remembered revives nothing, and every refusal costs one hash', async () => {
    const { host, who, account, costOf } = await rig()
    const second = issuedIn(await rotate(host, who, account.id))
    for (const credential of [account, second]) await tokenOf(host, credential)
    const refused = async (credential: typeof second) => {
      expectProblem(await grant(host, credential), 401, 'invalid_client')
    }
    const { clientId } = account
    expect(await costOf(() => refused({ ...account, clientSecret: second.clientSecret }))).toBe(1)
    expect(await costOf(() => refused({ ...second, clientId }))).toBe(1)
    await setEnabled(host, who, account.id, false)
    expect(await costOf(() => refused(account))).toBe(1)
    await setEnabled(host, who, account.id, true)
    expect(await costOf(() => tokenOf(host, account))).toBe(0)
    await revoke(host, who, account.id, account.credentialId)
    expect(await costOf(() => refused(account))).toBe(1)
    expect(await costOf(() => tokenOf(host, second))).toBe(0)
    // A hash that was replaced by hand was never verified.
    const { secretHash = '' } = (await stored(host).get(account.credentialId)) ?? {}
    await stored(host).update(second.credentialId, { status: 'active' }, { secretHash })
    expect(await costOf(() => refused(second))).toBe(1)
  })

  it('concurrent grants of one secret share one hash, from wherever they come, and count nothing', async () => {
    const store = faultyBackend(memory())
    const reads = () => store.calls.filter((name) => name === 'operator_users.get').length
    const hasher = countingHasher(nodeRsHasher())
    let awaited = 0
    // Each has read what it is judged by before the hash is done.
    const verify: typeof hasher.verify = async (...given) => {
      while (reads() < awaited) await turn()
      return hasher.verify(...given)
    }
    const hash = { ...cheapHash, implementation: { ...hasher, verify } }
    const { host, account } = await rig({ backend: store.backend, hash })
    async function costOf(count: number, send: () => Promise<unknown>): Promise<number> {
      awaited = reads() + count
      const before = hasher.verified.length
      await Promise.all(Array.from({ length: count }, send))
      return hasher.verified.length - before
    }
    expect(await costOf(16, () => tokenOf(host, account))).toBe(1)
    const wrong = (given: Partial<typeof account>) => async () =>
      expectProblem(await grant(host, { ...account, ...given }), 401, 'invalid_client')
    // The same of a wrong secret and of an unknown client: a second request tells none of the two.
    expect(await costOf(4, wrong({ clientSecret: 'sas_wrong' }))).toBe(1)
    expect(await costOf(4, wrong({ clientId: 'sa_AAAAAAAAAAAAAAAAAAAAAA' }))).toBe(1)
  })

  it('… and of those none is granted whose credential was revoked while they waited', async () => {
    const inner = nodeRsHasher()
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const verify: typeof inner.verify = async (...given) => {
      await held
      return inner.verify(...given)
    }
    const implementation = { ...inner, verify }
    const { host, account } = await rig()
    const store = faultyBackend(host.backend)
    const slow = await open({
      ...withoutLimits,
      backend: store.backend,
      hash: { ...cheapHash, implementation },
    })
    const replies = Array.from({ length: 4 }, () => grant(slow, account))
    // Each has read the credential by then.
    while (store.calls.filter((name) => name === 'operator_users.get').length < 4) await turn()
    const revoked = { status: 'revoked', revokedAt: 1, revokedBy: null } as const
    await stored(host).update(account.credentialId, { status: 'active' }, revoked)
    goOn()
    for (const reply of await Promise.all(replies)) expectProblem(reply, 401, 'invalid_client')
  })

  it('another instance remembers nothing of it', async () => {
    const { host, account } = await rig()
    await tokenOf(host, account)
    const other = countingHasher(nodeRsHasher())
    const second = await open({
      backend: host.backend,
      hash: { ...cheapHash, implementation: other },
    })
    await tokenOf(second, account)
    expect(other.verified).toHaveLength(1)
  })

  it('a weak hash is replaced by a grant that succeeds, and by no other', async () => {
    const { host, account } = await rig()
    const params = { memoryCost: 128, timeCost: 2, parallelism: 1 }
    const hash = { ...cheapHash, params }
    const stronger = await open({ backend: host.backend, hash })
    const hashNow = async () => (await stored(host).get(account.credentialId))?.secretHash
    const before = await hashNow()
    await grant(stronger, { ...account, clientSecret: 'sas_wrong' })
    expect(await hashNow()).toBe(before)
    await tokenOf(stronger, account)
    expect(await hashNow()).toContain('m=128,t=2,p=1')
    await tokenOf(stronger, account)
    await tokenOf(host, account)
  })

  it('a hash that another process replaced meanwhile stays', async () => {
    const store = faultyBackend(memory())
    const { host, account } = await rig({ backend: store.backend })
    const hash = { ...cheapHash, params: { memoryCost: 128, timeCost: 2, parallelism: 1 } }
    const stronger = await open({ backend: host.backend, hash })
    const { credentialId: id } = account
    // The first write is that of the hash, the note of the use comes beside the grant.
    store.onCall('service_account_credentials.update', async () => {
      await stored(host).update(id, { status: 'active' }, { secretHash: 'of another process' })
    })
    await tokenOf(stronger, account)
    expect((await stored(host).get(id))?.secretHash).toBe('of another process')
  })

  it('lastUsedAt says when, within a minute, and costs a write a minute', async () => {
    const spy = spyBackend()
    const { host, account } = await rig({ backend: spy.backend })
    const writes = () => spy.calls.filter((call) => call.endsWith('_credentials.update')).length
    const lastUsed = async () => {
      await host.auth.close()
      return (await stored(host).get(account.credentialId))?.lastUsedAt
    }
    const first = host.clock.now()
    for (let n = 0; n < 3; n += 1) {
      await tokenOf(host, account)
      expect(await lastUsed()).toBe(first)
    }
    await pass(host, minute - 1)
    await tokenOf(host, account)
    expect(await lastUsed()).toBe(first)
    await pass(host, 1)
    await tokenOf(host, account)
    expect(await lastUsed()).toBe(host.clock.now())
    expect(writes()).toBe(2)
    await grant(host, { ...account, clientSecret: 'sas_wrong' })
    expect(await lastUsed()).toBe(host.clock.now())
  })
})
