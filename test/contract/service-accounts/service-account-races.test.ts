import { describe, expect, it } from 'vitest'
import { nodeRsHasher } from '../../../src/crypto/argon2-hashers.js'
import { serviceCredentialsSpec } from '../../../src/model/user.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
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
} from '../../support/people/service-account-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/** Holds calls of a name until as many as are awaited have come. */
function meeting(name: string) {
  let awaited = 0
  let waiting: (() => void)[] = []
  return {
    of(count: number) {
      awaited = count
    },
    wrapBackend: (backend: Backend): Backend =>
      withCall(backend, async (called, work) => {
        const result = await work()
        if (called !== name || awaited === 0) return result
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          if (waiting.length < awaited) return
          for (const go of waiting) go()
          waiting = []
          awaited = 0
        })
        return result
      }),
  }
}

eachHost.describe('races', (kind) => {
  it('two issued at once may both succeed; three stay revocable one by one', async () => {
    const { of, wrapBackend } = meeting('service_account_credentials.find')
    const host = await openHost({ authorizer: peopleMay, ...withoutLimits, wrapBackend }, kind)
    const who = await administrator(host)
    const first = await serviceAccount(host, who)
    of(2)
    const both = await Promise.all([rotate(host, who, first.id), rotate(host, who, first.id)])
    const all = [first, ...both.map(issuedIn)]
    for (const one of all) expect((await grant(host, one)).status).toBe(200)
    const issue = async () => outcomeOf(await rotate(host, who, first.id))
    const [a, b, c] = all
    expect(await issue()).toBe('409 credential_limit_reached')
    await revoke(host, who, first.id, a?.credentialId ?? '')
    expect(await issue()).toBe('409 credential_limit_reached')
    expect((await grant(host, a ?? first)).status).toBe(401)
    await revoke(host, who, first.id, b?.credentialId ?? '')
    expect(await issue()).toBe('201')
    expect((await grant(host, c ?? first)).status).toBe(200)
  })

  it('of eight who revoke one credential, one does', async () => {
    const host = await openHost({ authorizer: peopleMay, ...withoutLimits }, kind)
    const who = await administrator(host)
    const { id, credentialId } = await serviceAccount(host, who)
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => revoke(host, who, id, credentialId)),
    )
    expect(replies.map(outcomeOf).sort()).toEqual([
      '204',
      ...Array.from({ length: 7 }, () => '404 credential_not_found'),
    ])
  })

  it('accounts made at once are each their own', async () => {
    const host = await openHost({ authorizer: peopleMay, ...withoutLimits }, kind)
    const who = await administrator(host)
    const made = await Promise.all(Array.from({ length: 6 }, () => serviceAccount(host, who, 'A')))
    expect(new Set(made.map(({ id }) => id)).size).toBe(6)
    for (const account of made) expect((await grant(host, account)).status).toBe(200)
  })
})

describe('a grant under way', () => {
  const here = { headers: { 'x-forwarded-for': '192.0.2.1' } }

  /** A host whose next hash waits until it is let go. */
  async function rig(options: HostOptions = {}) {
    const real = nodeRsHasher()
    let began: () => void = () => {}
    let release: () => void = () => {}
    let held: Promise<void> | null = null
    const host = await openHost({
      authorizer: peopleMay,
      ...withoutLimits,
      hash: {
        ...cheapHash,
        implementation: {
          hash: (...given) => real.hash(...given),
          async verify(...given) {
            began()
            await held
            return real.verify(...given)
          },
        },
      },
      ...options,
    })
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    return {
      host,
      who,
      account,
      async during(act: () => Promise<unknown>) {
        const hashing = new Promise<void>((resolve) => {
          began = resolve
        })
        held = new Promise<void>((resolve) => {
          release = resolve
        })
        const pending = grant(host, account, here)
        await hashing
        await act()
        release()
        return pending
      },
    }
  }

  it('gets no token when its credential is revoked before the hash is done', async () => {
    const { host, who, account, during } = await rig()
    const reply = await during(() => revoke(host, who, account.id, account.credentialId))
    expect(outcomeOf(reply)).toBe('401 invalid_client')
    expect(outcomeOf(await grant(host, account))).toBe('401 invalid_client')
  })

  it('gets no token when its account is disabled before the hash is done', async () => {
    const { host, who, account, during } = await rig()
    const path = `${accountsPath}/${account.id}`
    const reply = await during(() =>
      host.send('PATCH', path, { bearer: who.bearer, body: { enabled: false } }),
    )
    expect(outcomeOf(reply)).toBe('401 invalid_client')
    await host.send('PATCH', path, { bearer: who.bearer, body: { enabled: true } })
    expect((await grant(host, account)).status).toBe(200)
  })

  it('gets no token when it waited for another one and its credential is revoked meanwhile', async () => {
    const late: (() => Promise<unknown>)[] = []
    let hits = 0
    const { host, who, account, during } = await rig({
      // A second one from there waits until the first one is known to be no failure.
      settings: { ...withoutLimits.settings, grantFailuresPerClient: 1 },
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          if (called === 'counter.hit') hits += 1
          // The secret of the first one is remembered by then.
          if (called === 'counter.forgive') await late.pop()?.()
          return work()
        }),
    })
    const waiting: Promise<Reply>[] = []
    const first = await during(async () => {
      const before = hits
      waiting.push(grant(host, account, here))
      await expect.poll(() => hits - before).toBe(1)
      late.push(() => revoke(host, who, account.id, account.credentialId))
    })
    const [second] = await Promise.all(waiting)
    expect([late, outcomeOf(first)]).toEqual([[], '200'])
    expect(second && outcomeOf(second)).toBe('401 invalid_client')
  })

  it('the note of its use does not revive a credential revoked meanwhile', async () => {
    let release: () => void = () => {}
    const revoked = new Promise<void>((resolve) => {
      release = resolve
    })
    let updates = 0
    const host = await openHost({
      authorizer: peopleMay,
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          if (called !== 'service_account_credentials.update') return work()
          updates += 1
          // The first is the note, which comes beside the grant.
          if (updates === 1) await revoked
          return work()
        }),
    })
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    expect((await grant(host, account)).status).toBe(200)
    await expect.poll(() => updates).toBe(1)
    expect((await revoke(host, who, account.id, account.credentialId)).status).toBe(204)
    release()
    await host.auth.close()
    const credentials = host.backend.store.collection(serviceCredentialsSpec)
    const row = await credentials.get(account.credentialId)
    expect([updates, row?.status, row?.lastUsedAt]).toEqual([2, 'revoked', null])
  })
})
