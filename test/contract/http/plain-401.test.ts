import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { forge, rsaPair } from '../../crypto/forge.js'
import { expectHouseHeaders } from '../../support/hosts/expectations.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'

const lifetime = 15 * 60_000

eachSurface.it(
  'an access token that is missing, malformed, forged or expired is a plain 401',
  async (surface) => {
    const host = await openHost(withoutLimits)
    const { bearer, refreshToken } = await signedInPerson(host, surface)
    const [header, payload, signature = ''] = bearer.split('.')
    const claims = decodeJwt(bearer)
    const others = forge({ ...decodeProtectedHeader(bearer) }, claims, rsaPair().privateKey)
    const presented: Readonly<Record<string, string | null>> = {
      missing: null,
      'an empty header': '',
      'no token': 'Bearer',
      'another scheme': `Basic ${bearer}`,
      'no JWT': 'Bearer not-a-token',
      'a signature cut short': `Bearer ${header}.${payload}.${signature.slice(0, -8)}`,
      'no signature': `Bearer ${header}.${payload}.`,
      'a signature of another key': `Bearer ${others}`,
      'other claims': `Bearer ${header}.${btoa(JSON.stringify({ ...claims, sub: 'x' }))}.${signature}`,
      'a refresh token': `Bearer ${refreshToken}`,
    }
    const guarded = operations.filter(
      ({ access, surfaces: on }) => access !== 'public' && on.includes(surface),
    )
    expect(guarded.length).toBeGreaterThan(15)
    const ask = async (one: (typeof guarded)[number], authorization: string | null) => {
      const url = one.path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, 'x')
      // Without a token, an enrolment takes the ticket of a login.
      const body = one.access === 'enrolling' ? { body: { mfaToken: 'x', code: '123456' } } : {}
      if (authorization === null && one.access === 'enrolling') return null
      return host.send(one.method, url, {
        ...(one.method === 'GET' ? {} : { body: {} }),
        ...body,
        headers: authorization === null ? {} : { authorization },
      })
    }
    const expectPlain = async (
      one: (typeof guarded)[number],
      name: string,
      shown: string | null,
    ) => {
      const reply = await ask(one, shown)
      if (reply === null) return
      expect([one.id, name, reply.status]).toEqual([one.id, name, 401])
      expect(Object.keys(reply.json()).sort()).toEqual(['detail', 'status', 'title'])
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
      expect(reply.setCookies).toEqual([])
      expectHouseHeaders(reply)
    }
    for (const one of guarded) {
      for (const [name, shown] of Object.entries(presented)) await expectPlain(one, name, shown)
    }
    await host.clock.advance(lifetime - 1)
    const good = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect(good.status).toBe(200)
    await host.clock.advance(1)
    for (const one of guarded) await expectPlain(one, 'expired', `Bearer ${bearer}`)
  },
)
