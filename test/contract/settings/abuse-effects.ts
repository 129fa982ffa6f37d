import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import { newAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person } from '../../support/people/people.js'
import { changePassword, login, post } from './actions.js'
import type { Effect, Effects } from './effect.js'
import { type SettingsHost, webhookSecret, webhookUrl } from './settings-host.js'

const second = 1000
const minute = 60 * second

const loginRate: Effect = {
  when: [
    ['3', '200, 200, 200, 429 rate_limited'],
    ['4', '200, 200, 200, 200'],
  ],
  async see(host, surface) {
    const { email, password } = await person(host, surface)
    const headers = { 'x-forwarded-for': newAddress() }
    const outcomes: string[] = []
    for (let n = 0; n < 4; n += 1) {
      const reply = await post(host, surface, '/login', { email, password }, { headers })
      outcomes.push(outcomeOf(reply))
    }
    return outcomes.join(', ')
  },
}

/** Wrong passwords from many addresses, a pause, and the right one. */
async function lockedAfter(host: SettingsHost, surface: Surface, waitMs: number): Promise<string> {
  const who = await person(host, surface)
  for (let n = 0; n < 3; n += 1) await login(host, surface, who, 'not the password at all')
  await host.clock.advance(waitMs)
  return outcomeOf(await login(host, surface, who))
}

/** Grants that fail, one after the other; on the client surface there is no such door. */
async function grants(
  host: SettingsHost,
  surface: Surface,
  clientId: () => string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const path = surface === 'operator' ? '/v1/auth/token' : '/v1/auth/client/token'
  const outcomes: string[] = []
  for (let n = 0; n < 4; n += 1) {
    const body = { grantType: 'client_credentials', clientId: clientId(), clientSecret: 'sas_x' }
    outcomes.push(outcomeOf(await host.send('POST', path, { body, headers })))
  }
  return outcomes.join(', ')
}

let clients = 0

function newClient(): string {
  clients += 1
  return `sa_${String(clients).padStart(22, '0')}`
}

const failed = '401 invalid_client, 401 invalid_client, 401 invalid_client'
const grantFailures = [
  ['3', `${failed}, 429 rate_limited`],
  ['4', `${failed}, 401 invalid_client`],
] as const

/** The group Anti-abuse & Notifications. */
export const abuseEffects: Effects = {
  loginRateOperator: loginRate,
  loginRateClient: loginRate,
  lockoutThreshold: {
    when: [
      ['3', '429 rate_limited'],
      ['4', '200'],
      ['0', '200'],
    ],
    see: (host, surface) => lockedAfter(host, surface, 0),
  },
  lockoutDuration: {
    when: [
      [{ config: { lockoutThreshold: '3', lockoutDuration: '1m' } }, '200'],
      ['2m', '429 rate_limited'],
    ],
    see: (host, surface) => lockedAfter(host, surface, minute + second),
  },
  grantFailuresPerIp: {
    when: grantFailures,
    see: (host, surface) => grants(host, surface, newClient, { 'x-forwarded-for': newAddress() }),
  },
  grantFailuresPerClient: {
    when: grantFailures,
    async see(host, surface) {
      const clientId = newClient()
      return grants(host, surface, () => clientId, { 'x-forwarded-for': newAddress() })
    },
  },
  notifySecurityChanges: {
    when: [
      ['true', '1 mail'],
      ['false', '0 mail'],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      assert.equal(await changePassword(host, surface, who, [goodPassword, otherPassword]), '204')
      await host.auth.close() // mail is sent beside the request
      return `${host.mailer.count(who.email)} mail`
    },
  },
  securityWebhooks: {
    when: [
      [
        {
          recordLists: [{ field: 'securityWebhooks', create: ['siem'], remove: [] }],
          config: {
            'securityWebhooks.siem.url': webhookUrl,
            'securityWebhooks.siem.signingSecret': webhookSecret,
            'securityWebhooks.siem.events': 'login',
          },
        },
        'told of login.succeeded',
      ],
      [{ config: { 'securityWebhooks.siem.events': 'account' } }, 'told of password.changed'],
      [
        { recordLists: [{ field: 'securityWebhooks', create: [], remove: ['siem'] }] },
        'told of nothing',
      ],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      await changePassword(host, surface, who, [goodPassword, otherPassword])
      await host.auth.close() // events are delivered beside the request
      const own = host.endpoints.received.filter(({ body }) => body['userId'] === who.id)
      const told = own.map(({ body }) => String(body['type']))
      return `told of ${told.join(', ') || 'nothing'}`
    },
  },
}
