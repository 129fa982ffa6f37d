import { execFileSync } from 'node:child_process'
import { describe, expect } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { finish, ticketOf } from '../../support/people/authenticator.js'
import { signedInPerson } from '../../support/people/people.js'

/** Debian's `oathtool`: an authenticator that shares no line with the library's. */
function oathtool(secret: string, atMs: number): string {
  const now = new Date(atMs).toISOString().replace('T', ' ').replace(/\..*$/, ' UTC')
  return execFileSync('oathtool', ['--totp', '--base32', `--now=${now}`, secret], {
    encoding: 'utf8',
  }).trim()
}

const present = (() => {
  try {
    return oathtool('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 59_000) === '287082'
  } catch {
    return false
  }
})()

describe.skipIf(!present)('the codes of oathtool', () => {
  eachSurface.it('each is accepted once (RFC 6238)', async (surface) => {
    const host = await openHost({ ...withoutLimits, settings: { totpSkewSteps: 1 } })
    const who = await signedInPerson(host, surface)
    const base = `/v1/auth/${surface}/mfa/totp`
    const { bearer } = who
    const begun = await host.send('POST', base, {
      bearer,
      body: { currentPassword: who.password },
    })
    const secret = textOf(begun.json(), 'secret')
    const shown = (steps = 0) => oathtool(secret, host.clock.now() + steps * 30_000)
    const confirm = (code: string) =>
      host.send('POST', `${base}/confirm`, { bearer, body: { code } })
    // Codes outside the tolerance first: they confirm nothing.
    expect(outcomeOf(await confirm(shown(-2)))).toBe('401 invalid_mfa_code')
    expect(outcomeOf(await confirm(shown(2)))).toBe('401 invalid_mfa_code')
    expect(outcomeOf(await confirm(shown()))).toBe('200')

    const login = async (code: string) =>
      outcomeOf(await finish(host, surface, await ticketOf(host, surface, who), code))
    // The one that confirmed the app is used up.
    expect(await login(shown())).toBe('401 invalid_mfa_code')
    for (let step = 0; step < 3; step += 1) {
      await host.clock.advance(30_000)
      const code = shown()
      expect(await login(code)).toBe('200')
      expect(await login(code)).toBe('401 invalid_mfa_code')
    }
    const ahead = shown(1)
    expect(await login(ahead)).toBe('200')
    // Once a step was accepted, no earlier one is: the clock that is behind waits.
    expect(await login(shown())).toBe('401 invalid_mfa_code')
    await host.clock.advance(30_000)
    expect(await login(ahead)).toBe('401 invalid_mfa_code')
  })
})
