import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  generousSurfaces,
  openHost,
  outcomeOf,
  storedIn,
} from '../../support/hosts/open-host.js'
import { otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { linkFor, login, reset } from '../../support/people/recovery-steps.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'

/** What the access token and the refresh cookie of a login are worth now. */
async function worthOf(host: ContractHost, surface: Surface, signedIn: Reply): Promise<string[]> {
  const bearer = textOf(signedIn.json(), 'accessToken')
  const cookie = refreshCookieOf(signedIn, surface)
  const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
  const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
  return [outcomeOf(me), outcomeOf(refreshed)]
}

const rounds = 40
const dead = ['401 session_revoked', '401 session_revoked']

eachSampleStore.describe('resets that race', (kind) => {
  eachSurface.it('have one winner of 16', async (surface) => {
    // A loser that comes late is asked for the winner's password; so many guesses would lock it.
    const settings = { lockoutThreshold: 0 }
    const host = await openHost({ settings, surfaces: generousSurfaces }, kind)
    const { email } = await person(host, surface)
    for (let round = 0; round < 10; round += 1) {
      const token = await linkFor(host, surface, email)
      const passwords = Array.from({ length: 16 }, (_, n) => `round ${round}, my passphrase ${n}`)
      const replies = await Promise.all(passwords.map((one) => reset(host, surface, token, one)))
      const outcomes = replies.map(outcomeOf)
      expect(outcomes.filter((outcome) => outcome === '204')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === '400 invalid_token')).toHaveLength(15)
      const winner = passwords[outcomes.indexOf('204')] ?? ''
      expect(outcomeOf(await login(host, surface, email, winner))).toBe('200')
    }
    expect(eventsOf(host, 'password.changed')).toHaveLength(10)
  })

  eachSurface.it('change the password once when all ask for the same', async (surface) => {
    // Each loser is asked for the winner's password; so many guesses at once would lock the link.
    const host = await openHost({ settings: { lockoutThreshold: 0 } }, kind)
    const { email } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    const racers = Array.from({ length: 16 }, () => reset(host, surface, token, otherPassword))
    const outcomes = new Set((await Promise.all(racers)).map(outcomeOf))
    expect(outcomes).toContain('204')
    outcomes.delete('204')
    outcomes.delete('400 invalid_token')
    expect(outcomes).toEqual(new Set())
    expect(eventsOf(host, 'password.changed')).toHaveLength(1)
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
  })

  eachSurface.it(
    `leave no session of the old password in ${rounds} rounds beside logins`,
    async (surface) => {
      const settings = { passwordHistoryCount: 0, lockoutThreshold: 0 }
      const host = await openHost({ settings, surfaces: generousSurfaces }, kind)
      const who = await person(host, surface)
      let current = who.password
      let overtaken = 0
      for (let round = 0; round < rounds; round += 1) {
        const next = `the passphrase of round ${round}`
        const token = await linkFor(host, surface, who.email)
        const first = login(host, surface, who.email, current)
        const resetting = reset(host, surface, token, next)
        const second = login(host, surface, who.email, current)
        expect(outcomeOf(await resetting)).toBe('204')
        for (const reply of [await first, await second]) {
          if (reply.status === 200) {
            expect(await worthOf(host, surface, reply)).toEqual(dead)
            overtaken += 1
          } else {
            expect(outcomeOf(reply)).toBe('401 invalid_credentials')
          }
        }
        current = next
      }
      // Both orders must have come up, or nothing was raced.
      expect(overtaken).toBeGreaterThan(0)
      expect(outcomeOf(await login(host, surface, who.email, current))).toBe('200')
    },
    120_000,
  )
})

