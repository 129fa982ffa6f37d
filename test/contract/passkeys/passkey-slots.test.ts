import { expect, it } from 'vitest'
import { storePasskey } from '../../../src/domain/passkeys/passkeys.js'
import { maxPasskeys } from '../../../src/model/factors.js'
import { eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { testContext } from '../../support/test-context.js'

const full = '409 factor_already_enrolled'

eachStore.describe('the passkeys of a user', (kind) => {
  it('forty that are stored at once become twenty', async () => {
    const host = await openHost(withoutLimits, kind)
    const collections = storedIn(host, 'client')
    const holder = await passkeyHolder(host, 'client')
    const taken = await collections.passkeys.take(holder.credentialId)
    if (taken === null) throw new Error('it was stored')
    const { slot: _, ...passkey } = taken
    const ctx = { ...(await testContext()), collections }
    const stores = Array.from({ length: 40 }, (_each, index) =>
      storePasskey(ctx, { ...passkey, id: `key-${index}`, lastChallenge: `${index}` }),
    )
    const outcomes = await Promise.allSettled(stores)
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toHaveLength(40 - maxPasskeys)
    for (const reason of refused) expect(reason).toMatchObject({ code: 'factor_already_enrolled' })
    const { userId } = passkey
    const stored = await collections.passkeys.find({ userId }, { limit: 100 })
    expect(stored.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: maxPasskeys }, (_each, slot) => slot),
    )
    // One that is stored already stays, whatever the store said of it.
    const [again] = stored
    if (again === undefined) throw new Error('it was stored')
    await expect(storePasskey(ctx, again)).rejects.toMatchObject({
      code: 'factor_already_enrolled',
    })
    await collections.passkeys.take(`${stored.at(-1)?.id}`)
    await storePasskey(ctx, again)
  })
})

eachSurface.describe('the twentieth passkey', (surface) => {
  it('of two whose registrations cross, the user has one at no time more', async () => {
    let crossing: (() => Promise<void>) | null = null
    const host = await openHost({
      ...withoutLimits,
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          const cross = called === `${surface}_passkeys.insert` ? crossing : null
          if (cross !== null) crossing = null
          await cross?.()
          return work()
        }),
    })
    const who = await passkeyHolder(host, surface)
    const { passkeys } = storedIn(host, surface)
    const first = await passkeys.get(who.credentialId)
    if (first === null) throw new Error('it was stored')
    for (let more = 1; more < maxPasskeys - 1; more += 1) {
      await passkeys.insert({ ...first, id: `${more}`, slot: more, publicKey: 'none' })
    }
    const on = passkeysOn(host, surface)
    const { bearer } = who
    await on.stepUp(bearer, who.authenticator)
    const authenticator = () => softwareAuthenticator({ origin: origins[surface] })
    const counts: number[] = []
    const count = async () =>
      counts.push((await passkeys.find({ userId: first.userId }, { limit: 100 })).length)
    crossing = async () => {
      // The claim of the other one voids the proof; the user shows the first passkey again.
      await on.stepUp(bearer, who.authenticator)
      expect(outcomeOf(await on.register({ bearer }, authenticator()))).toBe('201')
      await count()
    }
    const begun = JSON.parse((await on.startRegistration({ bearer })).text)
    const response = authenticator().create(begun.options)
    const late = await on.finishRegistration({ bearer }, begun.challengeId, response)
    await count()
    expect([outcomeOf(late), counts]).toEqual([full, [maxPasskeys, maxPasskeys]])
    const listed = JSON.parse((await on.list(bearer)).text)
    expect(listed.items).toHaveLength(maxPasskeys)
  })
})
