import { expect, it } from 'vitest'
import { memberOf, oauthHost } from '../../contract/oauth/oauth-host.js'
import type { Reply } from '../../support/hosts/http-client.js'
import type { Family } from './family.js'
import { heldUpFamily, passkeyFamily, ticketFamily } from './login-family.js'
import { mailFamily, registrationFamily } from './mail-family.js'
import { appFamily, flowFamily } from './provider-family.js'
import { machineFamily, sessionFamily } from './session-family.js'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long each may be shown, by the slot that it is made for. A client secret has no end. */
const lives: Readonly<Record<string, number>> = {
  'code of an app': minute,
  'verifier of an app': minute,
  'ticket beside a code': 5 * minute,
  'ticket of an enrolment': 5 * minute,
  'passkey challenge': 5 * minute,
  'state of a flow': 10 * minute,
  'cookie of a flow': 10 * minute,
  'key beside a mailed code': 10 * minute,
  'bearer on client': 15 * minute,
  'bearer on operator': 15 * minute,
  'bearer of the administration': 15 * minute,
  'token of a reset': hour,
  'link of the session that asked': day,
  'link in the browser that registered': day,
  'registration cookie': day,
  'link with a new password': day,
  'refresh cookie on client': 7 * day,
  'refresh cookie on operator': 7 * day,
  'refresh token in a body on client': 7 * day,
  'refresh token in a body on operator': 7 * day,
  'device cookie': 30 * day,
}

const isTaken = (reply: Reply): boolean =>
  [302, 303].includes(reply.status)
    ? memberOf(reply, 'error') === ''
    : reply.status < 300 && !reply.text.includes('"mfaRequired"')

it('whatever has an end is refused from then on, in a process that sweeps nothing away', async () => {
  const settings = {
    webauthnMode: 'passwordless',
    trustedDeviceClientEnabled: true,
    passwordMaxAge: '365d',
    sessionAbsoluteTTL: '720h',
  } as const
  // Nothing is swept in tests that do not ask for it.
  const authorizer = { check: async () => true }
  const host = await oauthHost({ settings, authorizer })
  const families: readonly Family[] = [
    await sessionFamily(host, 'client'),
    await sessionFamily(host, 'operator'),
    await machineFamily(host),
    await registrationFamily(host),
    await mailFamily(host),
    await passkeyFamily(host),
    await ticketFamily(host),
    await flowFamily(host),
    await appFamily(host),
    await heldUpFamily(host),
  ]
  const slots: Family['slots'] = Object.assign({}, ...families.map((one) => one.slots))
  const all = families.flatMap((one) => Object.entries(one.artefacts))
  const mortal = all.flatMap(
    ([
      what,
      {
        value,
        goodAs: [slot = ''],
      },
    ]) => {
      const life = lives[slot]
      return life === undefined ? [] : [{ what, value, slot, life }]
    },
  )
  const known = new Set([...Object.keys(lives), 'client secret'])
  const unnamed = all.filter(
    ([
      ,
      {
        goodAs: [slot],
      },
    ]) => slot !== undefined && !known.has(slot),
  )
  expect(unnamed.map(([what]) => what)).toEqual([])
  expect(mortal.length).toBeGreaterThan(20)

  const begun = host.clock.now()
  const alive: string[] = []
  for (const { what, value, slot, life } of mortal.toSorted((a, b) => a.life - b.life)) {
    await host.clock.advance(Math.max(0, begun + life - host.clock.now()))
    const reply = await slots[slot]?.(value)
    if (reply === undefined || isTaken(reply)) alive.push(`${what} after ${life} ms`)
  }
  expect(alive).toEqual([])
})
