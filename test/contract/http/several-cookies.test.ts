import { describe, expect, it } from 'vitest'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { signedInPerson, signIn } from '../../support/people/people.js'

const second = 1000
const domain = 'example.com'
const wide = {
  operator: { baseUrl: 'https://admin.example.com', cookieDomain: domain },
  client: { baseUrl: 'https://app.example.com', cookieDomain: domain },
}
const at = (path: string): string => `/v1/auth/client${path}`
const name = '__Secure-cl_refresh'

const shown = ({ status, code, headers }: Reply) =>
  [status, code ?? headers.get('x-refresh-outcome')].filter(Boolean).join(' ')

/** The domain of each line, and whether it sets or clears. The marker goes the same way. */
function linesOf({ setCookies }: Reply) {
  const linesFor = (kind: string) =>
    setCookies
      .filter((one) => one.startsWith(`__Secure-cl_${kind}=`))
      .map((one) => {
        const [, value = '', of = 'host'] = /^[^=]+=([^;]*).*?(?:Domain=([^;]+)|$)/.exec(one) ?? []
        return `${value === '' ? 'clears' : 'sets'} ${of}`
      })
  const lines = linesFor('refresh')
  expect(linesFor('signed_in')).toEqual(lines)
  return lines
}

const elsewhere = ['clears host', 'clears app.example.com']

