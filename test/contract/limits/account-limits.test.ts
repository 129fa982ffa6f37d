import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { goodPassword, person, signedInPerson, signIn } from '../../support/people/people.js'
import { forgot, linkFor, login, reset } from '../../support/people/recovery-steps.js'

const limited = '429 rate_limited'
const minute = 60_000
const owners = 'the passphrase that the owner chose'
const nth = (n: number): string => `passphrase number ${n} of a thief`

/** Changes the password again and again; what each change was answered with. */
async function changes(
  host: ContractHost,
  surface: Surface,
  bearer: string,
  passwords: readonly string[],
): Promise<string[]> {
  const outcomes: string[] = []
  for (const [at, currentPassword] of passwords.slice(0, -1).entries()) {
    const body = { currentPassword, newPassword: passwords[at + 1] }
    const reply = await host.send('POST', `/v1/auth/${surface}/me/password`, { bearer, body })
    outcomes.push(outcomeOf(reply))
  }
  return outcomes
}

eachSurface.describe('changes of one account', (surface) => {
  it('a thief who changes the password again and again leaves the owner a link that lives', async () => {
    // The owner and the thief ask from wherever they are: limits of one address are not met here.
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    let present = goodPassword
    const asked: string[] = []
    for (let round = 1; round <= 5; round += 1) {
      asked.push(outcomeOf(await forgot(host, surface, who.email)))
      await host.auth.close()
      expect(await changes(host, surface, who.bearer, [present, nth(round)])).toEqual(['204'])
      present = nth(round)
    }
    // Three mails an hour: each change handed back those that it had made worthless.
    expect(asked).toEqual(Array<string>(5).fill('202'))
    const token = await linkFor(host, surface, who.email)
    expect(await changes(host, surface, who.bearer, [present, nth(6)])).toEqual([limited])
    // Nor with another session.
    const elsewhere = await signIn(host, surface, { ...who, password: present })
    expect(await changes(host, surface, elsewhere.bearer, [present, nth(6)])).toEqual([limited])
    expect(outcomeOf(await reset(host, surface, token, owners))).toBe('204')
    expect(outcomeOf(await login(host, surface, who.email, owners))).toBe('200')
    // A neighbour has changes of their own, and an hour later the owner has them again.
    const neighbour = await signedInPerson(host, surface)
    expect(await changes(host, surface, neighbour.bearer, [goodPassword, nth(7)])).toEqual(['204'])
    await host.clock.advance(60 * minute)
    const { bearer } = await signIn(host, surface, { ...who, password: owners })
    expect(await changes(host, surface, bearer, [owners, nth(8)])).toEqual(['204'])
  })

  it('a thief with a password that is too old leaves the owner a link that lives', async () => {
    const host = await openHost({ settings: { passwordMaxAge: '30d' } })
    const who = await signedInPerson(host, surface)
    await host.clock.advance(31 * 24 * 60 * minute)
    for (let n = 0; n < 3; n += 1) {
      expect(outcomeOf(await forgot(host, surface, who.email))).toBe('202')
    }
    const tooOld = await login(host, surface, who.email, goodPassword)
    const token = textOf(tooOld.json(), 'passwordToken')
    expect(outcomeOf(await reset(host, surface, token, nth(1)))).toBe('204')
    const owner = await linkFor(host, surface, who.email)
    expect(outcomeOf(await reset(host, surface, owner, owners))).toBe('204')
    expect(outcomeOf(await login(host, surface, who.email, owners))).toBe('200')
  })

  it('an account whose address nobody confirmed gets its owner no more mails by changes', async () => {
    const host = await openHost({ settings: { emailVerificationRequired: false } })
    const email = 'a-stranger@example.org'
    await host.auth[surface].users.create({ email, password: goodPassword, emailVerified: false })
    const { bearer } = await signIn(host, surface, { id: '', email, password: goodPassword })
    const passwords = [goodPassword, nth(1), nth(2), nth(3)]
    for (let n = 0; n < 3; n += 1) {
      expect(outcomeOf(await forgot(host, surface, email))).toBe('202')
      const change = await changes(host, surface, bearer, passwords.slice(n, n + 2))
      expect(change).toEqual(['204'])
    }
    expect(outcomeOf(await forgot(host, surface, email))).toBe(limited)
  })

  it('a change that fails counts for no limit of the account', async () => {
    const host = await openHostAtOneAddress()
    const who = await signedInPerson(host, surface)
    const bad = [...Array<string>(4).fill(nth(0)), ...Array<string>(6).fill(goodPassword)]
    const outcomes: string[] = []
    for (const currentPassword of bad) {
      const body = { currentPassword, newPassword: goodPassword }
      const reply = await host.send('POST', `/v1/auth/${surface}/me/password`, {
        bearer: who.bearer,
        body,
      })
      outcomes.push(outcomeOf(reply))
    }
    expect(new Set(outcomes)).toEqual(new Set(['401 invalid_credentials', '422 password_policy']))
    const all = [goodPassword, ...[1, 2, 3, 4, 5, 6].map(nth)]
    expect(await changes(host, surface, who.bearer, all)).toEqual([
      ...Array<string>(5).fill('204'),
      limited,
    ])
  })

  it('an account names five other addresses in an hour, and those refused do not count', async () => {
    const host = await openHostAtOneAddress()
    const who = await signedInPerson(host, surface)
    const taken = await person(host, surface)
    const ask = async (newEmail: string, bearer = who.bearer) => {
      const body = { newEmail, currentPassword: goodPassword }
      return outcomeOf(await host.send('POST', `/v1/auth/${surface}/me/email`, { bearer, body }))
    }
    expect(await ask('no address')).toBe('400 invalid_request')
    const named = ['a', 'a', 'a', 'a', taken.email].map((one) =>
      one.includes('@') ? one : `${one}-${surface}@example.net`,
    )
    const outcomes: string[] = []
    for (const address of named) outcomes.push(await ask(address))
    // The fourth mail to one address is refused for that address, and counts for no other.
    expect(outcomes).toEqual(['202', '202', '202', limited, '202'])
    const elsewhere = await signIn(host, surface, who)
    expect(await ask('b@example.net', elsewhere.bearer)).toBe('202')
    expect(await ask('c@example.net', elsewhere.bearer)).toBe(limited)
    expect(await ask('c@example.net')).toBe(limited)
    const neighbour = await signedInPerson(host, surface)
    expect(await ask('c@example.net', neighbour.bearer)).toBe('202')
    await host.auth.close()
    expect(host.mailer.sent.filter(({ to }) => to === 'c@example.net')).toHaveLength(1)
  })
})
