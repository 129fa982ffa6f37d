import { expect, it } from 'vitest'
import { codeMethod } from '../../../src/engine/accounts.js'
import { providerIds } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import { type Person, person } from '../../support/people/people.js'
import { type OauthHost, oauthHost, storeSettings } from '../oauth/oauth-host.js'
import { type FirstFactor, firstFactors, type Led } from './first-factors.js'

const policies = ['off', 'optional', 'required'] as const
type Policy = (typeof policies)[number]

/** What an account may be, whichever way its person comes. */
const states = { proved: null, unproved: { emailVerifiedAt: null }, disabled: { enabled: false } }
type State = keyof typeof states

interface Cell {
  readonly policy: Policy
  readonly hasFactor: boolean
  readonly state: State
}

/** What a first factor leads to. It is the same for all of them, but for what a mailed code proves. */
function expected({ method }: FirstFactor, { policy, hasFactor, state }: Cell): string {
  const isOfProvider = method !== 'password' && method !== codeMethod
  if (state === 'disabled') return isOfProvider ? 'oauth_failed' : 'invalid_credentials'
  if (state === 'unproved' && method !== codeMethod) return 'email_not_verified'
  if (hasFactor) return policy === 'off' ? 'authenticated' : 'mfaRequired'
  return policy === 'required' ? 'mfaEnrollmentRequired' : 'authenticated'
}

interface Walker extends Person {
  readonly nextCode?: () => Promise<string>
}

/** Ends the login by an authenticator app where it waits for one; the access token, or null without. */
async function bearerOf(
  host: OauthHost,
  surface: Surface,
  { nextCode }: Walker,
  { status, mfaToken, cookie, bearer }: Led,
): Promise<string | null> {
  if (status !== 'mfaRequired') return bearer
  const reply = await host.send('POST', `/v1/auth/${surface}/login/mfa`, {
    body: { mfaToken, method: 'totp', code: await nextCode?.() },
    ...(cookie === null ? {} : { cookie }),
  })
  return textOf(reply.json(), 'accessToken')
}

/** What a session gets where a second factor is asked for again: one that showed it, and one that did not. */
function expectedOfStepUp({ policy, hasFactor }: Cell): string {
  if (!hasFactor) return '403 mfa_enrollment_required'
  return policy === 'off' ? '403 step_up_required' : '201'
}

async function walkerIn(host: OauthHost, surface: Surface, { hasFactor, state }: Cell) {
  const who: Walker = hasFactor ? await enrolled(host, surface) : await person(host, surface)
  const change = states[state]
  if (change !== null) {
    await storedIn(host, surface).users.update(who.id, { enabled: true }, change)
  }
  return who
}

const cells = policies.flatMap((policy) =>
  [true, false].flatMap((hasFactor) =>
    (['proved', 'unproved', 'disabled'] as const).map((state) => ({ policy, hasFactor, state })),
  ),
)

it('goes through every first factor that there is', () => {
  const methods = new Set(Object.values(firstFactors).map(({ method }) => method))
  expect([...methods].sort()).toEqual(['password', codeMethod, ...providerIds].sort())
})

eachSurface.describe('whichever way somebody signs in', (surface) => {
  it.each(cells)(
    'the policy, the factor and the account decide alike: $policy, factor $hasFactor, $state',
    async (cell) => {
      const host = await oauthHost()
      const named = Object.entries(firstFactors)
      const walkers = []
      for (const [name, first] of named) {
        walkers.push({ name, first, who: await walkerIn(host, surface, cell) })
      }
      const { policy } = cell
      await storeSettings(host, { mfaPolicyOperator: policy, mfaPolicyClient: policy })
      for (const { name, first, who } of walkers) {
        const led = await first.show(host, surface, who)
        expect([name, led.status]).toEqual([name, expected(first, cell)])
        const bearer = await bearerOf(host, surface, who, led)
        const isIn = led.status === 'authenticated' || led.status === 'mfaRequired'
        expect([name, bearer !== null]).toEqual([name, isIn])
        if (bearer === null) continue
        const again = await host.send('POST', `/v1/auth/${surface}/mfa/backup-codes`, {
          bearer,
          body: {},
        })
        expect([name, outcomeOf(again)]).toEqual([name, expectedOfStepUp(cell)])
      }
    },
  )
})
