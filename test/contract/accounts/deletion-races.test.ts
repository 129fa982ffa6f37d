import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { mailedToken, openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  otherPassword,
  type Person,
  type SignedIn,
  signedInPerson,
} from '../../support/people/people.js'
import { interruptible } from '../../support/stores/interruptible.js'
import { afterwards, sweepOnce } from './deletions.js'

type Caller = Person & SignedIn & { readonly resetToken: string }

/** Requests of somebody whose account is being deleted meanwhile. */
const requests: Readonly<
  Record<string, (host: ContractHost, surface: Surface, who: Caller) => Promise<Reply>>
> = {
  'a login': (host, surface, { email, password }) =>
    host.send('POST', `/v1/auth/${surface}/mobile/login`, { body: { email, password } }),
  'a refresh': (host, surface, { refreshToken }) =>
    host.send('POST', `/v1/auth/${surface}/refresh`, { body: { refreshToken } }),
  'a page that opens': (host, surface, { cookie }) =>
    host.send('GET', `/v1/auth/${surface}/session`, { cookie }),
  'a password reset': (host, surface, { resetToken: token }) =>
    host.send('POST', `/v1/auth/${surface}/password/reset`, {
      body: { token, newPassword: otherPassword },
    }),
  'an authenticator app': (host, surface, { bearer, password }) =>
    host.send('POST', `/v1/auth/${surface}/mfa/totp`, {
      bearer,
      body: { currentPassword: password },
    }),
}

async function caller(host: ContractHost, surface: Surface): Promise<Caller> {
  const who = await signedInPerson(host, surface)
  await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email: who.email } })
  return { ...who, resetToken: await mailedToken(host, 'resetPassword', who.email) }
}

async function refusesAll(host: ContractHost, surface: Surface, who: Caller, reply: Reply) {
  const given = reply.status === 200 ? reply.json() : {}
  for (const bearer of [who.bearer, given['accessToken']]) {
    if (typeof bearer !== 'string') continue
    expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).code).toBe(
      'session_revoked',
    )
  }
  for (const refreshToken of [who.refreshToken, given['refreshToken']]) {
    if (typeof refreshToken !== 'string') continue
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh`, {
      body: { refreshToken },
    })
    expect(refreshed.status).toBe(401)
  }
  expect(await host.auth[surface].users.get(who.id)).toBeNull()
}

async function leftOf(host: ContractHost, surface: Surface, ids: readonly string[]) {
  const stored = storedIn(host, surface)
  const { sessions, families, intents, stepUpProofs, challenges } = stored
  const left: string[] = []
  for (const userId of ids) {
    const found = await Promise.all([
      ...[sessions, families, intents, stepUpProofs, challenges].map((one) =>
        one.find({ userId }, { limit: 9 }),
      ),
      stored.totpFactors.get(userId),
      stored.passwordHistories.get(userId),
    ])
    left.push(...found.flat().flatMap((doc) => (doc === null ? [] : [doc.id])))
  }
  return left
}

eachSurface.describe('a deletion', (surface) => {
  describe.each(Object.keys(requests))('beside %s', (name) => {
    const send = (host: ContractHost, who: Caller): Promise<Reply> => {
      const request = requests[name]
      if (request === undefined) throw new Error(`no such request: ${name}`)
      return request(host, surface, who)
    }

    it.each(['at each of its calls', 'at each of the deletion’s calls'])(
      'leaves no token and nothing else, %s',
      async (which) => {
        const { backend, interrupt } = interruptible()
        const host = await openHost({ ...withoutLimits, backend })
        const { users } = host.auth[surface]
        const ids: string[] = []
        for (let nth = 1, goesOn = true; goesOn; nth += 1) {
          const who = await caller(host, surface)
          ids.push(who.id)
          const replies: Reply[] = []
          const request = async () => void replies.push(await send(host, who))
          const deletion = async () => void (await users.delete(who.id))
          const [whole, work] =
            which === 'at each of its calls' ? [deletion, request] : [request, deletion]
          goesOn = await interrupt(nth, whole, work)
          if (!goesOn) await deletion()
          const [reply] = replies
          if (reply !== undefined) await refusesAll(host, surface, who, reply)
          await host.auth.close()
        }
        expect(ids.length).toBeGreaterThan(3)
        await host.clock.advance(afterwards)
        await sweepOnce(host, surface)
        expect(await leftOf(host, surface, ids)).toEqual([])
      },
    )
  })
})
