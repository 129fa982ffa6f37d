import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { person } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'
import { pathways, pathwaysOn } from './pathways.js'

/** A token that the reply gives in its body or as a cookie. */
function tokenIn(reply: Reply): string {
  const cookie = reply.setCookies.find((one) => /_refresh=[^;]/.test(one))
  if (cookie !== undefined) return cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'))
  const body = reply.json()
  return String(body['accessToken'] ?? body['access_token'])
}

eachSurface.describe((surface) => {
  const giving = pathwaysOn(surface).filter(({ cells }) => cells.nothing === 'tokens')

  it.each(giving)('$flow.of, $flow.name: the token names what was shown', async (way) => {
    const host = await settingsHost(way.flow.options ?? {})
    const who = await person(host, surface)
    const { step } = await way.flow.prepare({ host, surface, who, enrolled: null })
    expect(decodeJwt(tokenIn(await step()))['amr']).toEqual(way.strength?.amr)
  })
})

describe('the strength of a way', () => {
  it('is said of each that is let in, and of no other', () => {
    for (const { flow, strength, cells } of pathways) {
      const isLetIn = /^(tokens|verified|204)$/.test(String(cells.nothing))
      expect([flow.name, strength !== null]).toEqual([flow.name, isLetIn])
      if (strength !== null) expect(strength.amr !== null).toBe(cells.nothing === 'tokens')
    }
  })

  it('is two factors exactly where the token says so, and more than level 1 nowhere else', () => {
    for (const { flow, strength } of pathways) {
      const isMulti = strength?.amr?.includes('mfa') ?? false
      expect([flow.name, strength?.factors === 2]).toEqual([flow.name, isMulti])
      if (strength?.aal === 2) expect(strength.factors).toBe(2)
    }
  })

  it('of one factor is not enough for an account with two, except from a trusted device', () => {
    for (const { flow, strength, cells } of pathways) {
      if (strength?.factors !== 1 || strength.aal === null) continue
      if (typeof cells['a second factor'] !== 'string' || / from a trusted /.test(flow.name))
        continue
      expect([flow.name, cells['a second factor']]).toEqual([flow.name, 'mfaRequired'])
    }
  })
})