describe('several refresh cookies of one name', () => {
  const open = () => openHost({ surfaces: wide })
  const refresh = (host: ContractHost, ...cookies: readonly string[]) =>
    host.send('POST', at('/refresh-cookie'), { cookie: cookies.join('; ') })
  const session = (host: ContractHost, ...cookies: readonly string[]) =>
    host.send('GET', at('/session'), { cookie: cookies.join('; ') })

  it.each(['first', 'last'] as const)(
    'a retired one that stands %s is neither used nor misuse, and goes',
    async (place) => {
      const host = await open()
      const { cookie: old } = await signedInPerson(host, 'client')
      const newest = refreshCookieOf(await refresh(host, old), 'client')
      await host.clock.advance(11 * second)
      const both = place === 'first' ? [old, newest] : [newest, old]
      const seen = await session(host, ...both)
      expect([shown(seen), seen.setCookies]).toEqual(['200', []])
      const next = await refresh(host, ...both)
      expect([shown(next), linesOf(next)]).toEqual([
        '200 rotated',
        [...elsewhere, 'sets example.com'],
      ])
      expect(host.events.map(({ type }) => type)).not.toContain('refresh.replayDetected')
    },
  )

  it('ten copies of another person’s token do not push the owner’s aside', async () => {
    const host = await open()
    const [owner, other] = [
      await signedInPerson(host, 'client'),
      await signedInPerson(host, 'client'),
    ]
    const planted = Array.from({ length: 10 }, () => other.cookie)
    expect(shown(await session(host, ...planted, owner.cookie))).toBe('401')
  })

  it('of two logins of one person the newer one counts', async () => {
    const host = await open()
    const who = await signedInPerson(host, 'client')
    await host.clock.advance(second)
    const { cookie, bearer } = await signIn(host, 'client', who)
    expect(shown(await refresh(host, cookie, who.cookie))).toBe('200 rotated')
    const out = await host.send('POST', at('/logout'), { cookie: `${who.cookie}; ${cookie}` })
    // The newer token is retired within its window, and still of the newer session.
    expect([shown(out), linesOf(out)]).toEqual(['204', [...elsewhere, 'clears example.com']])
    expect((await host.send('GET', at('/me'), { bearer })).code).toBe('session_revoked')
    expect((await host.send('GET', at('/me'), { bearer: who.bearer })).status).toBe(200)
  })

  it.each([
    ['is junk', async () => 'x.y.z'],
    ['is empty', async () => ''],
    [
      'is of the other surface',
      async (host: ContractHost) => (await signedInPerson(host, 'operator')).refreshToken,
    ],
    ['is an access token', async (_: ContractHost, bearer: string) => bearer],
  ])('one that %s shuts nobody out', async (_, plant) => {
    const host = await open()
    const who = await signedInPerson(host, 'client')
    const planted = `${name}=${await plant(host, who.bearer)}`
    for (const cookies of [
      [planted, who.cookie],
      [who.cookie, planted],
    ]) {
      expect(shown(await session(host, ...cookies))).toBe('200')
    }
    const next = await refresh(host, planted, who.cookie)
    expect([shown(next), linesOf(next)]).toEqual([
      '200 rotated',
      [...elsewhere, 'sets example.com'],
    ])
  })

  it.each(['live', 'idle', 'ended'] as const)(
    'one of another person is not signed in with, whatever became of a session that is %s',
    async (state) => {
      const host = await open()
      const who = await signedInPerson(host, 'client')
      if (state === 'idle') await host.clock.advance(8 * 24 * 3600 * second)
      if (state === 'ended') await host.auth.client.terminateSessionsOf(who.id)
      const attacker = await signedInPerson(host, 'client')
      for (const cookies of [
        [attacker.cookie, who.cookie],
        [who.cookie, attacker.cookie],
      ]) {
        const seen = await session(host, ...cookies)
        expect([seen.status, seen.code]).toEqual([401, undefined])
        // All of them go, so that the next login is not in their way.
        expect(linesOf(seen)).toEqual([...elsewhere, 'clears example.com'])
        expect((await refresh(host, ...cookies)).status).toBe(401)
      }
      expect(shown(await refresh(host, attacker.cookie))).toBe('200 rotated')
    },
  )

  it.each(['first', 'last'] as const)(
    'a logout ends the owner’s session, and that of a planted cookie that stands %s',
    async (place) => {
      const host = await open()
      const who = await signedInPerson(host, 'client')
      const elsewhere = await signIn(host, 'client', who)
      const attacker = await signedInPerson(host, 'client')
      const both = place === 'first' ? [attacker.cookie, who.cookie] : [who.cookie, attacker.cookie]
      // The newest of the owner's, as of one person alone.
      const out = await host.send('POST', at('/logout'), { cookie: both.join('; ') })
      expect([shown(out), linesOf(out)]).toEqual([
        '204',
        ['clears host', 'clears app.example.com', 'clears example.com'],
      ])
      const codes = await Promise.all(
        [who, attacker].map(
          async ({ bearer }) => (await host.send('GET', at('/me'), { bearer })).code,
        ),
      )
      expect(codes).toEqual(['session_revoked', 'session_revoked'])
      expect((await host.send('GET', at('/me'), elsewhere)).status).toBe(200)
    },
  )

  it('a planted cookie of a session that was ended makes no logout everywhere look refused', async () => {
    const host = await open()
    const owner = await signedInPerson(host, 'client')
    const elsewhere = await signIn(host, 'client', owner)
    const planter = await signedInPerson(host, 'client')
    await host.send('POST', at('/logout'), { cookie: planter.cookie })
    await signIn(host, 'client', planter)
    const cookie = `${planter.cookie}; ${owner.cookie}`
    const body = { everywhere: true }
    const out = await host.send('POST', at('/logout'), { cookie, body })
    expect(shown(out)).toBe('204')
    expect(shown(await refresh(host, elsewhere.cookie))).toBe('401 session_revoked')
    const alone = await host.send('POST', at('/logout'), { cookie: planter.cookie, body })
    expect(shown(alone)).toBe('401 session_revoked')
  })

  it('one of the other surface keeps no session from its logout', async () => {
    const host = await open()
    const who = await signedInPerson(host, 'client')
    const { refreshToken } = await signedInPerson(host, 'operator')
    const cookie = `${name}=${refreshToken}`
    const out = await host.send('POST', at('/logout'), { bearer: who.bearer, cookie })
    expect(shown(out)).toBe('204')
    const again = await host.send('GET', at('/me'), { bearer: who.bearer })
    expect(again.code).toBe('session_revoked')
    const alone = await host.send('POST', at('/logout'), { cookie })
    expect(alone.code).toBe('audience_mismatch')
  })

  it('any number of what is none pushes the owner’s not aside, and costs no verification', async () => {
    const host = await open()
    const who = await signedInPerson(host, 'client')
    const junk = Array.from({ length: 50 }, (_, n) => `${name}=a.b.${n}`)
    expect((await session(host, ...junk, who.cookie)).status).toBe(200)
    expect((await session(host, who.cookie, ...junk)).status).toBe(200)
  })
})