eachSurface.describe('a reset', (surface) => {
  it.each(['users.update', 'refresh_tokens.insert', 'sessions.insert'])(
    'wins over a login that checked the old password before it and stores after: %s',
    async (call) => {
      const faulty = faultyBackend(memory())
      const host = await openHost({ backend: faulty.backend })
      const who = await person(host, surface)
      const token = await linkFor(host, surface, who.email)
      let outcome = ''
      faulty.onCall(`${surface}_${call}`, async () => {
        outcome = outcomeOf(await reset(host, surface, token, otherPassword))
      })
      const late = await login(host, surface, who.email, who.password)
      expect([outcome, outcomeOf(late), late.setCookies]).toEqual([
        '204',
        '401 invalid_credentials',
        [],
      ])
      const families = await storedIn(host, surface).families.find({ userId: who.id }, { limit: 9 })
      expect(families.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
    },
  )

  it.each([
    ['users.update', 'before', '200'],
    ['refresh_tokens.find', 'before', '401 invalid_credentials'],
    ['denylist.put', 'before', '401 invalid_credentials'],
    ['denylist.put', 'after', '401 invalid_credentials'],
    ['refresh_tokens.update', 'before', '401 invalid_credentials'],
    ['sessions.update', 'before', '401 invalid_credentials'],
    ['sessions.update', 'after', '401 invalid_credentials'],
    ['intents.take', 'before', '401 invalid_credentials'],
  ] as const)(
    'is completed by the same request after a failure at %s, %s',
    async (call, mode, oldPassword) => {
      const faulty = faultyBackend(memory())
      const host = await openHost({ backend: faulty.backend })
      const who = await signedInPerson(host, surface)
      const token = await linkFor(host, surface, who.email)
      faulty.failNext(call.startsWith('denylist') ? call : `${surface}_${call}`, mode)
      const failed = await reset(host, surface, token, otherPassword)
      expect(outcomeOf(failed)).toBe('503 service_unavailable')
      expect(outcomeOf(await login(host, surface, who.email, who.password))).toBe(oldPassword)

      // Nobody else can complete it with a password of their own.
      if (oldPassword !== '200') {
        const foreign = await reset(host, surface, token, 'the passphrase of somebody else')
        expect(outcomeOf(foreign)).toBe('400 invalid_token')
      }
      expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('204')
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.bearer })
      const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
        cookie: who.cookie,
      })
      expect([outcomeOf(me), outcomeOf(refreshed)]).toEqual(dead)
      expect(outcomeOf(await login(host, surface, who.email, otherPassword))).toBe('200')
      expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('400 invalid_token')
    },
  )

  it('is completed by the same request though all sessions were ended before it', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const who = await signedInPerson(host, surface)
    const token = await linkFor(host, surface, who.email)
    await host.auth[surface].terminateSessionsOf(who.id)
    await login(host, surface, who.email, who.password)
    faulty.failNext('denylist.put', 'before')
    const failed = await reset(host, surface, token, otherPassword)
    expect(outcomeOf(failed)).toBe('503 service_unavailable')
    expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('204')
    expect(outcomeOf(await login(host, surface, who.email, otherPassword))).toBe('200')
  })

  it('forgives wrong guesses though the answer of its last write was lost', async () => {
    const faulty = faultyBackend(memory())
    const settings = { lockoutThreshold: 3 }
    const host = await openHost({ backend: faulty.backend, settings })
    const { email } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    for (let n = 0; n < 3; n += 1) await login(host, surface, email, 'not the password at all')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('429 rate_limited')
    faulty.failNext(`${surface}_intents.take`, 'after')
    const failed = await reset(host, surface, token, otherPassword)
    expect(outcomeOf(failed)).toBe('503 service_unavailable')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
  })

  it.each(['users.update', 'refresh_tokens.update'])(
    'finds out what became of a write whose answer was lost: %s',
    async (call) => {
      const faulty = faultyBackend(memory())
      const host = await openHost({ backend: faulty.backend })
      const who = await signedInPerson(host, surface)
      const token = await linkFor(host, surface, who.email)
      faulty.failNext(`${surface}_${call}`, 'after')
      expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('204')
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.bearer })
      expect(outcomeOf(me)).toBe('401 session_revoked')
      expect(outcomeOf(await login(host, surface, who.email, otherPassword))).toBe('200')
      expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('400 invalid_token')
      expect(eventsOf(host, 'password.changed')).toHaveLength(1)
    },
  )
})

eachSurface.describe('a reset that another one with its link overtakes', (surface) => {
  async function overtaken(first: string, second: string) {
    const overtaking: (() => Promise<Reply>)[] = []
    const between: Reply[] = []
    const host = await openHost({
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          const other = called === `${surface}_users.update` ? overtaking.pop() : undefined
          if (other !== undefined) between.push(await other())
          return work()
        }),
    })
    const { email } = await person(host, surface)
    const link = await linkFor(host, surface, email)
    overtaking.push(() => reset(host, surface, link, second))
    const replies = [await reset(host, surface, link, first), ...between]
    expect(outcomeOf(await login(host, surface, email, second))).toBe('200')
    expect(eventsOf(host, 'password.changed')).toHaveLength(1)
    return replies.map(outcomeOf)
  }

  it('is answered as that one where both name the same password', async () => {
    expect(await overtaken(otherPassword, otherPassword)).toEqual(['204', '204'])
  })

  it('is refused where it names another password', async () => {
    expect(await overtaken('my own long passphrase', otherPassword)).toEqual([
      '400 invalid_token',
      '204',
    ])
  })
})
