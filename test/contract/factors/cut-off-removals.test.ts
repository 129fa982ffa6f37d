import assert from 'node:assert/strict'
import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { settingsHost } from '../settings/settings-host.js'

const required = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const

type Factor = 'app' | 'passkey'

/** A user with an app and a passkey, who can show and remove either. */
async function withBoth(host: ContractHost, surface: Surface) {
  const who = await enrolled(host, surface)
  const { bearer } = who
  const on = passkeysOn(host, surface)
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  const at = (path: string) => `/v1/auth/${surface}${path}`
  const show = {
    app: async () => {
      const body = { method: 'totp', code: await who.nextCode() }
      return host.send('POST', at('/step-up'), { bearer, body })
    },
    passkey: () => on.stepUp(bearer, authenticator),
  }
  await show.app()
  const made = await on.register({ bearer }, authenticator)
  assert.equal(made.status, 201, made.text)
  const remove = {
    app: () => host.send('DELETE', at('/mfa/totp'), { bearer }),
    passkey: () => on.remove(bearer, String(made.json()['credentialId'])),
  }
  const proved = async (factor: Factor) => expect(outcomeOf(await show[factor]())).toBe('200')
  const removed = async (factor: Factor) => outcomeOf(await remove[factor]())
  return { proved, removed }
}

eachSurface.describe('a removal cut off before its last write', (surface) => {
  it.each([
    ['app', 'passkey', 'totp_factors'],
    ['passkey', 'app', 'passkeys'],
  ] as const)(
    'leaves the %s out of the count until it is used, and the %s stays as long',
    async (cutOff, other, collection) => {
      let isFailing = true
      const host = await settingsHost({
        wrapBackend: (backend) =>
          withCall(backend, async (called, work) => {
            const isCut = isFailing && called === `${surface}_${collection}.take`
            if (isCut) throw new Error('the store is gone')
            return work()
          }),
      })
      const { proved, removed } = await withBoth(host, surface)
      await proved(other)
      expect(await removed(cutOff)).toBe('503 service_unavailable')
      isFailing = false
      await host.set({ config: required })
      await proved(other)
      expect(await removed(other)).toBe('409 last_factor_required')
      await proved(cutOff)
      expect(await removed(other)).toBe('204')
    },
  )
})
