import { expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  codeOf,
  type Enrolled,
  enrolled,
  finish,
  textsOf,
  ticketOf,
} from '../../support/people/authenticator.js'
import { person, signIn } from '../../support/people/people.js'
import { secretsOf } from '../../support/stores/secrets.js'

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`
const guesses = 10

/** Another process over the same store, at the same time. */
const restarted = (host: ContractHost): Promise<ContractHost> =>
  openHost({ ...withoutLimits, backend: host.backend, clock: host.clock })

type Route = (host: ContractHost, code: string) => Promise<Reply>

/** Doors that count together: a stolen session must not be able to lock the logins of its owner. */
const doors = ['at logins', 'in sessions'] as const

async function routesOf(
  host: ContractHost,
  surface: Surface,
  who: Enrolled,
): Promise<Readonly<Record<(typeof doors)[number], readonly Route[]>>> {
  const mfaToken = await ticketOf(host, surface, who)
  const other = await finish(host, surface, mfaToken, await who.nextCode())
  const login =
    (door: 'login' | 'mobile/login'): Route =>
    async (at, code) =>
      finish(at, surface, await ticketOf(at, surface, who, door), code)
  const stepUp =
    (bearer: string): Route =>
    (host, code) =>
      host.send('POST', at(surface, '/step-up'), { bearer, body: { method: 'totp', code } })
  return {
    'at logins': [login('login'), login('mobile/login')],
    'in sessions': [stepUp(who.bearer), stepUp(textOf(other.json(), 'accessToken'))],
  }
}

eachSampleStore.describe('wrong codes of an authenticator app', (kind) => {
  it.each(eachSurface.cells.flatMap((surface) => doors.map((door) => [door, surface] as const)))(
    'count by whatever route, outlive a restart, and lock all of them, %s [%s]',
    async (door, surface) => {
      const first = await openHost(withoutLimits, kind)
      const who = await enrolled(first, surface)
      // A fresh session is no proof: the route itself asks for one.
      const remove = await first.send('DELETE', at(surface, '/mfa/totp'), { bearer: who.bearer })
      expect(outcomeOf(remove)).toBe('403 step_up_required')

      const routes = (await routesOf(first, surface, who))[door]
      const right = await who.nextCode()
      const wrong = right === '000000' ? '000001' : '000000'
      let host = first
      for (let guess = 0; guess < guesses; guess += 1) {
        host = await restarted(host)
        const reply = await routes[guess % routes.length]?.(host, wrong)
        expect([guess, reply && outcomeOf(reply)]).toEqual([guess, '401 invalid_mfa_code'])
      }
      for (const route of routes) {
        host = await restarted(host)
        expect(outcomeOf(await route(host, right))).toBe('429 rate_limited')
      }
    },
  )

  it('one guess fewer leaves the right code good', async () => {
    const first = await openHost(withoutLimits, kind)
    const who = await enrolled(first, 'client')
    const right = await who.nextCode()
    const wrong = right === '000000' ? '000001' : '000000'
    for (let guess = 1; guess < guesses; guess += 1) {
      const host = await restarted(first)
      await finish(host, 'client', await ticketOf(host, 'client', who), wrong)
    }
    const host = await restarted(first)
    const reply = await finish(host, 'client', await ticketOf(host, 'client', who), right)
    expect(reply.status).toBe(200)
  })
})

/** Every route but those that end the session, and the one that shows a new set of codes. */
const otherRoutes = (surface: Surface, id: string) =>
  operations
    .filter(({ method, surfaces: on }) => method !== 'DELETE' && on.includes(surface))
    .map(({ method, path }) => {
      return { method, url: path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, id) }
    })
    .filter(({ url }) => !/\/(logout|mfa\/backup-codes)$/.test(url))

eachSurface.describe('what is known of second factors', (surface) => {
  async function enrolling(host: ContractHost) {
    const who = await person(host, surface)
    const { bearer } = await signIn(host, surface, who)
    const body = { currentPassword: who.password }
    const begun = await host.send('POST', at(surface, '/mfa/totp'), { bearer, body })
    const secret = textOf(begun.json(), 'secret')
    const code = codeOf(host, secret)
    const done = await host.send('POST', at(surface, '/mfa/totp/confirm'), {
      bearer,
      body: { code },
    })
    return { ...who, bearer, secret, begun, codes: textsOf(done.json(), 'backupCodes') }
  }

  it('the secret and the codes are shown once, and in no other reply of any route', async () => {
    const host = await openHost({ ...withoutLimits, authorizer: { check: async () => true } })
    const who = await enrolling(host)
    expect(who.codes).toHaveLength(10)
    const secrets = secretsOf(who.secret, ...who.codes)
    const replies: Reply[] = []
    const others = otherRoutes(surface, who.id)
    const { email, password, bearer } = who
    for (const door of ['/login', '/mobile/login']) {
      replies.push(await host.send('POST', at(surface, door), { body: { email, password } }))
    }
    const body = { method: 'backupCode', code: who.codes[0] }
    replies.push(await host.send('POST', at(surface, '/step-up'), { bearer, body }))
    for (const { method, url } of others) {
      const given = method === 'GET' ? { bearer } : { bearer, body: { currentPassword: password } }
      replies.push(await host.send(method, url, given))
    }
    expect(replies.filter(({ status }) => status < 300).length).toBeGreaterThan(5)
    for (const reply of replies) {
      expect(secrets.foundIn([...reply.headers, reply.text].join('\n'))).toEqual([])
    }
    await host.auth.close()
    expect(secrets.foundIn(JSON.stringify([host.events, host.logger.lines]))).toEqual([])
    expect(secrets.foundIn(JSON.stringify(host.mailer.sent))).toEqual([])
  })

  it('backup codes are kept as hashes, good once, counted down to the last, and void with a new set', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolling(host)
    const set = await storedIn(host, surface).backupCodes.get(who.id)
    expect(set?.hashes).toHaveLength(10)
    for (const hash of set?.hashes ?? []) expect(hash).toMatch(/^\$argon2id\$/)
    expect(secretsOf(...who.codes).foundIn(JSON.stringify(set))).toEqual([])

    const { bearer } = who
    const show = (code = '') =>
      host.send('POST', at(surface, '/step-up'), { bearer, body: { method: 'backupCode', code } })
    const left = async () => {
      const reply = await host.send('GET', at(surface, '/mfa'), { bearer })
      return reply.json()['backupCodes']
    }
    for (const [index, code] of who.codes.slice(0, 9).entries()) {
      expect((await show(code)).status).toBe(200)
      expect(outcomeOf(await show(code))).toBe('401 invalid_mfa_code')
      expect(await left()).toEqual({ remaining: 9 - index })
    }
    const told = () => eventsOf(host, 'mfa.backupCodeUsed').map(({ remaining }) => remaining)
    expect(told()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1])

    const made = await host.send('POST', at(surface, '/mfa/backup-codes'), { bearer })
    const next = textsOf(made.json(), 'backupCodes')
    expect(await left()).toEqual({ remaining: 10 })
    expect(outcomeOf(await show(who.codes[9]))).toBe('401 invalid_mfa_code')
    for (const code of next) expect((await show(code)).status).toBe(200)
    // The last one is told of as that.
    expect(told().at(-1)).toBe(0)
    expect(await left()).toEqual({ remaining: 0 })
  })
})
