import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import type { ConfigKey } from '../../../src/crypto/secret-box.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachStore } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn, surfaces } from '../../support/hosts/open-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { configKey } from '../../support/keys.js'
import { type Enrolled, enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/** Another process on the database of a host, with keys of its own. */
async function withKeys(
  { backend, clock }: Pick<ContractHost, 'backend' | 'clock'>,
  ...configKeys: readonly ConfigKey[]
) {
  const { auth } = await testAuth({ backend, clock, configKeys })
  return auth
}

async function signsIn(host: ContractHost, who: Enrolled): Promise<string> {
  const mfaToken = await ticketOf(host, 'client', who)
  return outcomeOf(await finish(host, 'client', mfaToken, await who.nextCode()))
}

const [old, fresh] = [configKey('old'), configKey('fresh')]

eachStore.describe('the secrets of authenticator apps', (kind) => {
  it('move to a new key by one call, after which the old one can go', async () => {
    const host = await openHost({ ...withoutLimits, configKeys: [old] }, kind)
    const people = []
    for (const surface of [...surfaces, 'client'] as const)
      people.push(await enrolled(host, surface))
    const both = await withKeys(host, fresh, old)
    const moved = await both.config.reencrypt()
    expect(moved).toEqual({ reencrypted: 3, damaged: [] })
    expect((await both.config.reencrypt()).reencrypted).toBe(0)
    const { totpFactors } = storedIn(host, 'client')
    expect(await totpFactors.find({ keyId: 'old' }, { limit: 9 })).toEqual([])
    expect(await totpFactors.find({ keyId: 'fresh' }, { limit: 9 })).toHaveLength(2)
    // Without the old key nothing is damaged, and none is lost.
    const alone = await withKeys(host, fresh)
    expect(await alone.config.reencrypt()).toEqual({ reencrypted: 0, damaged: [] })
  })
})

describe('the secrets of authenticator apps', () => {
  async function peopleOf(
    count: number,
    wrapBackend = (backend: ContractHost['backend']) => backend,
  ) {
    const ring = [fresh, old]
    const host = await openHost({ ...withoutLimits, configKeys: ring, wrapBackend })
    const earlier = await openHost({ ...withoutLimits, configKeys: [old], backend: host.backend })
    const people: Enrolled[] = []
    for (let index = 0; index < count; index += 1) people.push(await enrolled(earlier, 'client'))
    return { host, people }
  }

  it('all of them move, however many, and wherever the call is cut off', async () => {
    let left = Number.POSITIVE_INFINITY
    const { host, people } = await peopleOf(3, (backend) =>
      withCall(backend, async (name, work) => {
        if (!name.endsWith('totp_factors.update') && !name.endsWith('totp_factors.find'))
          return work()
        if (left <= 0) throw new Error('away')
        left -= 1
        return work()
      }),
    )
    const { totpFactors } = storedIn(host, 'client')
    const [one] = await totpFactors.find({ keyId: 'old' }, { limit: 9 })
    assert.ok(one !== undefined)
    for (let more = 0; more < 120; more += 1) {
      await totpFactors.insert({ ...one, id: `more-${1000 + more}`, confirmed: more % 2 === 0 })
    }
    for (let calls = 0; calls < 6; calls += 1) {
      left = calls
      await expect(host.auth.config.reencrypt()).rejects.toThrow()
    }
    left = Number.POSITIVE_INFINITY
    const moved = (await host.auth.config.reencrypt()).reencrypted
    expect(moved).toBeLessThanOrEqual(people.length + 60)
    const rest = await totpFactors.find({ keyId: 'old' }, { limit: 1000 })
    expect(rest.filter(({ confirmed }) => confirmed)).toEqual([])
    expect((await host.auth.config.reencrypt()).reencrypted).toBe(0)
    const [who] = people
    assert.ok(who !== undefined)
    expect(await signsIn(host, who)).toBe('200')
  })

  it('a code that is shown meanwhile is accepted, once', async () => {
    let meanwhile: (() => Promise<unknown>) | null = null
    const { host, people } = await peopleOf(1, (backend) =>
      withCall(backend, async (name, work) => {
        const hook = name === 'client_totp_factors.update' ? meanwhile : null
        if (hook !== null) meanwhile = null
        await hook?.()
        return work()
      }),
    )
    const [who] = people
    assert.ok(who !== undefined)
    const mfaToken = await ticketOf(host, 'client', who)
    const code = await who.nextCode()
    meanwhile = () => host.auth.config.reencrypt()
    expect(outcomeOf(await finish(host, 'client', mfaToken, code))).toBe('200')
    const again = await ticketOf(host, 'client', who)
    expect(outcomeOf(await finish(host, 'client', again, code))).toBe('401 invalid_mfa_code')
  })

  it('one that no key decrypts is named, and one that is removed meanwhile stays away', async () => {
    let meanwhile: (() => Promise<unknown>) | null = null
    const { host, people } = await peopleOf(2, (backend) =>
      withCall(backend, async (name, work) => {
        const hook = name === 'client_totp_factors.update' ? meanwhile : null
        if (hook !== null) meanwhile = null
        await hook?.()
        return work()
      }),
    )
    const [gone, broken] = people
    assert.ok(gone !== undefined && broken !== undefined)
    const { totpFactors } = storedIn(host, 'client')
    await totpFactors.update(broken.id, { confirmed: true }, { sealedSecret: 'enc:v1:old:x:y' })
    meanwhile = () => totpFactors.take(gone.id)
    expect(await host.auth.config.reencrypt()).toEqual({
      reencrypted: 0,
      damaged: [{ module: 'totp', environment: 'client', key: broken.id }],
    })
    expect(await totpFactors.get(gone.id)).toBeNull()
  })
})
