import { enrolled, ticketOf } from '../../support/people/authenticator.js'
import {
  deviceLogin,
  finishTrusting,
  type Trusting,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { type Scenario, sessionOf, told } from './event-scenario.js'

const options = trusting
const idOf = ({ deviceToken }: Trusting): string => deviceToken.split('.')[0] ?? ''

/** Every way a device comes to be trusted, stands for a second factor, and is trusted no more. */
export const deviceScenarios: readonly Scenario[] = [
  {
    of: 'completeLoginMfa',
    name: 'with the device to be trusted',
    outcome: '200',
    options,
    tells: ({ id }) => [
      told('login.succeeded', 'success', { userId: id, mfaMethod: 'totp', deviceId: null }),
      told('device.trusted', 'success', { userId: id }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const code = await who.nextCode()
      return { subject: who, perform: () => finishTrusting(host, surface, mfaToken, code) }
    },
  },
  {
    of: 'login',
    name: 'from a trusted device',
    outcome: '200',
    options,
    tells: ({ id, sessionId }) => [
      told('login.succeeded', 'success', {
        userId: id,
        method: 'password',
        mfaMethod: null,
        amr: ['pwd'],
        deviceId: sessionId,
      }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await trustingPerson(host, surface)
      // The device takes the place of the session, which is not known yet.
      const subject = { id: who.id, sessionId: idOf(who) }
      return { subject, perform: () => deviceLogin(host, surface, who, who.deviceToken, 'login') }
    },
  },
  {
    of: 'trustDevice',
    name: 'with a proof',
    outcome: '201',
    options,
    tells: ({ id }) => [told('device.trusted', 'success', { userId: id })],
    prepare: async ({ host, surface, post }) => {
      const who = await trustingPerson(host, surface)
      const bearer = who.trustedBearer
      return {
        subject: who,
        perform: () => post('/devices', { bearer, body: { name: 'the laptop' } }),
      }
    },
  },
  {
    of: 'revokeTrustedDevice',
    name: 'one’s own',
    outcome: '204',
    options,
    tells: ({ id, sessionId }) => [told('device.revoked', 'success', { userId: id, sessionId })],
    prepare: async ({ host, surface }) => {
      const who = await trustingPerson(host, surface)
      const path = `/v1/auth/${surface}/devices/${idOf(who)}`
      return {
        subject: { id: who.id, sessionId: sessionOf(who.trustedBearer) },
        perform: () => host.send('DELETE', path, { bearer: who.trustedBearer }),
      }
    },
  },
]
