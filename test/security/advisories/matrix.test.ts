import { expect, it } from 'vitest'
import type { IntentKind } from '../../../src/engine/intents.js'
import { memberOf, type OauthHost, oauthHost } from '../../contract/oauth/oauth-host.js'
import type { Reply } from '../../support/hosts/http-client.js'
import type { Family } from './family.js'
import { heldUpFamily, passkeyFamily, ticketFamily } from './login-family.js'
import { mailFamily, registrationFamily } from './mail-family.js'
import { appFamily, flowFamily, linkFamily } from './provider-family.js'
import { machineFamily, sessionFamily } from './session-family.js'

/** Every kind of intent is among them: a new kind does not compile without an artefact of its own. */
const artefactOf: Readonly<Record<IntentKind, string>> = {
  verifyEmail: 'a link that confirms an address',
  register: 'the link of a registration',
  // It hands out nothing: the link is shown again.
  confirmedLink: 'the link of a registration',
  changeEmail: 'a link to another address',
  resetPassword: 'a link for a new password',
  expiredPassword: 'the token of a password that is too old',
  secondFactor: 'the ticket of a login that waits',
  enrollment: 'the ticket of a login without a factor',
  mailedCode: 'the key of a mailed code',
  oauthWeb: 'the state of a flow',
  oauthApp: 'the state of an app',
  oauthLink: 'the state of a link',
  appCode: 'the code of an app',
  passkeyLogin: 'the challenge of a passkey alone',
  passkeySecondFactor: 'the challenge of a passkey after a password',
  passkeyRegistration: 'the challenge of a new passkey',
  passkeyStepUp: 'the challenge of a passkey in a session',
  // It is found by the session or ticket that enrolls it, and hands out nothing of its own.
  totpEnrollment: 'the ticket of a login without a factor',
}

async function openWorld(): Promise<OauthHost> {
  return oauthHost({
    settings: {
      webauthnMode: 'passwordless',
      trustedDeviceClientEnabled: true,
      passwordMaxAge: '365d',
    },
    authorizer: { check: async () => true },
  })
}

/** All of them at one moment; what lives for a minute comes last. */
async function familiesOn(host: OauthHost): Promise<readonly Family[]> {
  return [
    await sessionFamily(host, 'client'),
    await sessionFamily(host, 'operator'),
    await machineFamily(host),
    await registrationFamily(host),
    await mailFamily(host),
    await linkFamily(host),
    await passkeyFamily(host),
    await ticketFamily(host),
    await flowFamily(host),
    await appFamily(host),
    await heldUpFamily(host),
  ]
}

/** A login that goes on to ask for a factor has not taken what was to stand for one. */
function isTaken(reply: Reply): boolean {
  if ([302, 303].includes(reply.status)) return memberOf(reply, 'error') === ''
  return reply.status < 300 && !reply.text.includes('"mfaRequired"')
}

type Artefacts = Family['artefacts']
type Slots = Family['slots']

/** What each artefact comes to in each slot that it is not made for. */
async function misplaced(artefacts: Artefacts, slots: Slots) {
  const taken: string[] = []
  const failed: string[] = []
  let cells = 0
  for (const [what, { value, goodAs }] of Object.entries(artefacts)) {
    for (const [slot, show] of Object.entries(slots)) {
      if (goodAs.includes(slot)) continue
      cells += 1
      const reply = await show(value)
      if (isTaken(reply)) taken.push(`${what} as ${slot}`)
      if (reply.status >= 500) failed.push(`${what} as ${slot}: ${reply.status}`)
    }
  }
  return { taken, failed, cells }
}

/** Those that are no good, by now, in the slot that they are made for. */
async function stale(artefacts: Artefacts, slots: Slots): Promise<readonly string[]> {
  const found: string[] = []
  for (const [what, { value, goodAs }] of Object.entries(artefacts)) {
    const [own = ''] = goodAs
    const reply = await slots[own]?.(value)
    if (reply !== undefined && !isTaken(reply)) found.push(`${what}: ${reply.status} ${reply.text}`)
  }
  return found
}

it('every token, code, key and id is refused in every place but its own, and good in that afterwards', async () => {
  const host = await openWorld()
  const families = await familiesOn(host)
  const artefacts: Artefacts = Object.assign({}, ...families.map((one) => one.artefacts))
  const slots: Slots = Object.assign({}, ...families.map((one) => one.slots))
  expect(Object.keys(artefacts)).toEqual(expect.arrayContaining(Object.values(artefactOf)))
  expect(Object.entries(artefacts).filter(([, { value }]) => value.length < 4)).toEqual([])
  const used = new Set(Object.values(artefacts).flatMap(({ goodAs }) => goodAs))
  expect([...used].sort()).toEqual(Object.keys(slots).sort())

  const { taken, failed, cells } = await misplaced(artefacts, slots)
  expect([taken, failed]).toEqual([[], []])
  expect(cells).toBeGreaterThan(700)
  // All of them were live the whole time, and no slot refuses whatever comes.
  expect(await stale(artefacts, slots)).toEqual([])
})
