import assert from 'node:assert/strict'
import { textOf } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, ticketOf } from '../../support/people/authenticator.js'
import {
  comesTo,
  deviceLogin,
  devicesIn,
  finishTrusting,
  type Trusting,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { type Flow, guardedUnavailable, outcomeOf, unavailable } from './flow.js'
import type { World } from './world.js'

const options = { ...withoutLimits, settings: { ...withoutLimits.settings, ...trusting.settings } }

async function trustingIn(world: World): Promise<Trusting> {
  const who = await trustingPerson(world.host, world.surface, 'mobile/login')
  world.adopt(who.id)
  return who
}

const signsIn: Flow = {
  name: '/mobile/login from a trusted device',
  options,
  expects: '200',
  unavailable,
  async prepare(world) {
    const who = await trustingIn(world)
    const { email, password, deviceToken } = who
    const body = { email, password, deviceToken }
    return {
      send: async () => outcomeOf(await world.send('POST', '/mobile/login', { body })),
      async reached() {
        const reply = await world.send('POST', '/mobile/login', { body })
        assert.equal(comesTo(reply), 'authenticated')
      },
    }
  },
}

const trustsAtLogin: Flow = {
  name: '/login/mfa with the device to be trusted',
  options,
  expects: '200',
  unavailable,
  // The code is spent or the ticket is; and a login that stands may have left no grant.
  ends: () => ['401 invalid_mfa_code', '401 mfa_ticket_invalid'],
  async prepare(world) {
    const who = await enrolled(world.host, world.surface)
    world.adopt(who.id)
    const mfaToken = await ticketOf(world.host, world.surface, who, 'mobile/login')
    const code = await who.nextCode()
    let token: unknown
    return {
      async send() {
        const reply = await finishTrusting(world.host, world.surface, mfaToken, code)
        if (reply.status === 200) token = reply.json()['deviceToken']
        return outcomeOf(reply)
      },
      async reached() {
        if (typeof token !== 'string') return
        const reply = await deviceLogin(world.host, world.surface, who, token, 'mobile/login')
        assert.equal(comesTo(reply), 'authenticated')
      },
    }
  },
}

const trusts: Flow = {
  name: '/devices, with twenty of them',
  options,
  expects: '201',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const who = await trustingIn(world)
    const { trustedBearer: bearer } = who
    const headers = { 'x-token-delivery': 'body' }
    const trust = () => world.send('POST', '/devices', { bearer, headers })
    for (let count = 1; count < 20; count += 1) {
      await world.host.clock.advance(1)
      await trust()
    }
    await world.host.clock.advance(1)
    let token = ''
    return {
      async send() {
        const reply = await trust()
        if (reply.status === 201) token = textOf(reply.json(), 'deviceToken')
        return outcomeOf(reply)
      },
      async reached() {
        const reply = await deviceLogin(world.host, world.surface, who, token, 'mobile/login')
        assert.equal(comesTo(reply), 'authenticated')
        assert.ok((await devicesIn(world.host, world.surface, who.id)).length <= 20)
      },
    }
  },
}

const lists: Flow = {
  name: 'GET /devices',
  options,
  expects: '200',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const { trustedBearer: bearer, deviceToken } = await trustingIn(world)
    const list = () => world.send('GET', '/devices', { bearer })
    return {
      send: async () => outcomeOf(await list()),
      async reached() {
        assert.ok((await list()).text.includes(deviceToken.split('.')[0] ?? 'no id'))
      },
    }
  },
}

const revokes: Flow = {
  name: 'DELETE /devices/{deviceId}',
  options,
  expects: '204',
  unavailable: guardedUnavailable,
  // It is gone: nobody is trusted by it any more.
  ends: () => ['404 device_not_found'],
  async prepare(world) {
    const who = await trustingIn(world)
    const { trustedBearer: bearer, deviceToken } = who
    const path = `/devices/${deviceToken.split('.')[0]}`
    return {
      send: async () => outcomeOf(await world.send('DELETE', path, { bearer })),
      async reached() {
        const { host, surface } = world
        const reply = await deviceLogin(host, surface, who, deviceToken, 'mobile/login')
        assert.equal(comesTo(reply), 'mfaRequired')
      },
    }
  },
}

export const deviceFlows: readonly Flow[] = [signsIn, trustsAtLogin, trusts, lists, revokes]
