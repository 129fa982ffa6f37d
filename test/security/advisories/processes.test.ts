import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import type { KeyRing } from '../../../src/index.js'
import { operations } from '../../../src/operations/index.js'
import { rsaPair } from '../../crypto/forge.js'
import { flows } from '../../flows/catalogue.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { refreshCookieOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person, signedInPerson } from '../../support/people/people.js'

/** Two processes over one store: each request goes to the one that did not get the request before. */
async function twoProcesses(options: HostOptions): Promise<ContractHost> {
  const first = await openHost(options)
  const { backend, clock, mailer } = first
  const second = await openHost({ ...options, backend, clock, mailer })
  let sent = 0
  const send: ContractHost['send'] = (...request) => {
    sent += 1
    return sent % 2 === 0 ? first.send(...request) : second.send(...request)
  }
  const close = async () => {
    await second.auth.close()
    await first.auth.close()
  }
  return { ...first, send, auth: { ...first.auth, close } }
}

const walks = flows.map((flow) => {
  const operation = operations.find(({ id }) => id === flow.of)
  return { flow, of: flow.of, name: flow.name, operation }
})

describe('what begins in one process and ends in another', () => {
  it.each(walks)('$of: $name succeeds as in one', async ({ flow, operation }) => {
    const { settings, ...options } = flow.options ?? {}
    const all = { ...withoutLimits.settings, ...settings }
    const host = await twoProcesses({ ...withoutLimits, ...options, settings: all })
    const [surface = 'operator'] = operation?.surfaces ?? []
    const who = await person(host, surface)
    const { step } = await flow.prepare({ host, surface, who, enrolled: null })
    const reply = await step()
    expect([reply.status, reply.text]).toEqual([operation?.status, reply.text])
  })
})

eachSurface.describe('a rotation of the signing key', (surface) => {
  it('signs nobody out: tokens of before go on, and are replaced by tokens of the new key', async () => {
    const [old, next] = [rsaPair().privateKey, rsaPair().privateKey]
    let ring: KeyRing = { current: old }
    const host = await openHost({ keys: async () => ring })
    const who = await signedInPerson(host, surface)
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const kidOf = (token: string) => decodeProtectedHeader(token).kid
    for (const step of [
      { current: old, next },
      { current: next, previous: [old] },
    ]) {
      ring = step
      await host.auth.keys.reload()
      const { bearer, cookie } = who
      expect(outcomeOf(await host.send('GET', at('/me'), { bearer }))).toBe('200')
      expect(outcomeOf(await host.send('GET', at('/session'), { cookie }))).toBe('200')
    }
    const rotated = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
    const fresh = refreshCookieOf(rotated, surface).split('=')[1] ?? ''
    expect([rotated.status, kidOf(fresh) === kidOf(who.refreshToken)]).toEqual([200, false])
    ring = { current: next }
    await host.auth.keys.reload()
    const gone = await host.send('GET', at('/me'), { bearer: who.bearer })
    expect(outcomeOf(gone)).toBe('401')
    const cookie = refreshCookieOf(rotated, surface)
    expect(outcomeOf(await host.send('GET', at('/session'), { cookie }))).toBe('200')
  })
})
