import { describe, expect, it } from 'vitest'
import { readEmail } from '../../../src/domain/context/email-address.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled } from '../../support/people/authenticator.js'
import { goodPassword, otherPassword, signedInPerson } from '../../support/people/people.js'
import { spelledAddresses } from './spelled-addresses.js'

const owner = 'ada@example.org'
const same = spelledAddresses.flatMap(([typed, kept]) => (kept === owner ? [typed] : []))
const refused = spelledAddresses.flatMap(([typed, kept]) => (kept === null ? [typed] : []))
const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`

describe('the one form of an address', () => {
  it('is what it always was for each of seventy spellings, and its own', async () => {
    expect(spelledAddresses.length).toBeGreaterThanOrEqual(70)
    const read = spelledAddresses.map(async ([typed]) => [typed, await readEmail(typed)] as const)
    const now = await Promise.all(read)
    expect(now).toEqual(spelledAddresses)
    for (const [, kept] of spelledAddresses) {
      if (kept !== null) expect(await readEmail(kept)).toBe(kept)
    }
    // Whatever compatibility decomposition makes an ASCII name of is refused before, not after.
    const names = refused.map((typed) => readEmail(typed.normalize('NFKC')))
    const normalised = (await Promise.all(names)).filter((email) => email !== null)
    expect(normalised.length).toBeGreaterThanOrEqual(3)
  })
})

/** Every public door that takes an address, and what else it wants. */
const doors: Readonly<Record<string, object>> = {
  '/login': { password: otherPassword },
  '/mobile/login': { password: otherPassword },
  '/register': { password: otherPassword },
  '/password/forgot': {},
  '/email/verify/resend': {},
}

function post(host: ContractHost, surface: Surface, path: string, email: unknown) {
  return host.send('POST', at(surface, path), { body: { ...doors[path], email } })
}

eachSurface.describe('spellings of one address', (surface) => {
  const account = { email: owner, password: goodPassword, emailVerified: true }

  eachSampleStore.it('are one account and one count of guesses at every door', async (kind) => {
    const settings = { ...withoutLimits.settings, lockoutThreshold: same.length + 1 }
    const host = await openHost({ ...withoutLimits, settings }, kind)
    const { users } = host.auth[surface]
    const { id } = await users.create(account)
    for (const [index, typed] of same.entries()) {
      await expect(users.create({ email: typed })).rejects.toMatchObject({ code: 'email_taken' })
      expect((await users.findByEmail(typed))?.id).toBe(id)
      const door = index % 2 === 0 ? '/login' : '/mobile/login'
      expect(outcomeOf(await post(host, surface, door, typed))).toBe('401 invalid_credentials')
      expect((await post(host, surface, '/register', typed)).status).toBe(201)
    }
    expect(await storedIn(host, surface).users.find({ kind: '' }, { limit: 9 })).toHaveLength(1)
    // One guess is left, in any spelling, and then none.
    const last = [
      await post(host, surface, '/login', same[1]),
      await post(host, surface, '/login', same[2]),
    ]
    expect(last.map(outcomeOf)).toEqual(['401 invalid_credentials', '429 rate_limited'])
    await host.auth.close()
    host.mailer.clear()
    for (const typed of same) await post(host, surface, '/password/forgot', typed)
    await host.auth.close()
    expect(host.mailer.sent.length).toBeGreaterThan(0)
    expect(new Set(host.mailer.sent.map(({ to }) => to))).toEqual(new Set([owner]))
  })

  it('ask for the second factor of the one account, or are refused', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    const { email, password } = who
    const [name = '', domain = ''] = email.split('@')
    const spellings = same.map((typed) =>
      typed.replace(/ada/i, name).replace(/example\.org/i, domain),
    )
    const wide = [...name].map((letter) =>
      String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0),
    )
    const odd = [`${wide.join('')}@${domain}`, `${name}\uff20${domain}`, `${name}\u200b@${domain}`]
    for (const door of ['/login', '/mobile/login']) {
      for (const typed of [...spellings, ...spellings.map((one) => one.toUpperCase())]) {
        const body = { email: typed, password }
        const reply = await host.send('POST', at(surface, door), { body })
        expect([reply.status, reply.json()['status']]).toEqual([200, 'mfaRequired'])
        expect(reply.text).not.toMatch(/accessToken|refreshToken/)
      }
      for (const typed of odd) {
        const reply = await host.send('POST', at(surface, door), {
          body: { email: typed, password },
        })
        expect(reply.status).toBeGreaterThanOrEqual(400)
      }
    }
  })

  it('that are more than an address, or none, are refused everywhere and mailed to nobody', async () => {
    const host = await openHost(withoutLimits)
    await host.auth[surface].users.create(account)
    const who = await signedInPerson(host, surface)
    await host.auth.close()
    host.mailer.clear()
    const shapes = [
      ...refused,
      ...[
        [owner],
        [owner, 'eve@example.net'],
        { email: owner },
        { $ne: '' },
        { 0: owner },
        1,
        true,
        null,
      ],
    ]
    for (const email of shapes) {
      for (const path of Object.keys(doors)) {
        const reply = await post(host, surface, path, email)
        // A login need not tell what is no address from one that nobody has.
        const isLogin = typeof email === 'string' && path.endsWith('/login')
        const refusals = ['400 invalid_request', ...(isLogin ? ['401 invalid_credentials'] : [])]
        expect(refusals, `${path} ${JSON.stringify(email)}`).toContain(outcomeOf(reply))
      }
      const body = { newEmail: email, currentPassword: who.password }
      const moved = await host.send('POST', at(surface, '/me/email'), { bearer: who.bearer, body })
      expect([email, moved.status]).toEqual([email, 400])
    }
    await host.auth.close()
    expect(host.mailer.sent).toEqual([])
  })
})
