import { expect, it } from 'vitest'
import { createMobileClient } from '../../src/client/mobile.js'

const tokenOf = (sub: string, jti: number) => `x.${btoa(JSON.stringify({ sub, jti }))}.x`
const revoked = () => Response.json({ status: 401, code: 'session_revoked' }, { status: 401 })

/** A promise, and what settles it. */
function later<T>() {
  let settle: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    settle = resolve
  })
  return { promise, settle }
}

/** Ada is signed in. One question of hers is under way, and the next write waits to be let on. */
async function underway() {
  let text: string | null = null
  let now = 0
  let count = 0
  let halt: { reached: () => void; go: Promise<void> } | null = null
  const lateReply = later<Response>()
  const shown: (string | null)[] = []
  const grant = (sub: string) => {
    count += 1
    const tokens = { accessToken: tokenOf(sub, count), refreshToken: tokenOf(sub, count) }
    const user = { id: sub, email: `${sub}@example.org`, name: '', emailVerified: true }
    return Response.json({ status: 'authenticated', ...tokens, expiresIn: 60, user })
  }
  const client = createMobileClient({
    surface: 'client',
    baseUrl: 'https://app.example.com',
    storage: {
      read: async () => text,
      async write(next) {
        if (next?.includes('rotatingSince') !== true) {
          halt?.reached()
          await halt?.go
        }
        text = next
      },
    },
    environment: {
      now: () => now,
      after: () => () => {},
      async fetch(request) {
        const { pathname } = new URL(request.url)
        if (pathname.endsWith('/mobile/login')) return grant(JSON.parse(await request.text()).email)
        if (pathname.endsWith('/refresh')) return grant('ada')
        if (pathname.endsWith('/mfa')) return lateReply.promise
        shown.push(request.headers.get('authorization'))
        return Response.json({})
      },
    },
  })
  await client.call('POST /mobile/login', { email: 'ada', password: 'p' })
  const question = client.call('GET /mfa').catch(({ code }) => code)
  const reached = later<void>()
  const released = later<void>()
  halt = { reached: () => reached.settle(), go: released.promise }
  return {
    client,
    shown,
    stored: () => text ?? '',
    isDue: () => {
      now = 55_000
    },
    /** The question is answered by the end of the session, while the write waits. */
    async endAmidWrite() {
      await reached.promise
      lateReply.settle(revoked())
      expect(await question).toBe('session_revoked')
      released.settle()
    },
  }
}

it('the end of one user’s session takes nothing of the next user’s login', async () => {
  const { client, stored, endAmidWrite } = await underway()
  const login = client.call('POST /mobile/login', { email: 'bob', password: 'p' })
  await endAmidWrite()
  await login
  expect(client.get()).toMatchObject({ status: 'signedIn', user: { id: 'bob' } })
  await client.call('GET /options')
  expect(stored()).toContain(tokenOf('bob', 2))
})

it('a token that is written amid the end of its session is never sent', async () => {
  const { client, shown, stored, isDue, endAmidWrite } = await underway()
  isDue()
  const call = client.call('GET /devices').catch(({ kind }) => kind)
  await endAmidWrite()
  expect(await call).toBe('problem')
  await client.call('GET /options')
  expect([client.get().status, shown, stored()]).toEqual(['signedOut', [null], ''])
})
