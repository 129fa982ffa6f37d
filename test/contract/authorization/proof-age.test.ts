import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Enrolled, enrolled } from '../../support/people/authenticator.js'
import { person, signIn } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/** A host whose authorizer may ask how old the proof is; what it was told, and how often the store was asked. */
async function askingHost(surface: Surface) {
  const seen = { ages: [] as unknown[], asks: false, reads: 0, isAway: false }
  const host = await openHost({
    ...withoutLimits,
    wrapBackend: (backend) =>
      withCall(backend, async (name, work) => {
        if (name !== `${surface}_step_up_proofs.get`) return work()
        seen.reads += 1
        if (seen.isAway) throw new Error('away')
        return work()
      }),
    authorizer: {
      async check({ proofAge }) {
        if (seen.asks) seen.ages.push(await proofAge())
        return true
      },
    },
  })
  const me = (bearer: string) => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
  /** Shows a backup code, so that no time passes. */
  async function prove({ bearer, backupCodes: [code] }: Enrolled): Promise<void> {
    const body = { method: 'backupCode', code }
    const reply = await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer, body })
    expect(outcomeOf(reply)).toBe('200')
  }
  return { host, seen, me, prove }
}

eachSurface.describe('the age of a proof, for the authorizer', (surface) => {
  it('is that of the session which asks, and is read when it is called', async () => {
    const { host, seen, me, prove } = await askingHost(surface)
    const who = await enrolled(host, surface)
    seen.reads = 0
    await me(who.bearer)
    expect(seen.reads).toBe(0)
    seen.asks = true
    await me(who.bearer)
    seen.asks = false
    await prove(who)
    const others = await signIn(host, surface, await person(host, surface))
    await host.clock.advance(90_000)
    seen.asks = true
    await me(who.bearer)
    await me(others.bearer)
    expect(seen.ages).toEqual([null, 90_000, null])
    // A change of factors: what was shown before counts no more.
    const path = `/v1/auth/${surface}/mfa/totp`
    seen.asks = false
    expect(outcomeOf(await host.send('DELETE', path, { bearer: who.bearer }))).toBe('204')
    seen.asks = true
    await me(who.bearer)
    expect(seen.ages.at(-1)).toBeNull()
  })

  it('a store that fails behind it is 503, and no permission', async () => {
    const { host, seen, me } = await askingHost(surface)
    const who = await enrolled(host, surface)
    seen.asks = true
    seen.isAway = true
    expectProblem(await me(who.bearer), 503, 'authorization_unavailable')
  })
})

it('a service account has no session and no proof', async () => {
  const { host, seen } = await askingHost('operator')
  const account = await serviceAccount(host, await administrator(host))
  const bearer = await tokenOf(host, account)
  seen.asks = true
  seen.reads = 0
  await host.send('GET', `${accountsPath}/${account.id}`, { bearer })
  expect([seen.ages, seen.reads]).toEqual([[null], 0])
})
